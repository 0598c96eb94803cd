//! Paper B's first scene: how the disc divides, and the speed-up to expect beside the measured.

use std::error::Error;

use taut_partition::clusters::{Clusters, Cut, Stop, Subdivision, mean_points};
use taut_partition::stats::{Costs, Stats, predict};
use taut_partition::{Elements, Schedule};

use crate::disc::disc;

/// Threads, and the milliseconds of a step that the paper measured with them (Tables 1 and 2,
/// column 'Total'): edge-based and triangle-based. Its machine has 6 cores with 2 threads each.
const MEASURED: [(usize, f64, f64); 7] = [
    (1, 163.99, 327.65),
    (2, 84.14, 160.81),
    (4, 48.47, 114.13),
    (6, 40.68, 68.81),
    (8, 39.58, 58.92),
    (10, 38.86, 59.74),
    (12, 39.14, 58.09),
];

/// Milliseconds of a barrier. A guess for the fork and join of a thread pool; ten times as much
/// would still be little beside the elements.
const BARRIER: f64 = 0.02;

/// A kind of element in the paper's simulation.
struct Kind {
    /// Milliseconds of a step on one thread (Tables 1 and 2, first row).
    serial: f64,
    /// Milliseconds of one element in one sweep. Forces are computed once a step; constraints
    /// take several sweeps, the number of which the paper does not tell, so they are taken to
    /// cost as much for each sweep as the force of the same elements.
    element: f64,
    schedule: Schedule,
}

pub(crate) fn scene_1_of_paper_b() -> Result<(), Box<dyn Error>> {
    let (positions, triangles) = disc(126);
    let (edges, bends, pairs) = topology(&triangles);
    println!("\npaper B, scene 1: 95k triangles in 128 subsets: 5 sets of ~26 subsets of ~744");
    for cut in [Cut::Center, Cut::Median] {
        let schedule = divide(&triangles, &positions, cut)?;
        let stats = Stats::new(&schedule);
        let subsets: Vec<usize> =
            (0..stats.phases).map(|phase| schedule.blocks(phase).len()).collect();
        println!(
            "here, cut at the {cut:?}: {} triangles in {} subsets: {} sets of {subsets:?} subsets of up to {}",
            stats.elements, stats.blocks, stats.phases, stats.largest_block
        );
    }
    let cut = Cut::Center;
    let edge_cost = 9.06 / edges.len() as f64;
    let triangle_cost = 9.56 / triangles.len() as f64;
    let edge_based = [
        Kind { serial: 9.06, element: edge_cost, schedule: divide(&edges, &positions, cut)? },
        Kind { serial: 104.16, element: edge_cost, schedule: divide(&edges, &positions, cut)? },
        Kind { serial: 50.76, element: edge_cost, schedule: divide(&bends, &positions, cut)? },
    ];
    let triangle_based = [
        Kind {
            serial: 9.56,
            element: triangle_cost,
            schedule: divide(&triangles, &positions, cut)?,
        },
        Kind { serial: 47.85, element: triangle_cost, schedule: divide(&pairs, &positions, cut)? },
        Kind {
            serial: 270.23,
            element: triangle_cost,
            schedule: divide(&triangles, &positions, cut)?,
        },
    ];
    println!("\n         edge-based: EF, EC, EBC        triangle-based: TF, TBF, TC");
    println!("threads  predicted  measured by paper   predicted  measured by paper");
    for workers in 1..=12 {
        let predicted = [&edge_based, &triangle_based].map(|kinds| speed_up(kinds, workers));
        let measured = MEASURED.iter().find(|&&(threads, ..)| threads == workers);
        let show = |serial: f64, time: f64| format!("{:.1}x ({time:.1} ms)", serial / time);
        let (edge, triangle) = measured.map_or_else(Default::default, |&(_, edge, triangle)| {
            (show(MEASURED[0].1, edge), show(MEASURED[0].2, triangle))
        });
        println!(
            "{workers:7}  {:8.1}x  {edge:>17}   {:8.1}x  {triangle:>17}",
            predicted[0], predicted[1]
        );
    }
    println!(
        "The prediction knows blocks and barriers, not memory: it is what the schedule permits."
    );
    Ok(())
}

/// Into 128 subsets, as in the paper.
fn divide<const N: usize>(
    list: &[[u32; N]],
    positions: &[[f32; 3]],
    cut: Cut,
) -> Result<Schedule, Box<dyn Error>> {
    let elements = Elements::uniform(list, positions.len())?;
    let points = mean_points(&elements, positions)?;
    let subdivision = Subdivision { cut, ..Subdivision::new(Stop::Subsets(128)) };
    Ok(Clusters::by_subdivision(&points, &subdivision)?.schedule(&elements, 1)?)
}

/// The kinds follow each other; each is sped up by its own schedule.
fn speed_up(kinds: &[Kind], workers: usize) -> f64 {
    let time = |kind: &Kind| {
        let costs = Costs { element: kind.element, barrier: BARRIER };
        kind.serial / predict(&kind.schedule, workers, &costs).speed_up
    };
    let serial: f64 = kinds.iter().map(|kind| kind.serial).sum();
    serial / kinds.iter().map(time).sum::<f64>()
}

/// Edges, edges between opposite points of neighboring triangles, and pairs of such triangles.
type Topology = (Vec<[u32; 2]>, Vec<[u32; 2]>, Vec<[u32; 4]>);

fn topology(triangles: &[[u32; 3]]) -> Topology {
    let mut sides: Vec<([u32; 2], u32)> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [(a, b, c), (b, c, a), (c, a, b)])
        .map(|(a, b, opposite)| ([a.min(b), a.max(b)], opposite))
        .collect();
    sides.sort_unstable();
    let (mut edges, mut bends, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    for side in sides.chunk_by(|a, b| a.0 == b.0) {
        let (edge, first) = side[0];
        edges.push(edge);
        if let Some(&(_, second)) = side.get(1) {
            bends.push([first, second]);
            pairs.push([edge[0], edge[1], first, second]);
        }
    }
    (edges, bends, pairs)
}
