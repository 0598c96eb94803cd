//! Contract: counts as documented, one consistent outward (or upward) winding, no triangle or
//! tetrahedron without size, groups where they belong, and bad numbers refused before any
//! allocation.
use proptest::prelude::*;

use super::*;
use crate::mesh::Topology;

const PI: f64 = std::f64::consts::PI;

/// What holds for every generated mesh.
fn sound(mesh: &Mesh) -> Topology {
    mesh.check().unwrap();
    assert_eq!(mesh.degenerate_triangles(), [0u32; 0]);
    let topology = Topology::new(mesh).unwrap();
    assert!(topology.is_oriented());
    assert_eq!(topology.non_manifold_edges, [[0; 2]; 0]);
    assert_eq!(topology.component_count(), 1);
    topology
}

fn closed(mesh: &Mesh) -> Topology {
    let topology = sound(mesh);
    assert!(topology.is_closed());
    assert_eq!(2 * topology.hinges.len(), 3 * mesh.triangles.len());
    topology
}

/// Whether every triangle's normal points along `outward(centroid)`.
fn faces(mesh: &Mesh, outward: impl Fn(Vec3) -> Vec3) -> bool {
    mesh.triangles.iter().all(|&corners| {
        let [a, b, c] = corners.map(|corner| mesh.positions[corner as usize]);
        (b - a).cross(c - a).dot(outward((a + b + c) / 3.0)) > 0.0
    })
}

/// The group holds exactly the vertices for which the condition holds.
fn group_is(mesh: &Mesh, name: &str, condition: impl Fn(Vec3) -> bool) {
    let numbered = (0u32..).zip(&mesh.positions);
    let expected: Vec<u32> =
        numbered.filter(|&(_, &position)| condition(position)).map(|(vertex, _)| vertex).collect();
    assert_eq!(mesh.groups[name], expected, "group {name}");
}

fn close(value: f32, target: f32) -> bool {
    (value - target).abs() < 1e-5
}

#[test]
fn a_grid_lies_where_it_should_and_names_its_sides() {
    let mesh = grid([5, 3], [4.0, 1.0], Diagonals::Regular, 0).unwrap();
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (15, 16));
    assert_eq!(mesh.positions[7], Vec3::ZERO);
    assert_eq!(mesh.positions[4], Vec3::new(2.0, 0.0, -0.5));
    group_is(&mesh, "left", |p| p.x == -2.0);
    group_is(&mesh, "right", |p| p.x == 2.0);
    group_is(&mesh, "back", |p| p.z == -0.5);
    group_is(&mesh, "front", |p| p.z == 0.5);
    group_is(&mesh, "left-back", |p| p.x == -2.0 && p.z == -0.5);
    group_is(&mesh, "right-back", |p| p.x == 2.0 && p.z == -0.5);
    group_is(&mesh, "left-front", |p| p.x == -2.0 && p.z == 0.5);
    group_is(&mesh, "right-front", |p| p.x == 2.0 && p.z == 0.5);
    group_is(&mesh, "corners", |p| p.x.abs() == 2.0 && p.z.abs() == 0.5);
}

#[test]
fn diagonals_are_regular_alternating_or_follow_the_seed() {
    let with = |diagonals, seed| grid([9, 9], [1.0, 1.0], diagonals, seed).unwrap().triangles;
    let rising = |triangles: &[[u32; 3]]| -> Vec<bool> {
        triangles.chunks(2).map(|pair| pair[0][2] == pair[0][0] + 10).collect()
    };
    assert!(rising(&with(Diagonals::Regular, 0)).iter().all(|&is_rising| is_rising));
    let alternating = rising(&with(Diagonals::Alternating, 0));
    assert!((0..64).all(|square| alternating[square] == ((square / 8 + square % 8) % 2 == 0)));
    let random = rising(&with(Diagonals::Random, 3));
    assert!((16..48).contains(&random.iter().filter(|&&is_rising| is_rising).count()));
    assert_eq!(random, rising(&with(Diagonals::Random, 3)));
    assert_ne!(random, rising(&with(Diagonals::Random, 4)));
}

#[test]
fn spheres_name_their_poles_and_approach_a_ball() {
    let mesh = sphere(2.0, 16).unwrap();
    group_is(&mesh, "top", |p| p == Vec3::new(0.0, 2.0, 0.0));
    group_is(&mesh, "bottom", |p| p == Vec3::new(0.0, -2.0, 0.0));
    assert!((mesh.volume() / (4.0 / 3.0 * PI * 8.0) - 1.0).abs() < 0.01);
    assert!((mesh.surface_area() / (4.0 * PI * 4.0) - 1.0).abs() < 0.01);
}

#[test]
fn tori_approach_the_volume_of_a_torus() {
    let mesh = torus(1.0, 0.25, 96, 48).unwrap();
    assert!((mesh.volume() / (2.0 * PI * PI * 0.0625) - 1.0).abs() < 0.01);
    assert!(mesh.groups.is_empty());
    assert!(close(mesh.bounds().unwrap().size().y, 0.5));
}

