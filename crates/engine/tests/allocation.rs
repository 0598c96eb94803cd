//! Contract: after a warm-up a step allocates nothing, on one thread and on several.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]
#![allow(unsafe_code, reason = "a counting allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use taut::scene::Scene;
use taut::{BackendChoice, Simulation};

/// The system's allocator, counting.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test, because others would be counted along with it.
#[test]
fn a_step_allocates_nothing() {
    for (scene, sets) in [
        ("cloth-on-tube", &[][..]),
        ("cloth-on-tube", &["solver=phantom", "chebyshev=0.9"]),
        ("cloth-on-tube", &["partition.method=cluster", "substeps=3"]),
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
