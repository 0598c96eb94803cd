//! Contract: points are the particles in the scene's order and then embedded vertices; fields know
//! what is stretched, fast and touching; and nothing depends on how particles stand in memory.

use std::path::Path;

use super::*;
use crate::output::surface;
use crate::scene::Scene;
use crate::simulation::BackendChoice;

const SCENE: &str = r#"
    [[bodies]]
    name = "cloth"
    mesh.grid = { particles = [7, 5], size = [1, 1] }
    transform = { position = [0, 0.2, 0], scale = 2 }
    thickness = 0.01
    elements.stretch = { stiffness = 1 }

    [[bodies]]
    name = "jelly"
    kind = "soft"
    mesh.block = { size = [1, 1, 1], cells = [2, 2, 2] }
    surface.sphere = { radius = 0.4, subdivisions = 3 }
    transform.position = [5, 3, 0]
    elements.stretch = { stiffness = 1 }
    repeat = { count = [2, 1, 1], spacing = [3, 0, 0] }

    [[shapes]]
    name = "floor"
    geometry.plane = {}

    [[shapes]]
    name = "stone"
    geometry.mesh = { source.sphere = { radius = 1, subdivisions = 4 }, scale = 0.5 }
    keyframes = [{ time = 0, position = [0, -9, 0] }, { time = 1, position = [0, -9, 6], rotation = [0, 90, 0] }]
"#;

fn start() -> (Simulation, Drawing) {
    let scene = Scene::parse("test", SCENE, Path::new(""), &[]).unwrap();
    let simulation = Simulation::new(&scene, BackendChoice::Serial).unwrap();
    let drawing = Drawing::of(&simulation);
    (simulation, drawing)
}

fn places(simulation: &Simulation, drawing: &Drawing) -> Vec<[f32; 3]> {
    let mut places = Vec::new();
    drawing.place(simulation, &mut places);
    places
}

fn values(simulation: &Simulation, drawing: &Drawing, field: Field) -> Vec<f32> {
    let mut values = Vec::new();
    drawing.field(simulation, field, &places(simulation, drawing), &mut values);
    assert_eq!(values.len(), drawing.points);
    values
}

#[test]
fn points_are_particles_and_then_embedded_vertices() {
    let (mut simulation, drawing) = start();
    simulation.step().unwrap();
    let places = places(&simulation, &drawing);
    assert_eq!((drawing.particles, drawing.points), (35 + 2 * 27, 35 + 2 * 27 + 2 * 92));
    assert_eq!(places.len(), drawing.points);
    let particles: Vec<[f32; 3]> =
        simulation.positions().iter().map(|&[x, y, z, _]| [x, y, z]).collect();
    assert_eq!(places[..drawing.particles], particles);
    // The same picture as the frames on disk, triangle by triangle.
    let (positions, triangles) = surface(&simulation);
    let corners = |corner: &u32| Vec3::from(places[*corner as usize]);
    let drawn: Vec<Vec3> = drawing.triangles.as_flattened().iter().map(corners).collect();
    let written = triangles.as_flattened().iter().map(|&corner| positions[corner as usize]);
    assert_eq!(drawn, written.collect::<Vec<_>>());
}

#[test]
fn bodies_know_their_parts() {
    let (_, drawing) = start();
    let names: Vec<_> = drawing.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["cloth", "jelly[0]", "jelly[1]"]);
    assert_eq!(drawing.bodies[2].in_scene, 1);
    for body in &drawing.bodies {
        let corners = drawing.triangles[body.triangles.clone()].as_flattened();
        assert!(corners.iter().all(|&corner| body.points.contains(&(corner as usize))));
    }
    assert_eq!(drawing.bodies[2].triangles.end, drawing.triangles.len());
}

#[test]
fn placing_again_takes_no_new_memory() {
    let (mut simulation, drawing) = start();
    let mut places = places(&simulation, &drawing);
    let (before, room) = (places.as_ptr(), places.capacity());
    simulation.step().unwrap();
    drawing.place(&simulation, &mut places);
    assert_eq!((places.as_ptr(), places.capacity()), (before, room));
}

