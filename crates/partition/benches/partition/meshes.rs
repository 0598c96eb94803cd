//! The meshes that benchmarks partition.

use taut_partition::{Elements, InputError};

/// Elements of `N` bodies, and where the bodies are.
pub(crate) struct Mesh<const N: usize> {
    pub(crate) list: Vec<[u32; N]>,
    pub(crate) points: Vec<[f32; 3]>,
}

impl<const N: usize> Mesh<N> {
    pub(crate) fn elements(&self) -> Result<Elements<'_>, InputError> {
        Elements::uniform(&self.list, self.points.len())
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

/// The edges of a square cloth of `side` × `side` cells, each cut by a diagonal, in alternating
/// directions as garment meshes have them: about `3 side²` edges, valence 8 and 4.
pub(crate) fn cloth_edges(side: u32) -> Mesh<2> {
    let id = |column: u32, row: u32| row * (side + 1) + column;
    let mut list = Vec::new();
    let mut points = Vec::new();
    for row in 0..=side {
        for column in 0..=side {
            points.push([column as f32, row as f32, 0.0]);
            if column < side {
                list.push([id(column, row), id(column + 1, row)]);
            }
            if row < side {
                list.push([id(column, row), id(column, row + 1)]);
            }
            if column < side && row < side {
                list.push(if (column + row) % 2 == 0 {
                    [id(column, row), id(column + 1, row + 1)]
                } else {
                    [id(column + 1, row), id(column, row + 1)]
                });
            }
        }
    }
    Mesh { list, points }
}

/// A block of `side`³ cells of six tetrahedra each (Kuhn): inner bodies have valence 24.
pub(crate) fn tetrahedra(side: u32) -> Mesh<4> {
    let id = |at: [u32; 3]| (at[2] * (side + 1) + at[1]) * (side + 1) + at[0];
    let paths = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut list = Vec::new();
    for cell in 0..side * side * side {
        for path in paths {
            let mut at = [cell % side, cell / side % side, cell / side / side];
            let mut tetrahedron = [id(at); 4];
            for (corner, axis) in path.into_iter().enumerate() {
                at[axis] += 1;
                tetrahedron[corner + 1] = id(at);
            }
            list.push(tetrahedron);
        }
    }
    let line = side + 1;
    let point = |body: u32| [body % line, body / line % line, body / line / line];
    let points = (0..line * line * line).map(|body| point(body).map(|x| x as f32)).collect();
    Mesh { list, points }
}
