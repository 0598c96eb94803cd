// What kernels notice during a step (`solver/run.rs`).

struct Findings {
    contacts: atomic<u32>,
    touching: atomic<u32>,
    dropped: atomic<u32>,
    out_of_bounds: atomic<u32>,
}
