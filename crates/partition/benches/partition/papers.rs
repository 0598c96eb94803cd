//! The papers' own figures beside ours.

use std::error::Error;

use taut_partition::Elements;
use taut_partition::clusters::{Clusters, Cut, Stop, Subdivision, mean_points};

use crate::disc::disc;

/// Paper B, scene 1: a disc of 95k triangles in 128 subsets gave 5 independent sets of about 26
/// subsets, of 744 triangles on average.
pub(crate) fn scene_1_of_paper_b() -> Result<(), Box<dyn Error>> {
    let (positions, triangles) = disc(126);
    let elements = Elements::uniform(&triangles, positions.len())?;
    let points = mean_points(&elements, &positions)?;
    println!("\npaper B, scene 1: 95k triangles, 128 subsets, 5 sets of ~26 subsets of ~744");
    for cut in [Cut::Center, Cut::Median] {
        let subdivision = Subdivision { cut, ..Subdivision::new(Stop::Subsets(128)) };
        let schedule = Clusters::by_subdivision(&points, &subdivision)?.schedule(&elements, 1)?;
        let subsets: Vec<usize> =
            (0..schedule.phase_count()).map(|phase| schedule.blocks(phase).len()).collect();
        let sizes: Vec<usize> =
            (0..schedule.block_count()).map(|block| schedule.block(block).len()).collect();
        println!(
            "here, cut at the {cut:?}: {} triangles, {} subsets, {} sets of {subsets:?} subsets of {} to {}",
            elements.len(),
            sizes.len(),
            subsets.len(),
            sizes.iter().min().unwrap_or(&0),
            sizes.iter().max().unwrap_or(&0),
        );
    }
    Ok(())
}
