// The twin of `project.rs`: from C and ∇C to moved particles, wherever `sweep.wgsl` has them.

/// What a dispatch is about.
struct Sweep {
    /// The first element (`sweep_phase`, `sweep_split`) or block (`sweep_blocks`, `sweep_pieces`), and how
    /// many.
    first: u32,
    count: u32,
    /// Elements of the group: as long are the lists of multipliers.
    elements: u32,
    first_multiplier: u32,
    relaxation: f32,
    /// Whether this is the first sweep of the substep.
    is_first: u32,
    /// The first copy of all.
    first_copy: u32,
    /// How many sweeps (`sweep_pieces`).
    iterations: u32,
    /// Stiffness or compliance of each row, if all elements share them.
    softness: vec4f,
}

// Binding 2 is `elements`. In `sweep_blocks` their ids are places in the block's list of particles,
// several in a word.
@group(1) @binding(4) var<uniform> parameters: Sweep;
/// A copy of the parameters. Some drivers read what all invocations read alike once only where all of them
/// certainly are: outside of loops and branches.
var<private> sweep: Sweep;
/// `sweep_split`: how many times as much inverse mass each copy has, as bits. `sweep_blocks`: four numbers
/// a block (where its particles and its batches begin, and how many there are), then where batches begin.
@group(1) @binding(6) var<storage, read> blocks: array<u32>;

fn begin_sweep() {
    sweep = parameters;
    is_first = sweep.is_first != 0u;
}

fn soft_element_at(place: u32) -> Element {
    var element = element_at(place);
    if (SOFTNESSES == 0u) {
        for (var row = 0u; row < M; row++) {
            element.softness[row] = sweep.softness[row];
        }
    }
    return element;
}

/// Solves an element whose particles are where they are.
fn solve_element(place: u32) {
    var element = soft_element_at(place);
    var x: Corners;
    var w: array<f32, N>;
    for (var corner = 0u; corner < N; corner++) {
        let particle = positions[first_id + element.ids[corner]];
        x[corner] = particle.xyz;
        w[corner] = particle.w;
    }
    solve(place, element, &x, &w);
    for (var corner = 0u; corner < N; corner++) {
        if (w[corner] != 0.0) {
            positions[first_id + element.ids[corner]] = vec4f(x[corner], w[corner]);
        }
    }
}

/// Solves the batches of the workgroup's block, if it has one, whose particles are `here`.
fn solve_batches(own: u32, lane: u32) {
    let block = 4u * (parameters.first + min(own, parameters.count - 1u));
    let first_batch = blocks[block + 2u];
    let batch_count = select(0u, blocks[block + 3u], own < parameters.count);
    var start = blocks[first_batch];
    for (var batch = first_batch; batch < first_batch + batch_count; batch++) {
        let end = blocks[batch + 1u];
        for (var place = start + lane; place < end; place += BLOCK_WIDTH) {
            solve_here(place);
        }
        start = end;
        workgroupBarrier();
    }
}

/// Solves the elements of a block one after another, whose particles are where they are.
fn solve_in_turn(own: u32) {
    let block = 4u * (sweep.first + own);
    let first_batch = blocks[block + 2u];
    let end = blocks[first_batch + blocks[block + 3u]];
    for (var place = blocks[first_batch]; place < end; place++) {
        solve_element(place);
    }
}

fn solve_here(place: u32) {
    var element = soft_element_at(place);
    var x: Corners;
    var w: array<f32, N>;
    for (var corner = 0u; corner < N; corner++) {
        let particle = here[element.ids[corner]];
        x[corner] = particle.xyz;
        w[corner] = particle.w;
    }
    solve(place, element, &x, &w);
    for (var corner = 0u; corner < N; corner++) {
        if (w[corner] != 0.0) {
            here[element.ids[corner]] = vec4f(x[corner], w[corner]);
        }
    }
}