#[test]
fn invisible_shapes_have_nothing_to_draw() {
    let text = SCENE.replace("geometry.", "visible = false\n    geometry.");
    let scene = Scene::parse("hidden", &text, Path::new("."), &[]).unwrap();
    let simulation = Simulation::new(&scene, BackendChoice::Serial).unwrap();
    let drawing = Drawing::of(&simulation);
    assert_eq!(drawing.shapes.len(), 2);
    for shape in &drawing.shapes {
        assert!(shape.mesh.triangles.is_empty() && !shape.is_plane, "{}", shape.name);
    }
    // They are there all the same.
    assert_eq!(simulation.model().shapes.len(), 2);
}

#[test]
fn shapes_stand_where_they_are_now() {
    let (mut simulation, drawing) = start();
    let [floor, stone] = &drawing.shapes[..] else { panic!("two shapes") };
    assert!(floor.is_plane && !floor.is_moving && !stone.is_plane && stone.is_moving);
    assert!((stone.mesh.bounds().unwrap().size().y - 1.0).abs() < 1e-5);
    for _ in 0..30 {
        simulation.step().unwrap();
    }
    let pose = drawing.poses(&simulation).nth(1).unwrap();
    assert!((pose.place[2] - 3.0).abs() < 1e-4, "{pose:?}");
    let eighth = (std::f32::consts::PI / 8.0).sin();
    assert!((pose.rotation[1] - eighth).abs() < 1e-4, "{pose:?}");
    // The stone is in the box, the floor is not.
    let bounds = drawing.bounds(&simulation);
    assert!((bounds.min.y + 9.5).abs() < 1e-4 && bounds.max.x < 10.0, "{bounds:?}");
}

#[test]
fn strain_is_that_of_the_worst_edge() {
    let (mut simulation, drawing) = start();
    let rest = values(&simulation, &drawing, Field::Strain);
    assert!(rest.iter().all(|&strain| strain < 1e-5), "{rest:?}");
    let stored = simulation.model().bodies[0].numbering.particle(17) as usize;
    simulation.state_mut().positions[stored][1] += 1.0;
    let pulled = values(&simulation, &drawing, Field::Strain);
    let most = pulled.iter().copied().fold(0.0, f32::max);
    assert!(pulled[17] > 1.0 && pulled[17].to_bits() == most.to_bits(), "{pulled:?}");
    assert!(pulled[0] < 1e-5);
}

#[test]
fn speed_and_contact_follow_the_fall() {
    let (mut simulation, drawing) = start();
    for _ in 0..8 {
        simulation.step().unwrap();
    }
    let speed = values(&simulation, &drawing, Field::Speed);
    assert!(speed.iter().all(|speed| (speed - 9.81 * 8.0 / 60.0).abs() < 1e-2), "{speed:?}");
    assert_eq!(values(&simulation, &drawing, Field::Contact).iter().sum::<f32>(), 0.0);
    for _ in 0..20 {
        simulation.step().unwrap();
    }
    let contact = values(&simulation, &drawing, Field::Contact);
    assert_eq!(contact[..35].iter().sum::<f32>(), 35.0);
    assert_eq!(contact[35..].iter().sum::<f32>(), 0.0);
}

#[test]
fn the_shape_at_rest_is_not_the_one_at_the_start() {
    let scene = |sets: &[&str]| {
        let sets: Vec<_> = sets.iter().map(|set| set.parse().unwrap()).collect();
        let scene = Scene::parse("test", SCENE, Path::new(""), &sets).unwrap();
        let simulation = Simulation::new(&scene, BackendChoice::Serial).unwrap();
        let drawing = Drawing::of(&simulation);
        (drawing.rest(&simulation), places(&simulation, &drawing))
    };
    let set = [
        "bodies.cloth.transform={}",
        "bodies.jelly.transform={}",
        "bodies.jelly.repeat.count=[1, 1, 1]",
    ];
    let (rest, start) = scene(&set);
    assert_eq!(rest, start);
    let pressed = "bodies.jelly.deform=[1, 0.2, 1]";
    let (still, pressed) = scene(&[&set[..], &[pressed]].concat());
    assert_eq!(still, rest);
    assert_ne!(pressed, rest);
}