#[test]
fn discs_and_tubes_approach_their_areas() {
    assert!((disc(0.5, 20).unwrap().surface_area() / (PI * 0.25) - 1.0).abs() < 0.01);
    let mesh = tube(0.5, 3.0, 64, 5).unwrap();
    assert!((mesh.surface_area() / (PI * 3.0) - 1.0).abs() < 0.01);
}

#[test]
fn numbers_that_make_no_mesh_are_refused_with_a_reason() {
    let message = |result: Result<Mesh, MeshError>| result.unwrap_err().to_string();
    let bad_grid = |particles, size| message(grid(particles, size, Diagonals::Regular, 0));
    assert_eq!(bad_grid([1, 9], [1.0; 2]), "grid: `particles` is 1, it must be at least 2");
    assert!(bad_grid([2, 2], [1.0, f32::NAN]).contains("`size` is NaN, it must be a finite"));
    assert!(bad_grid([2, 2], [-1.0, 1.0]).contains("`size` is -1"));
    assert!(message(disc(f32::INFINITY, 3)).contains("disc: `radius` is inf"));
    assert!(message(disc(1.0, 0)).contains("disc: `rings` is 0"));
    assert!(message(sphere(1.0, 0)).contains("sphere: `subdivisions` is 0"));
    assert!(message(tube(1.0, 1.0, 2, 2)).contains("tube: `around` is 2"));
    assert!(message(tube(1.0, 1.0, 3, 1)).contains("tube: `along` is 1"));
    assert!(message(tube(1.0, 0.0, 3, 2)).contains("tube: `length` is 0"));
    assert!(message(torus(1.0, 0.1, 2, 3)).contains("torus: `around` is 2"));
    assert!(message(torus(1.0, 0.1, 3, 2)).contains("torus: `tube-around` is 2"));
    assert!(message(torus(1.0, 1.0, 3, 3)).contains("must be below `radius`, which is 1"));
    assert!(message(box_surface([1.0; 3], [1, 0, 1])).contains("box: `cells` is 0"));
    assert!(message(block([1.0, 0.0, 1.0], [1; 3])).contains("block: `size` is 0"));
}

