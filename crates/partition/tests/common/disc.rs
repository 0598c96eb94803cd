//! A round piece of cloth, as in paper B's first scene (95k triangles).

#![allow(unreachable_pub, reason = "shared by tests and the benchmark")]

/// Rings of triangles around a center; ring `k` has `6 k` points, all edges about equally long.
/// Returns the points and `6 rings²` triangles.
pub fn disc(rings: u32) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let mut points = vec![[0.0; 3]];
    let mut triangles = Vec::new();
    for ring in 1..=rings {
        for place in 0..6 * ring {
            let angle = std::f32::consts::TAU * place as f32 / (6 * ring) as f32;
            points.push([ring as f32 * angle.cos(), ring as f32 * angle.sin(), 0.0]);
        }
        for sector in 0..6 {
            for step in 0..ring {
                let outer = |step| first(ring) + (sector * ring + step) % (6 * ring);
                let inner = |step| match ring {
                    1 => 0,
                    _ => first(ring - 1) + (sector * (ring - 1) + step) % (6 * (ring - 1)),
                };
                triangles.push([outer(step), outer(step + 1), inner(step)]);
                if step + 1 < ring {
                    triangles.push([inner(step), outer(step + 1), inner(step + 1)]);
                }
            }
        }
    }
    (points, triangles)
}

/// The first point of a ring.
fn first(ring: u32) -> u32 {
    1 + 3 * ring * (ring - 1)
}
