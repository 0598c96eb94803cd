//! The easy case: no copy is needed, only exactly as many colors as asked for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::assign::Assignment;
use crate::Elements;
use crate::coloring::{balance, first_fit, save_colors};

/// Colors the elements without copies if `color_count` colors do, and uses exactly as many (or
/// one per element, if there are fewer elements).
pub(super) fn without_copies(
    elements: &Elements<'_>,
    order: &[u32],
    color_count: usize,
) -> Option<Assignment> {
    let mut colors = first_fit(elements, order.iter().copied(), color_count);
    let found = colors.iter().max().map_or(0, |&last| last as usize + 1);
    let moves = 1024 + elements.len() / 3;
    let found = save_colors(elements, &mut colors, found, color_count, moves);
    if found > color_count {
        return None;
    }
    let color_count = color_count.min(elements.len());
    divide(&mut colors, found, color_count);
    balance(elements, &mut colors, color_count);
    let bodies = elements.bodies().to_vec();
    Some(Assignment { colors, bodies, owners: Vec::new(), turned: Vec::new() })
}

/// Divides the largest colors until there are `color_count`: any part of a color is a color.
fn divide(colors: &mut [u32], found: usize, color_count: usize) {
    let mut sizes = vec![0_usize; found];
    for &color in &*colors {
        sizes[color as usize] += 1;
    }
    // The parts of each color, found by always dividing the one with the largest parts.
    let mut parts = vec![1; found];
    let mut largest: BinaryHeap<_> =
        sizes.iter().zip(0..).map(|(&size, color)| (size, Reverse(color))).collect();
    for _ in found..color_count {
        let Some((_, Reverse(color))) = largest.pop() else { break };
        parts[color] += 1;
        largest.push((sizes[color].div_ceil(parts[color]), Reverse(color)));
    }
    let mut first = vec![0; found + 1];
    for color in 0..found {
        first[color + 1] = first[color] + parts[color];
    }
    let mut seen = vec![0_usize; found];
    for color in colors {
        let old = *color as usize;
        *color = (first[old] + seen[old] * parts[old] / sizes[old]) as u32;
        seen[old] += 1;
    }
}

#[cfg(test)]
mod tests {
    //! Contract: exactly as many colors as asked for, of similar sizes, and each inside an old one.

    use super::*;

    #[test]
    fn large_colors_are_divided_first() {
        let old = [0, 0, 0, 0, 0, 0, 1, 1];
        let mut colors = old;
        divide(&mut colors, 2, 4);
        assert_eq!(colors, [0, 0, 1, 1, 2, 2, 3, 3]);
        colors = old;
        divide(&mut colors, 2, 8);
        assert_eq!(colors, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
