//! `taut partition`: partition a scene or a mesh and report, without simulating.

mod dump;
mod plot;
mod report;

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use taut::constraint::Kind;
use taut::model::{ConstraintLists, Partitioned, partition};
use taut::scene::file::Partition;
use taut::scene::{Override, Scene};
use taut_partition::Elements;

use self::report::Row;
use crate::console;
use crate::failure::Failure;
use crate::overrides::with_flags;

/// Partition a scene or a mesh and report, without simulating
#[derive(Args)]
pub(crate) struct Arguments {
    /// A scene file, the name of a built-in scene, or an OBJ mesh
    target: String,
    /// Which constraints: stretch, bend, bend-distance, volume, attachment or all
    #[arg(long, default_value = "all")]
    kind: String,
    /// The partitioner (default: the scene's)
    #[arg(long, value_enum)]
    partition: Option<Method>,
    /// How elements get their colors (default: the scene's)
    #[arg(long, value_enum)]
    order: Option<Order>,
    /// Phantom: the number of colors (default: half of the clique number)
    #[arg(long)]
    colors: Option<u32>,
    /// Cluster: the number of clusters
    #[arg(long, conflicts_with = "subset_size")]
    subsets: Option<u32>,
    /// Cluster: the most elements of a cluster
    #[arg(long)]
    subset_size: Option<u32>,
    /// Threads that partition; 0: one per core. The result does not depend on it
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Replace a value of the scene: key=value (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,
    /// Draw the sizes of the partitions as a histogram
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Write the schedule, so that it can be checked independently
    #[arg(long, value_name = "FILE.json")]
    dump: Option<PathBuf>,
    /// One JSON document on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Method {
    /// A phase per color
    Coloring,
    /// Exactly as many colors as asked for, by copies of particles
    Phantom,
    /// Colored clusters of neighbors, colors inside
    Cluster,
    /// Cells of a grid in eight sets
    Grid,
}

#[derive(Clone, Copy, ValueEnum)]
enum Order {
    /// Few colors
    SmallestLast,
    /// As the elements come
    Natural,
    /// Most neighbors first
    LargestFirst,
    /// Few colors of even sizes
    Balanced,
    /// On several threads
    Parallel,
}

/// The constraints of one kind, partitioned.
struct Part<'a> {
    kind: Kind,
    elements: Elements<'a>,
    partitioned: Partitioned,
    build_ms: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let scene = arguments.scene()?;
    let lists = ConstraintLists::of(&scene)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build();
    let pool = pool.map_err(|error| Failure::Work(format!("could not start threads: {error}")))?;
    let parts = pool.install(|| arguments.parts(&lists, &scene.file.partition))?;
    let rows: Vec<Row> = parts.iter().map(|part| Row::new(part, &scene.file.partition)).collect();
    if let Some(path) = &arguments.plot {
        plot::write(path, &scene.name, &parts)?;
    }
    if let Some(path) = &arguments.dump {
        dump::write(path, &lists, &parts)?;
    }
    if arguments.json {
        return Ok(console::print_json(&rows)?);
    }
    Ok(console::print(&report::table(&rows))?)
}

impl Arguments {
    /// The scene, with the flags in place of its `partition` settings. A mesh becomes a cloth with
    /// every kind of constraint that a surface can have.
    fn scene(&self) -> Result<Scene, Failure> {
        let overrides = self.overrides()?;
        if !self.target.to_ascii_lowercase().ends_with(".obj") {
            return Ok(Scene::find(&self.target, &overrides)?);
        }
        let path = std::path::absolute(&self.target)
            .map_err(|error| Failure::Input(format!("{}: {error}", self.target)))?;
        let text = format!(
            "[[bodies]]\nname = \"mesh\"\nmesh.file = {{ path = {} }}\n\
             elements = {{ stretch.stiffness = 1, bend.stiffness = 1, bend-distance.stiffness = 1 }}\n",
            serde_json::Value::from(path.to_string_lossy())
        );
        Ok(Scene::parse(&self.target, &text, &PathBuf::from("."), &overrides)?)
    }

    /// `--set` and the flags that are short for it.
    fn overrides(&self) -> Result<Vec<Override>, Failure> {
        let word = |value: clap::builder::PossibleValue| value.get_name().to_owned();
        let number = |value: Option<u32>| value.map(|value| value.to_string());
        let flags = [
            (
                "partition.method",
                self.partition.and_then(|method| method.to_possible_value()).map(word),
            ),
            ("partition.order", self.order.and_then(|order| order.to_possible_value()).map(word)),
            ("partition.colors", number(self.colors)),
            ("partition.subsets", number(self.subsets)),
            ("partition.subset-size", number(self.subset_size)),
        ];
        with_flags(&self.set, flags)
    }

    fn parts<'a>(
        &self,
        lists: &'a ConstraintLists,
        settings: &Partition,
    ) -> Result<Vec<Part<'a>>, Failure> {
        let mut parts = Vec::new();
        for (kind, particles) in &lists.lists {
            if self.kind != "all" && self.kind != kind.name() {
                continue;
            }
            let start = Instant::now();
            let elements = Elements::flat(kind.arity(), particles, lists.fixed.len())
                .and_then(|elements| elements.with_fixed(&lists.fixed))
                .map_err(|error| Failure::Work(error.to_string()))?;
            let partitioned = partition(&elements, &lists.positions, settings)
                .map_err(|error| Failure::Input(error.to_string()))?;
            let build_ms = start.elapsed().as_secs_f64() * 1e3;
            parts.push(Part { kind: *kind, elements, partitioned, build_ms });
        }
        if parts.is_empty() {
            let made = lists.lists.iter().map(|(kind, _)| kind.name()).collect::<Vec<_>>();
            let made = if made.is_empty() { "none".to_owned() } else { made.join(", ") };
            let kind = &self.kind;
            return Err(Failure::Input(format!(
                "{}: --kind {kind}: there are no such constraints; there are: {made}",
                self.target
            )));
        }
        Ok(parts)
    }
}
