//! Contract: what docs/viewer-protocol.md says about a viewer that follows it. No test measures time:
//! each waits for what must come, and fails if it does not.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod common;

use common::{Frame, Heard, Numbers, Page, Setup, distance, paused};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_is_told_everything_in_order() {
    let server = Setup { scene: "cloth-on-tube", sets: &[], ..Setup::default() }.start();
    let mut page = Page::open(&server).await;
    let Heard::Text(hello) = page.hear().await else { panic!("hello is text") };
    assert_eq!((&hello["type"], &hello["version"]), (&json!("hello"), &json!(1)));
    let scenes = hello["scenes"].as_array().unwrap();
    assert!(scenes.iter().any(|scene| scene["name"] == "flag" && scene["title"] != ""));

    let Heard::Text(scene) = page.hear().await else { panic!("the scene is text") };
    assert_eq!((&scene["type"], &scene["name"]), (&json!("scene"), &json!("cloth-on-tube")));
    let points = scene["points"].as_u64().unwrap() as usize;
    assert_eq!(scene["settings"]["backend"], "serial");
    assert_eq!(scene["choices"]["solver"][0], "gauss-seidel");
    for kind in scene["kinds"].as_array().unwrap() {
        let sizes = kind["sizes"].as_array().unwrap();
        let elements: u64 = sizes.iter().map(|size| size.as_u64().unwrap()).sum();
        assert_eq!(
            (sizes.len() as u64, elements),
            (kind["phases"].as_u64().unwrap(), kind["elements"].as_u64().unwrap())
        );
    }

    let Heard::Binary(topology) = page.hear().await else { panic!("the topology is binary") };
    let mut numbers = Numbers::new(&topology);
    assert_eq!(numbers.take(), [1, 1, 0, 0]);
    assert_eq!(u64::from(numbers.u32()), scene["generation"].as_u64().unwrap());
    let [told, triangles, vertices, shape_triangles] = [(); 4].map(|()| numbers.u32());
    assert_eq!(told as usize, points);
    assert!((0..3 * triangles).all(|_| numbers.u32() < told));
    assert!((0..3 * vertices).all(|_| numbers.f32().is_finite()));
    assert!((0..3 * shape_triangles).all(|_| numbers.u32() < vertices));
    assert!(numbers.is_over() && triangles > 0 && shape_triangles > 0);

    let first = page.frame().await;
    assert_eq!(first.places.len(), points);
    assert_eq!(first.poses.len(), scene["shapes"].as_array().unwrap().len());
    let later = page.frame_where(|frame| frame.step > first.step).await;
    assert!(later.number > first.number && later.time > first.time);
    assert_ne!(later.places, first.places);
    let stats = page.stats(|stats| stats["ms_per_step"].as_f64().unwrap() > 0.0).await;
    assert!(stats["frame_bytes"].as_u64().unwrap() >= 56 + 12 * points as u64);
    assert!(stats["residual"]["stretch"]["rms"].is_number());
}

