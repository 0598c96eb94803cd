//! Memory bandwidth of this machine: the triad of STREAM (McCalpin 1995), a ← b + s c over arrays
//! that no cache holds.

use std::hint::black_box;
use std::time::Instant;

/// Numbers of an array: 64 MB each.
const LENGTH: usize = 16 << 20;
/// Runs, of which the best counts: whatever else the machine does only slows one down.
const RUNS: usize = 7;

/// Gigabytes a second with this many threads: two arrays read, one written.
pub(super) fn gigabytes_per_second(threads: usize) -> f64 {
    let (b, c) = (vec![1.0_f32; LENGTH], vec![2.0_f32; LENGTH]);
    let mut a = vec![0.0_f32; LENGTH];
    let chunk = LENGTH.div_ceil(threads.max(1));
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for ((a, b), c) in a.chunks_mut(chunk).zip(b.chunks(chunk)).zip(c.chunks(chunk)) {
                scope.spawn(move || triad(a, b, c));
            }
        });
        black_box(&mut a);
        best = best.min(start.elapsed().as_secs_f64());
    }
    (3 * LENGTH * size_of::<f32>()) as f64 / best / 1e9
}

fn triad(a: &mut [f32], b: &[f32], c: &[f32]) {
    let factor = black_box(3.0);
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = b + factor * c;
    }
}
