//! Times of all partitioners beside their targets, and how they grow.
//!
//! `cargo bench -p taut-partition` prints a table; `-- --csv FILE` writes it too, `-- --only WORD`
//! keeps to the rows whose name has the word in it. Results of several machines are in
//! `benches/results`. A time is the median of several runs, with the fastest and the slowest
//! beside it; on a machine that does other things as well the fastest says more.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a table is what this is for")]

#[path = "../../tests/common/disc.rs"]
mod disc;
mod meshes;
mod papers;
#[path = "../../tests/common/pile.rs"]
mod pile;
mod table;

use std::error::Error;

use meshes::{Mesh, cloth_edges, tetrahedra};
use table::Table;
use taut_partition::cliques::clique_number;
use taut_partition::clusters::{Clusters, Stop, Subdivision, mean_points};
use taut_partition::coloring::{self, Order};
use taut_partition::grid::{Batching, GridOptions, GridSplit};
use taut_partition::ranks::{Curve, Ranks};
use taut_partition::{Elements, Incidence, phantoms};

/// Side of a cloth with a million edges, and of one with ten million.
const MILLION: u32 = 577;
const TEN_MILLION: u32 = 1825;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test --all-targets` starts this too; benchmarks are no tests.
        println!("run with `cargo bench -p taut-partition`");
        return Ok(());
    }
    let option = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).cloned()
    };
    let mut table = Table::new(option("--only"));
    let million = cloth_edges(MILLION);
    colorings(&mut table, &million)?;
    splitting(&mut table, &million)?;
    clusters(&mut table, &million)?;
    contacts(&mut table)?;
    ranks(&mut table, &million)?;
    growth(&mut table, &million)?;
    table.print();
    papers::scene_1_of_paper_b()?;
    if let Some(file) = option("--csv") {
        std::fs::write(&file, table.csv())?;
        println!("written to {file}");
    }
    Ok(())
}

fn colored(elements: &Elements<'_>, order: Order) -> usize {
    coloring::color(elements, &coloring::Options { order, ..Default::default() }).color_count
}

fn colorings(table: &mut Table, cloth: &Mesh<2>) -> Result<(), Box<dyn Error>> {
    let elements = cloth.elements()?;
    let count = elements.len();
    table.add("edges: incidence + greedy natural", count, 1, Some(60.0), 7, || {
        let incidence = Incidence::new(&elements);
        let colors = colored(&elements, Order::Natural);
        format!("{colors} colors, valence {}", incidence.max_valence())
    });
    for (name, order, threads, target) in [
        ("edges: smallest-last", Order::SmallestLast, 1, Some(400.0)),
        ("edges: largest-first", Order::LargestFirst, 1, None),
        ("edges: balanced", Order::Balanced, 1, None),
        ("edges: parallel", Order::Parallel, 2, Some(100.0)),
    ] {
        table.add(name, count, threads, target, 5, || {
            format!("{} colors", colored(&elements, order))
        });
    }
    let block = tetrahedra(37);
    let elements = block.elements()?;
    table.add("tetrahedra: smallest-last", elements.len(), 1, Some(450.0), 5, || {
        format!("{} colors", colored(&elements, Order::SmallestLast))
    });
    Ok(())
}

fn splitting(table: &mut Table, cloth: &Mesh<2>) -> Result<(), Box<dyn Error>> {
    let elements = cloth.elements()?;
    let colors = clique_number(&elements).default_colors();
    let name = format!("edges: phantoms, {colors} colors");
    table.add(&name, elements.len(), 1, Some(500.0), 5, || {
        match phantoms::split(&elements, &phantoms::Options::new(colors)) {
            Ok(split) => format!("{} copies, at least {}", split.copy_count(), split.lower_bound),
            Err(error) => error.to_string(),
        }
    });
    Ok(())
}

fn clusters(table: &mut Table, cloth: &Mesh<2>) -> Result<(), Box<dyn Error>> {
    let elements = cloth.elements()?;
    for threads in [1, 2] {
        let target = (threads == 2).then_some(300.0);
        table.add("edges: clusters of 2048", elements.len(), threads, target, 5, || {
            let points = mean_points(&elements, &cloth.points).unwrap_or_default();
            let subdivision = Subdivision::new(Stop::Size(2048));
            let clusters = Clusters::by_subdivision(&points, &subdivision);
            let schedule = clusters.map(|clusters| clusters.schedule(&elements, 8));
            match schedule {
                Ok(Ok(schedule)) => format!(
                    "{} phases, {} blocks, {} batches",
                    schedule.phase_count(),
                    schedule.block_count(),
                    schedule.batch_count()
                ),
                error => format!("{error:?}"),
            }
        });
    }
    table.add("edges: clusters of 2048, grown", elements.len(), 2, None, 3, || {
        match Clusters::by_growth(&elements, Stop::Size(2048)) {
            Ok(clusters) => format!("{} clusters", clusters.len()),
            Err(error) => error.to_string(),
        }
    });
    Ok(())
}

fn contacts(table: &mut Table) -> Result<(), Box<dyn Error>> {
    let pile = pile::pile(23, 0);
    let elements = Elements::uniform(&pile.contacts, pile.fixed.len())?;
    let elements = elements.with_fixed(&pile.fixed)?;
    for (name, threads, batching, target, repeats) in [
        ("contacts: grid split + batches", 1, Batching::Exhaustive, None, 101),
        ("contacts: grid split + batches", 2, Batching::Exhaustive, Some(4.0), 101),
        ("contacts: grid split + 4 rounds of locks", 2, Batching::Rounds(4), None, 5),
    ] {
        let mut split = GridSplit::new(GridOptions { batching, ..GridOptions::default() });
        table.add(name, elements.len(), threads, target, repeats, || {
            match split.split(&elements, &pile.points, &pile.extents) {
                Ok(schedule) => format!(
                    "{} phases, {} blocks, {} batches",
                    schedule.phase_count(),
                    schedule.block_count(),
                    schedule.batch_count()
                ),
                Err(error) => error.to_string(),
            }
        });
    }
    Ok(())
}

fn ranks(table: &mut Table, cloth: &Mesh<2>) -> Result<(), Box<dyn Error>> {
    let elements = cloth.elements()?;
    for name in ["bisection", "Hilbert curve", "graph"] {
        table.add(&format!("edges: 16 ranks by {name}"), elements.len(), 2, None, 3, || {
            let ranks = match name {
                "bisection" => Ranks::by_bisection(&cloth.points, 16),
                "graph" => Ranks::by_graph(&elements, 16, 0.03),
                _ => Ranks::by_curve(&cloth.points, Curve::Hilbert, 16),
            };
            match ranks.and_then(|ranks| ranks.quality(&elements)) {
                Ok(quality) => {
                    format!("cut {}, imbalance {:.3}", quality.edge_cut, quality.imbalance)
                }
                Err(error) => error.to_string(),
            }
        });
    }
    Ok(())
}

/// Ten times the elements should take about ten times as long; a little more, as the caches
/// hold less of them.
fn growth(table: &mut Table, million: &Mesh<2>) -> Result<(), Box<dyn Error>> {
    if !table.wants("growth") {
        return Ok(());
    }
    let ten_million = cloth_edges(TEN_MILLION);
    for (name, order, threads) in [
        ("growth: natural", Order::Natural, 1),
        ("growth: smallest-last", Order::SmallestLast, 1),
        ("growth: parallel", Order::Parallel, 2),
    ] {
        let (small, large) = (million.elements()?, ten_million.elements()?);
        table.add_ratio(name, threads, [small.len(), large.len()], |which| {
            colored(if which == 0 { &small } else { &large }, order);
        });
    }
    table.add_ratio("growth: clusters of 2048", 2, [million.len(), ten_million.len()], |which| {
        let mesh = [million, &ten_million][which];
        let schedule = mesh.elements().ok().and_then(|elements| {
            let points = mean_points(&elements, &mesh.points).ok()?;
            let clusters =
                Clusters::by_subdivision(&points, &Subdivision::new(Stop::Size(2048))).ok()?;
            clusters.schedule(&elements, 8).ok()
        });
        assert!(schedule.is_some());
    });
    Ok(())
}
