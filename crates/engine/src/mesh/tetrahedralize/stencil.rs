//! What is left of one tetrahedron of the lattice after the surface has cut it.
//!
//! Corners inside are kept, corners on the surface too, and corners outside are replaced by cut
//! points on the edges to corners inside. What remains is a tetrahedron, a pyramid or a prism.
//! Quadrilaterals between two tetrahedra must be cut along the same diagonal by both, so the
//! choice depends on the face alone: [`Cut::leads`].

/// Where a corner lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Inside,
    Surface,
    Outside,
}

/// How a face's corners become vertices.
pub(super) trait Cut {
    /// A vertex of the mesh.
    type Vertex: Copy + PartialEq;
    /// The vertex at a corner of the lattice.
    fn corner(&self, node: u32) -> Self::Vertex;
    /// The cut point between a corner inside and one outside.
    fn cut(&self, inside: u32, outside: u32) -> Self::Vertex;
    /// In the face of two corners inside and one outside, whether the diagonal of what is left
    /// starts at the first of them, and not at the second.
    fn leads(&self, first: u32, second: u32, outside: u32) -> bool;
}

/// Calls `emit` for each tetrahedron that is left of a positively oriented one.
pub(super) fn fill<C: Cut>(
    cut: &C,
    nodes: [u32; 4],
    sides: [Side; 4],
    emit: &mut impl FnMut([C::Vertex; 4]),
) {
    let count = |side| sides.iter().filter(|&&other| other == side).count();
    match (count(Side::Inside), count(Side::Outside)) {
        (0, _) => {}
        (_, 0) => emit(nodes.map(|node| cut.corner(node))),
        (1, _) => emit(one_inside(cut, nodes, sides)),
        (2, 2) => two_and_two(cut, sorted(nodes, sides), emit),
        // Two inside and one on the surface, or three inside.
        _ => one_outside(cut, sorted(nodes, sides), count(Side::Inside) == 2, emit),
    }
}

/// The corner inside stays, those outside move toward it.
fn one_inside<C: Cut>(cut: &C, nodes: [u32; 4], sides: [Side; 4]) -> [C::Vertex; 4] {
    let inside = (0..4).find(|&k| sides[k] == Side::Inside).unwrap_or(0);
    [0, 1, 2, 3].map(|k| match sides[k] {
        Side::Outside => cut.cut(nodes[inside], nodes[k]),
        _ => cut.corner(nodes[k]),
    })
}

/// Corners inside first, those outside last, in an order of the same orientation.
fn sorted(nodes: [u32; 4], sides: [Side; 4]) -> [u32; 4] {
    let mut order = [0, 1, 2, 3];
    order.sort_by_key(|&k| sides[k] as u8);
    let inversions = (0..4).flat_map(|j| (0..j).map(move |i| (i, j)));
    if inversions.filter(|&(i, j)| order[i] > order[j]).count() % 2 == 1 {
        // The first two are both inside.
        order.swap(0, 1);
    }
    order.map(|k| nodes[k])
}

/// A prism between the corners inside, p and q: its ends are (p, cut, cut) and (q, cut, cut).
fn two_and_two<C: Cut>(cut: &C, [p, q, a, b]: [u32; 4], emit: &mut impl FnMut([C::Vertex; 4])) {
    let start = [cut.corner(p), cut.cut(p, a), cut.cut(p, b)];
    let end = [cut.corner(q), cut.cut(q, a), cut.cut(q, b)];
    let [at_a, at_b] = [cut.leads(p, q, a), cut.leads(p, q, b)];
    // The quadrilateral of the four cut points is on the surface: any diagonal will do that
    // does not go around the prism with the other two.
    prism(start, end, [at_a, !at_a, !at_b], emit);
}

/// A prism from the three corners that stay to their cut points; a pyramid, that is a prism
/// with an edge of length zero, where the third is on the surface.
fn one_outside<C: Cut>(
    cut: &C,
    [p, q, r, outside]: [u32; 4],
    is_pyramid: bool,
    emit: &mut impl FnMut([C::Vertex; 4]),
) {
    let start = [p, q, r].map(|node| cut.corner(node));
    let third = if is_pyramid { start[2] } else { cut.cut(r, outside) };
    let end = [cut.cut(p, outside), cut.cut(q, outside), third];
    let diagonals = if is_pyramid {
        [cut.leads(p, q, outside), false, true]
    } else {
        [(p, q), (q, r), (r, p)].map(|(first, second)| cut.leads(first, second, outside))
    };
    prism(start, end, diagonals, emit);
}

/// Cuts the prism between two triangles. The diagonal of side k runs from start k to end k + 1
/// if `diagonals[k]`, else from start k + 1 to end k; they must not all be alike, as then no
/// cut is possible. The first triangle is seen from the second counterclockwise.
fn prism<V: Copy + PartialEq>(
    start: [V; 3],
    end: [V; 3],
    diagonals: [bool; 3],
    emit: &mut impl FnMut([V; 4]),
) {
    // The corner of the first triangle where two diagonals start.
    let peak = (0..3).find(|&k| diagonals[k] && !diagonals[(k + 2) % 3]).unwrap_or(0);
    let [next, last] = [(peak + 1) % 3, (peak + 2) % 3];
    let [apex, b, c] = [start[peak], start[next], start[last]];
    let [end_b, end_c] = [end[next], end[last]];
    let around = if diagonals[next] {
        [[apex, b, c, end_c], [apex, b, end_c, end_b]]
    } else {
        [[apex, b, c, end_b], [apex, c, end_c, end_b]]
    };
    for corners in [[apex, end[0], end[1], end[2]], around[0], around[1]] {
        if (1..4).all(|k| !corners[..k].contains(&corners[k])) {
            emit(corners);
        }
    }
}
