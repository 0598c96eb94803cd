//! Draws the picture of the README: a real schedule with its phases, blocks and batches.
//!
//! `cargo run -p taut-partition --example picture -- crates/partition/docs/three-nouns.svg`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fmt::Write as _;

use taut_partition::clusters::{Clusters, LaneLayout, PADDING, Stop, Subdivision, mean_points};
use taut_partition::{Elements, Schedule};

const RINGS: u32 = 8;
const CLUSTERS: usize = 16;
const LANES: usize = 4;
/// A color per phase that is told apart in print and by the color-blind (Okabe & Ito).
const COLORS: [&str; 5] = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442"];

fn main() -> Result<(), Box<dyn Error>> {
    let (points, triangles) = disc();
    let elements = Elements::uniform(&triangles, points.len())?;
    let subdivision = Subdivision::new(Stop::Subsets(CLUSTERS));
    let clusters = Clusters::by_subdivision(&mean_points(&elements, &points)?, &subdivision)?;
    let schedule = clusters.schedule(&elements, LANES)?;
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 420\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"15\" fill=\"#222\">\n\
         <rect width=\"960\" height=\"420\" fill=\"#ffffff\"/>\n",
    );
    draw_mesh(&mut svg, &points, &triangles, &schedule)?;
    draw_timeline(&mut svg, &schedule)?;
    svg += "</svg>\n";
    match std::env::args().nth(1) {
        Some(file) => std::fs::write(file, svg)?,
        None => print!("{svg}"),
    }
    Ok(())
}

/// Triangles in the color of their phase; clusters (blocks) set apart by white lines.
fn draw_mesh(
    svg: &mut String,
    points: &[[f32; 3]],
    triangles: &[[u32; 3]],
    schedule: &Schedule,
) -> Result<(), Box<dyn Error>> {
    let block_of = block_of_element(schedule);
    let at = |body: u32| {
        let [x, y, _] = points[body as usize];
        [190.0 + x * 20.5, 205.0 - y * 20.5]
    };
    for (triangle, &(phase, _)) in triangles.iter().zip(&block_of) {
        let [a, b, c] = triangle.map(at);
        writeln!(
            svg,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{}\" stroke=\"#fff\" stroke-width=\"0.6\"/>",
            a[0],
            a[1],
            b[0],
            b[1],
            c[0],
            c[1],
            COLORS[phase % COLORS.len()]
        )?;
    }
    for (first, triangle) in triangles.iter().enumerate() {
        for (second, other) in triangles.iter().enumerate().skip(first + 1) {
            let shared: Vec<u32> =
                triangle.iter().copied().filter(|body| other.contains(body)).collect();
            if let [a, b] = shared[..]
                && block_of[first] != block_of[second]
            {
                let (a, b) = (at(a), at(b));
                writeln!(
                    svg,
                    "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#fff\" stroke-width=\"4\" stroke-linecap=\"round\"/>",
                    a[0], a[1], b[0], b[1]
                )?;
            }
        }
    }
    writeln!(
        svg,
        "<text x=\"190\" y=\"398\" text-anchor=\"middle\">{} triangles in {} clusters</text>",
        triangles.len(),
        schedule.block_count()
    )?;
    Ok(())
}

/// Phase and block of every element.
fn block_of_element(schedule: &Schedule) -> Vec<(usize, usize)> {
    let mut block_of = vec![(0, 0); schedule.len()];
    for phase in 0..schedule.phase_count() {
        for block in schedule.blocks(phase) {
            for place in schedule.block(block) {
                block_of[schedule.order()[place] as usize] = (phase, block);
            }
        }
    }
    block_of
}

/// Width of an element's square, with the gap to the next.
const SQUARE: usize = 13;
const TOP: usize = 74;

/// Phases from left to right with barriers in between, their blocks below each other, and in a
/// block its batches one after another, each as columns of lanes.
fn draw_timeline(svg: &mut String, schedule: &Schedule) -> Result<(), Box<dyn Error>> {
    let layout = LaneLayout::new(schedule, LANES)?;
    let block_height = LANES * SQUARE + 14;
    let mut left = 416;
    for phase in 0..schedule.phase_count() {
        let color = COLORS[phase % COLORS.len()];
        let mut right = left;
        for (row, block) in schedule.blocks(phase).enumerate() {
            let top = TOP + row * (block_height + 8);
            let (squares, width) = block_squares(schedule, &layout, block, [left, top], color)?;
            writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{block_height}\" rx=\"5\" fill=\"{color}\" fill-opacity=\"0.25\"/>\n{squares}"
            )?;
            right = right.max(left + width);
        }
        let middle = left.midpoint(right);
        writeln!(
            svg,
            "<text x=\"{middle}\" y=\"58\" text-anchor=\"middle\">phase {}</text>",
            phase + 1
        )?;
        if phase + 1 < schedule.phase_count() {
            let x = right + 9;
            writeln!(svg, "<path d=\"M{x} 46V368\" stroke=\"#222\" stroke-dasharray=\"5 4\"/>")?;
        }
        left = right + 18;
    }
    label(svg)
}

/// The squares of a block's elements, and the width that they take.
fn block_squares(
    schedule: &Schedule,
    layout: &LaneLayout,
    block: usize,
    [left, top]: [usize; 2],
    color: &str,
) -> Result<(String, usize), Box<dyn Error>> {
    let mut squares = String::new();
    let mut x = left + 6;
    for batch in schedule.batches(block) {
        for group in layout.groups(batch) {
            for (lane, &slot) in layout.group(group).iter().enumerate() {
                let y = top + 8 + lane * SQUARE;
                let fill = if slot == PADDING { "none" } else { color };
                writeln!(
                    squares,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"{fill}\" stroke=\"{color}\"/>"
                )?;
            }
            x += SQUARE;
        }
        x += 3;
    }
    Ok((squares, x - left + 1))
}

fn label(svg: &mut String) -> Result<(), Box<dyn Error>> {
    svg.push_str(
        "<text x=\"416\" y=\"26\" font-size=\"17\" font-weight=\"bold\">time →</text>\n\
         <text x=\"502\" y=\"26\" fill=\"#555\">dashed: a barrier, all workers wait</text>\n",
    );
    for (y, text) in [
        (380, "block (shaded): a cluster, run by one worker; those of a phase at the same time"),
        (402, "batch (column): elements that share no body, one per SIMD lane; empty: padding"),
    ] {
        writeln!(svg, "<text x=\"416\" y=\"{y}\" font-size=\"12\">{text}</text>")?;
    }
    Ok(())
}

/// Rings of triangles.
fn disc() -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let (mut points, mut triangles) = (vec![[0.0; 3]], Vec::new());
    let at = |ring: u32, place: u32| match ring {
        0 => 0,
        _ => 1 + 3 * ring * (ring - 1) + place % (6 * ring),
    };
    for ring in 1..=RINGS {
        for place in 0..6 * ring {
            let angle = std::f32::consts::TAU * place as f32 / (6 * ring) as f32;
            points.push([ring as f32 * angle.cos(), ring as f32 * angle.sin(), 0.0]);
        }
        for sector in 0..6 {
            for step in 0..ring {
                let outer = |step| at(ring, sector * ring + step);
                let inner = |step| at(ring - 1, sector * (ring - 1) + step);
                triangles.push([outer(step), outer(step + 1), inner(step)]);
                if step + 1 < ring {
                    triangles.push([inner(step), outer(step + 1), inner(step + 1)]);
                }
            }
        }
    }
    (points, triangles)
}