#[tokio::test(flavor = "multi_thread")]
async fn pause_step_resume_and_reset() {
    let server = paused();
    let mut page = Page::open(&server).await;
    let start = page.frame().await;
    assert_eq!(start.step, 0);
    for step in 1..4 {
        page.say(json!({"type": "step"})).await;
        assert_eq!(page.frame().await.step, step);
    }
    page.say(json!({"type": "resume"})).await;
    page.frame_where(|frame| frame.step > 10).await;
    page.say(json!({"type": "pause"})).await;
    let stats = page.stats(|stats| stats["running"] == false).await;
    page.say(json!({"type": "step"})).await;
    let next =
        page.frame_where(|frame| u64::from(frame.step) > stats["step"].as_u64().unwrap()).await;
    assert_eq!(u64::from(next.step), stats["step"].as_u64().unwrap() + 1);
    page.say(json!({"type": "reset"})).await;
    let again = page.frame_where(|frame| frame.step == 0).await;
    assert_eq!((again.places, again.time), (start.places, 0.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn speed_is_simulated_time_per_time() {
    let server = Setup::default().start();
    let mut page = Page::open(&server).await;
    page.say(json!({"type": "speed", "speed": 0})).await;
    let fast = page.stats(|stats| stats["speed"] == 0.0).await;
    page.say(json!({"type": "speed", "speed": 0.01})).await;
    let slow = page.stats(|stats| stats["speed"] == 0.01 && stats["rate"].as_f64().unwrap() < 0.3);
    assert_eq!(slow.await["running"], fast["running"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grabbed_particle_comes_along_and_a_pin_outlives_its_viewer() {
    let server = Setup::default().start();
    let mut page = Page::open(&server).await;
    let start = page.frame().await;
    let (particle, mut target) = (70, start.places[70]);
    target[1] += 0.2;
    page.say(json!({"type": "grab", "particle": particle, "target": target})).await;
    page.frame_where(|frame| distance(frame.places[70], target) < 0.05).await;
    page.say(json!({"type": "release", "particle": particle})).await;
    page.frame_where(|frame| distance(frame.places[70], target) > 0.1).await;

    page.say(json!({"type": "pin", "particle": particle, "target": target})).await;
    loop {
        let scene = page.text("scene").await;
        if let [grab] = &scene["grabs"].as_array().unwrap()[..] {
            assert_eq!((&grab["particle"], &grab["pinned"]), (&json!(particle), &json!(true)));
            break;
        }
    }
    page.say(json!({"type": "grab", "particle": 3, "target": [0, 2, 0]})).await;
    page.frame_where(|frame| distance(frame.places[70], target) < 0.01).await;
    drop(page);

    let mut other = Page::open(&server).await;
    loop {
        // The hand of the other viewer opens when it goes; the pin stays.
        let scene = other.text("scene").await;
        let grabs = scene["grabs"].as_array().unwrap().clone();
        assert!(grabs.iter().any(|grab| grab["particle"] == particle));
        if grabs.len() == 1 {
            break;
        }
        other.say(json!({"type": "pin", "particle": particle, "target": target})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_solver_keeps_the_state() {
    let server = paused();
    let mut page = Page::open(&server).await;
    for _ in 0..5 {
        page.say(json!({"type": "step"})).await;
    }
    let before = page.frame_where(|frame| frame.step == 5).await;
    page.say(json!({"type": "set", "overrides": ["solver=phantom", "partition.colors=4"]})).await;
    let scene = page.text("scene").await;
    assert_eq!(scene["settings"]["solver"], "phantom");
    assert_eq!(scene["settings"]["colors"], 4);
    assert!(scene["kinds"].as_array().unwrap().iter().any(|kind| kind["copies"] != 0));
    let after = page.frame().await;
    assert_eq!((after.step, after.generation), (5, before.generation));
    assert_eq!(after.places, before.places);
    // The same key again takes the place of the former value; what is wrong changes nothing.
    page.say(json!({"type": "set", "overrides": ["solver=jacobi"]})).await;
    let scene = page.text("scene").await;
    let solver: Vec<_> = scene["overrides"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|value| value.as_str().unwrap().starts_with("solver"))
        .collect();
    assert_eq!(solver, ["solver=jacobi"]);
    page.say(json!({"type": "set", "overrides": ["solver=magic"]})).await;
    let error = page.text("error").await;
    assert_eq!(error["about"], "set");
    assert!(error["message"].as_str().unwrap().contains("solver"), "{error}");
    assert_eq!(page.text("scene").await["settings"]["solver"], "jacobi");
    page.say(json!({"type": "backend", "backend": "cpu", "threads": 2})).await;
    assert_eq!(page.text("scene").await["settings"]["threads"], 2);
    page.say(json!({"type": "step"})).await;
    page.frame_where(|frame| frame.step == 6).await;
}

/// Needs a driver; the software one of mesa-vulkan-drivers will do.
#[cfg(feature = "gpu")]
#[tokio::test(flavor = "multi_thread")]
async fn frames_of_a_graphics_device_are_those_of_their_steps() {
    let server = paused();
    let mut page = Page::open(&server).await;
    let start = page.frame().await;
    page.say(json!({"type": "backend", "backend": "gpu", "threads": 0})).await;
    assert_eq!(page.text("scene").await["settings"]["backend"], "gpu");
    page.say(json!({"type": "step"})).await;
    let first = page.frame_where(|frame| frame.step == 1).await;
    assert_ne!(first.places, start.places);
    page.say(json!({"type": "resume"})).await;
    for _ in 0..5 {
        let frame = page.frame().await;
        let time = frame.step as f32 * first.time as f32;
        assert!((frame.time as f32 - time).abs() < 1e-3, "step {}: {}", frame.step, frame.time);
    }
    page.say(json!({"type": "pause"})).await;
    page.say(json!({"type": "reset"})).await;
    let again = page.frame_where(|frame| frame.step == 0).await;
    assert_eq!(again.places, start.places);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_scenes_and_dropped_files() {
    let server = paused();
    let mut page = Page::open(&server).await;
    let first = page.frame().await;
    page.say(json!({"type": "scene", "name": "falling-cube"})).await;
    let scene = page.text("scene").await;
    let scene = if scene["name"] == "falling-cube" { scene } else { page.text("scene").await };
    assert!(scene["generation"].as_u64().unwrap() > u64::from(first.generation));
    let frame = page.frame_where(|frame| frame.generation != first.generation).await;
    assert_eq!(frame.places.len() as u64, scene["points"].as_u64().unwrap());

    let mesh = "v 0 1 0\nv 1 1 0\nv 0 1 1\nv 1 1 1\nf 1 3 2\nf 2 3 4\n";
    page.say(json!({"type": "load", "name": "sheet.obj", "text": mesh})).await;
    let scene = page.text("scene").await;
    assert_eq!((&scene["name"], &scene["particles"]), (&json!("sheet"), &json!(4)));
    let text =
        "[[bodies]]\nname=\"a\"\nmesh.file={path=\"m.obj\"}\nelements.stretch={stiffness=1}\n";
    page.say(json!({"type": "load", "name": "a.toml", "text": text})).await;
    let error = page.text("error").await;
    assert!(error["message"].as_str().unwrap().contains("did not come with the scene"), "{error}");
    page.say(json!({"type": "load", "name": "a.toml", "text": text, "files": {"m.obj": mesh}}))
        .await;
    assert_eq!(page.text("scene").await["name"], "a");
    page.say(json!({"type": "scene", "name": "no-such-scene"})).await;
    assert_eq!(page.text("error").await["about"], "scene");
}

#[tokio::test(flavor = "multi_thread")]
async fn elements_and_fields_when_they_are_asked_for() {
    let server = paused();
    let mut page = Page::open(&server).await;
    let scene = page.text("scene").await;
    let generation = scene["generation"].as_u64().unwrap();
    for (index, kind) in scene["kinds"].as_array().unwrap().iter().enumerate() {
        page.say(json!({"type": "elements", "generation": generation, "kind": index})).await;
        let bytes = page.binary(2).await;
        let mut numbers = Numbers::new(&bytes);
        assert_eq!(numbers.take(), [2, 1, 0, 0]);
        let [told, own, elements, arity] = [(); 4].map(|()| numbers.u32());
        assert_eq!((u64::from(told), own as usize), (generation, index));
        assert_eq!((&json!(elements), &json!(arity)), (&kind["elements"], &kind["arity"]));
        assert!((0..arity * elements).all(|_| numbers.u32() < 144));
        let phases = kind["phases"].as_u64().unwrap();
        assert!((0..elements).all(|_| u64::from(numbers.u32()) < phases));
        let blocks = kind["blocks"].as_u64().unwrap();
        assert!((0..elements).all(|_| u64::from(numbers.u32()) < blocks));
        assert!((0..elements).all(|_| numbers.u32() < elements));
        assert!(numbers.is_over());
    }
    page.say(json!({"type": "want", "field": "speed", "precision": "u16"})).await;
    let still = page.frame_where(|frame| frame.field == 2).await;
    assert_eq!((still.precision, still.values.iter().max()), (1, Some(&0)));
    for _ in 0..5 {
        page.say(json!({"type": "step"})).await;
    }
    let falling = page.frame_where(|frame| frame.step == 5).await;
    // The scale stays as it is. After five steps the fastest particle is about as fast as in a free fall;
    // constraints make some faster.
    assert_eq!(falling.full, still.full);
    let dt = scene["settings"]["dt"].as_f64().unwrap() as f32;
    let fastest = f32::from(*falling.values.iter().max().unwrap()) / 255.0 * falling.full;
    let fallen = 5.0 * 9.81 * dt;
    assert!(fastest > 0.7 * fallen && fastest < 1.5 * fallen, "{fastest} of {fallen} m/s");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_never_acknowledges_gets_two_frames_and_slows_nobody() {
    let server = Setup::default().start();
    let mut silent = Page::open(&server).await;
    let (mut frames, mut stats) = (0, 0);
    let mut other = Page::open(&server).await;
    let start = other.frame().await;
    // The simulation goes on and the other viewer sees it, whatever the silent one does.
    let later = other.frame_where(|frame| frame.step > start.step + 60).await;
    assert!(later.number > start.number + 5);
    while stats < 3 {
        match silent.hear().await {
            Heard::Binary(bytes) if bytes[0] == 3 => frames += 1,
            Heard::Text(text) if text["type"] == "stats" => stats += 1,
            Heard::Closed(frame) => panic!("closed: {frame:?}"),
            _ => {}
        }
    }
    assert_eq!(frames, 2);
    // One acknowledgement, one more frame: the newest.
    let newest = other.frame().await;
    silent.say(json!({"type": "ack", "frame": newest.number})).await;
    let frame = Frame::read(&silent.binary(3).await);
    assert!(frame.number >= later.number, "{} {}", frame.number, later.number);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_viewers_see_the_same_and_go_as_they_like() {
    let server = paused();
    let mut pages = Vec::new();
    for _ in 0..5 {
        pages.push(Page::open(&server).await);
    }
    pages[0].say(json!({"type": "step"})).await;
    let mut seen = Vec::new();
    for page in &mut pages {
        seen.push(page.frame_where(|frame| frame.step == 1).await.places);
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
    pages.truncate(2);
    pages[1].stats(|stats| stats["viewers"] == 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_explodes_is_paused_and_can_be_reset() {
    let sets = ["bodies.0.mesh.grid.particles=[12, 12]", "bodies.0.velocity=[1e30, 0, 0]"];
    let server = Setup { sets: &sets, is_paused: true, ..Setup::default() }.start();
    let mut page = Page::open(&server).await;
    page.say(json!({"type": "resume"})).await;
    page.say(json!({"type": "speed", "speed": 0})).await;
    let error = page.text("error").await;
    assert_eq!(error["about"], "simulation", "{error}");
    page.stats(|stats| stats["running"] == false).await;
    page.say(json!({"type": "resume"})).await;
    assert_eq!(page.text("error").await["about"], "resume");
    page.say(json!({"type": "reset"})).await;
    page.frame_where(|frame| frame.step == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_starts_again_is_found_again() {
    let first = paused();
    let port = first.address().port();
    let mut page = Page::open(&first).await;
    page.text("hello").await;
    drop(first);
    while !matches!(page.hear().await, Heard::Closed(_)) {}
    let second = Setup { port: Some(port), is_paused: true, ..Setup::default() }.start();
    let mut page = Page::open(&second).await;
    page.text("hello").await;
    assert_eq!(page.frame().await.step, 0);
}