#[test]
fn counts_beyond_the_limit_are_refused_before_anything_is_allocated() {
    let most = u32::MAX;
    let refused = |result: Result<Mesh, MeshError>| {
        assert!(result.unwrap_err().to_string().contains("vertices are too many"));
    };
    refused(grid([most, most], [1.0; 2], Diagonals::Regular, 0));
    refused(grid([1 << 14, (1 << 13) + 1], [1.0; 2], Diagonals::Regular, 0));
    refused(disc(1.0, most));
    refused(sphere(1.0, most));
    refused(tube(1.0, 1.0, most, most));
    refused(torus(1.0, 0.5, most, most));
    refused(box_surface([1.0; 3], [most; 3]));
    refused(box_surface([1.0; 3], [most, 1, 1]));
    refused(block([1.0; 3], [most; 3]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn grids_are_discs_that_face_up(
        columns in 2u32..12, rows in 2u32..12, seed: u64,
        diagonals in prop_oneof![
            Just(Diagonals::Regular), Just(Diagonals::Alternating), Just(Diagonals::Random)
        ],
    ) {
        let mesh = grid([columns, rows], [1.0, 2.0], diagonals, seed).unwrap();
        let topology = sound(&mesh);
        let [columns, rows] = [columns as usize, rows as usize];
        let across = (columns - 1) * (rows - 1);
        prop_assert_eq!(topology.edges.len(), (columns - 1) * rows + columns * (rows - 1) + across);
        let boundary = 2 * (columns - 1) + 2 * (rows - 1);
        prop_assert_eq!(topology.boundary_edges.len(), boundary);
        prop_assert_eq!(topology.hinges.len(), topology.edges.len() - boundary);
        prop_assert_eq!(topology.euler_characteristic, 1);
        prop_assert!(faces(&mesh, |_| Vec3::Y));
        prop_assert!((mesh.surface_area() - 2.0).abs() < 1e-5);
    }

    #[test]
    fn discs_face_up_and_have_six_rings_squared_triangles(rings in 1u32..12) {
        let mesh = disc(1.5, rings).unwrap();
        let topology = sound(&mesh);
        prop_assert_eq!(mesh.triangles.len(), 6 * (rings * rings) as usize);
        prop_assert_eq!(mesh.positions.len(), 1 + 3 * (rings * (rings + 1)) as usize);
        prop_assert_eq!(topology.euler_characteristic, 1);
        prop_assert_eq!(topology.boundary_edges.len(), 6 * rings as usize);
        prop_assert!(faces(&mesh, |_| Vec3::Y));
        group_is(&mesh, "center", |p| p == Vec3::ZERO);
        group_is(&mesh, "rim", |p| close(p.length(), 1.5));
    }

    #[test]
    fn spheres_are_closed_and_round(subdivisions in 1u32..12) {
        let mesh = sphere(3.0, subdivisions).unwrap();
        let topology = closed(&mesh);
        prop_assert_eq!(mesh.triangles.len(), 20 * (subdivisions * subdivisions) as usize);
        prop_assert_eq!(mesh.positions.len(), 2 + 10 * (subdivisions * subdivisions) as usize);
        prop_assert_eq!(topology.euler_characteristic, 2);
        prop_assert!(faces(&mesh, |centroid| centroid));
        prop_assert!(mesh.positions.iter().all(|p| close(p.length(), 3.0)));
    }

    #[test]
    fn tubes_are_open_at_both_ends(around in 3u32..12, along in 2u32..12) {
        let mesh = tube(0.5, 2.0, around, along).unwrap();
        let topology = sound(&mesh);
        prop_assert_eq!(mesh.positions.len(), (around * along) as usize);
        prop_assert_eq!(mesh.triangles.len(), 2 * (around * (along - 1)) as usize);
        prop_assert_eq!(topology.euler_characteristic, 0);
        prop_assert_eq!(topology.boundary_edges.len(), 2 * around as usize);
        prop_assert!(faces(&mesh, |centroid| Vec3::new(0.0, centroid.y, centroid.z)));
        prop_assert!(mesh.positions.iter().all(|p| close(p.y.hypot(p.z), 0.5)));
        group_is(&mesh, "start", |p| p.x == -1.0);
        group_is(&mesh, "end", |p| p.x == 1.0);
    }

    #[test]
    fn tori_are_closed_with_a_hole(around in 3u32..12, tube_around in 3u32..12) {
        let mesh = torus(2.0, 0.5, around, tube_around).unwrap();
        let topology = closed(&mesh);
        prop_assert_eq!(mesh.positions.len(), (around * tube_around) as usize);
        prop_assert_eq!(mesh.triangles.len(), 2 * (around * tube_around) as usize);
        prop_assert_eq!(topology.euler_characteristic, 0);
        prop_assert!(mesh.volume() > 0.0);
        prop_assert!(mesh.positions.iter().all(|p| close((p.x.hypot(p.z) - 2.0).hypot(p.y), 0.5)));
    }

    #[test]
    fn boxes_and_blocks_share_their_surface(cells in proptest::array::uniform3(1u32..6)) {
        let (size, half) = ([2.0, 4.0, 6.0], Vec3::new(1.0, 2.0, 3.0));
        let [hollow, solid] = [box_surface(size, cells).unwrap(), block(size, cells).unwrap()];
        for mesh in [&hollow, &solid] {
            prop_assert_eq!(closed(mesh).euler_characteristic, 2);
            // Which face a triangle lies on shows in its centroid.
            let on_face = |share: f32| if share.abs() > 1.0 - 1e-5 { share } else { 0.0 };
            let outward = |centroid: Vec3| {
                Vec3::from_array((centroid / half).to_array().map(on_face))
            };
            prop_assert!(faces(mesh, outward));
            for (name, axis, end) in [
                ("left", 0, -1.0), ("right", 0, 1.0), ("bottom", 1, -1.0),
                ("top", 1, 1.0), ("back", 2, -1.0), ("front", 2, 1.0),
            ] {
                group_is(mesh, name, |p| p[axis] == end * half[axis]);
            }
        }
        let corners = |mesh: &Mesh| -> Vec<[Vec3; 3]> {
            let at = |corner: u32| mesh.positions[corner as usize];
            mesh.triangles.iter().map(|&triangle| triangle.map(at)).collect()
        };
        prop_assert_eq!(corners(&hollow), corners(&solid));
    }

    #[test]
    fn blocks_conform(cells in proptest::array::uniform3(1u32..5)) {
        let mesh = block([1.0, 2.0, 3.0], cells).unwrap();
        let cell_count = cells.iter().product::<u32>() as usize;
        prop_assert_eq!(mesh.tetrahedra.len(), 6 * cell_count);
        prop_assert!((mesh.volume() - 6.0).abs() < 1e-5);
        // The faces that one tetrahedron only has are exactly the triangles, wound alike.
        let mut sides: Vec<([u32; 3], [u32; 3])> = mesh.tetrahedra.iter().flat_map(|&[a, b, c, d]| {
            [[a, c, b], [a, b, d], [a, d, c], [b, c, d]].map(|side| (sorted(side), turned(side)))
        }).collect();
        sides.sort_unstable();
        let mut surface = Vec::new();
        for run in sides.chunk_by(|left, right| left.0 == right.0) {
            match run {
                [only] => surface.push(only.1),
                [left, right] => prop_assert_ne!(left.1, right.1),
                _ => prop_assert!(false, "{} tetrahedra on one face", run.len()),
            }
        }
        let mut triangles: Vec<_> = mesh.triangles.iter().map(|&side| turned(side)).collect();
        triangles.sort_unstable();
        surface.sort_unstable();
        prop_assert_eq!(surface, triangles);
    }
}

fn sorted(mut corners: [u32; 3]) -> [u32; 3] {
    corners.sort_unstable();
    corners
}

/// The same winding, starting at the lowest corner.
fn turned(mut corners: [u32; 3]) -> [u32; 3] {
    let lowest = (0..3).min_by_key(|&k| corners[k]).unwrap_or(0);
    corners.rotate_left(lowest);
    corners
}
