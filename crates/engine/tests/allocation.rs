//! Contracts: after a warm-up a step allocates nothing, on one thread and on several; a particle takes
//! at most 64 bytes and a stretch constraint at most 24.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]
#![allow(unsafe_code, reason = "a counting allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use taut::model::Model;
use taut::scene::Scene;
use taut::{BackendChoice, Simulation};

/// The system's allocator, counting.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);
/// Held by a test while it counts: others would be counted along with it.
static COUNTED: Mutex<()> = Mutex::new(());

// SAFETY: every call is handed to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        LIVE_BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_step_allocates_nothing() {
    let _counted = COUNTED.lock().unwrap();
    for (scene, sets) in [
        ("cloth-on-tube", &[][..]),
        ("cloth-on-tube", &["solver=phantom", "chebyshev=0.9"]),
        ("cloth-on-tube", &["partition.method=cluster", "substeps=3"]),
        ("tori-100", &["partition.method=cluster"]),
        ("flag", &[]),
        ("falling-cube", &[]),
        ("ribbon", &[]),
        ("balloon", &[]),
        ("spring-cloth", &[]),
    ] {
        let overrides: Vec<_> = sets.iter().map(|set| set.parse().unwrap()).collect();
        let scene_file = Scene::find(scene, &overrides).unwrap();
        for backend in [BackendChoice::Serial, BackendChoice::Cpu(1), BackendChoice::Cpu(3)] {
            let mut simulation = Simulation::new(&scene_file, backend.clone()).unwrap();
            for _ in 0..3 {
                simulation.step().unwrap();
            }
            // Threads that a small scene does not need may still be starting.
            std::thread::sleep(std::time::Duration::from_millis(100));
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            for _ in 0..10 {
                simulation.step().unwrap();
            }
            let made = ALLOCATIONS.load(Ordering::Relaxed) - before;
            assert_eq!(made, 0, "{scene} {sets:?} on {backend:?}");
        }
    }
}

/// Bytes that a piece of cloth takes beyond its scene, and how many particles, triangles and
/// constraints it has.
fn bytes_of_cloth(elements: &str) -> (usize, [usize; 3]) {
    let text = format!(
        "[[bodies]]\nname = \"cloth\"\n\
         mesh.grid = {{ particles = [200, 200], size = [1, 1] }}\n{elements}"
    );
    let scene = Scene::parse("memory", &text, Path::new("."), &[]).unwrap();
    let before = LIVE_BYTES.load(Ordering::Relaxed);
    let (model, state) = Model::build(&scene).unwrap();
    let bytes = LIVE_BYTES.load(Ordering::Relaxed) - before;
    let counts = [model.body_of.len(), model.triangles.len(), model.constraint_count()];
    drop(state);
    (bytes, counts)
}

#[test]
fn memory_is_spent_sparingly() {
    let _counted = COUNTED.lock().unwrap();
    // Threads that help to build a model start with the first one, and take memory of their own.
    bytes_of_cloth("elements.stretch = { stiffness = 0.9 }");
    std::thread::sleep(std::time::Duration::from_millis(100));
    let (bare, [particles, triangles, _]) = bytes_of_cloth("");
    let each = (bare - triangles * size_of::<[u32; 3]>()) as f64 / particles as f64;
    assert!((48.0..=64.0).contains(&each), "{each} bytes a particle");
    for softness in ["stiffness = 0.9", "compliance = 1e-6"] {
        let (whole, [.., edges]) = bytes_of_cloth(&format!("elements.stretch = {{ {softness} }}"));
        let each = (whole - bare) as f64 / edges as f64;
        // The schedule's lists of blocks take a little besides, less the more constraints there are.
        assert!((16.0..24.1).contains(&each), "{each} bytes a stretch constraint with {softness}");
    }
}
