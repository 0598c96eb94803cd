//! Contract: from the second call on, a grid split allocates nothing as long as no number of
//! elements or bodies exceeds what was there before.

#[path = "common/pile.rs"]
mod pile;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use taut_partition::Elements;
use taut_partition::grid::{Batching, CellSize, GridOptions, GridSplit};

/// The system's allocator, counting.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

#[allow(unsafe_code, reason = "the trait of allocators is unsafe; this one only counts")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) };
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The threads of a pool allocate when they start and when they first take work from each other.
fn warm_up(pool: &rayon::ThreadPool, pile: &pile::Pile) {
    pool.broadcast(|_| ());
    let elements = Elements::uniform(&pile.contacts, pile.fixed.len()).expect("sound");
    let elements = elements.with_fixed(&pile.fixed).expect("one each");
    for _ in 0..20 {
        let mut other = GridSplit::default();
        pool.install(|| other.split(&elements, &pile.points, &pile.extents).map(|_| ()))
            .expect("true");
    }
}

/// All in one test: another test would allocate at the same time.
#[test]
fn later_calls_allocate_nothing() {
    // Steps with different contacts, the first with the most; one body is too large for a cell.
    let mut steps: Vec<_> = (0..5).map(|step| pile::pile(12, step)).collect();
    steps.sort_by_key(|step| std::cmp::Reverse(step.contacts.len()));
    for step in &mut steps {
        step.extents[0] = 100.0;
    }
    // All in one cell at first: more cells and batches later are no excuse either.
    steps[0].points.fill([0.0; 3]);
    for batching in [Batching::Exhaustive, Batching::Rounds(4)] {
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let cell = CellSize::Extents(1.0);
            let mut split = GridSplit::new(GridOptions { cell, batching, ..Default::default() });
            warm_up(&pool, &steps[0]);
            pool.install(|| {
                let mut run = |step: usize| {
                    let pile = &steps[step];
                    let elements = Elements::uniform(&pile.contacts, pile.fixed.len()).unwrap();
                    let elements = elements.with_fixed(&pile.fixed).unwrap();
                    let before = ALLOCATIONS.load(Relaxed);
                    split.split(&elements, &pile.points, &pile.extents).unwrap();
                    ALLOCATIONS.load(Relaxed) - before
                };
                assert!(run(0) > 0, "the counter does not count");
                let later: Vec<usize> = (0..steps.len()).map(&mut run).collect();
                assert_eq!(later, [0; 5], "{batching:?} on {threads} threads");
            });
        }
    }
}
