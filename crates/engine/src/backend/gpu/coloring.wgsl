// Coloring of elements that share bodies (paper A's future work; after Jones & Plassmann 1993, 'A
// parallel graph coloring heuristic'): in every round, each element that has no color yet bids for all
// its bodies with a number of its own, and those that win all their bodies take the lowest color that
// none of them has. Nothing depends on who is first.

struct Problem {
    elements: u32,
    arity: u32,
}

struct Progress {
    /// Elements without a color after this round.
    left: atomic<u32>,
    /// Elements that found no color among the first 128.
    failed: atomic<u32>,
}

const NO_COLOR = 0xffffffffu;
/// Stands in place of bodies that elements may share.
const NOBODY = 0xffffffffu;

@group(1) @binding(0) var<uniform> problem: Problem;
@group(1) @binding(1) var<storage, read> bodies: array<u32>;
/// The highest bid for each body, by an element that has no color.
@group(1) @binding(2) var<storage, read_write> bids: array<atomic<u32>>;
/// The colors that each body has: 128 bits.
@group(1) @binding(3) var<storage, read_write> used: array<vec4u>;
@group(1) @binding(4) var<storage, read_write> colors: array<u32>;
@group(1) @binding(5) var<storage, read_write> progress: Progress;
/// Workgroups of the next round: none when all elements have a color.
@group(1) @binding(6) var<storage, read_write> round_size: vec4u;

/// Different for all elements, since an odd factor can be undone; and not 0.
fn bid_of(element: u32) -> u32 {
    return (element + 1u) * 2654435769u;
}

@compute @workgroup_size(64)
fn bid(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let element = id.x + id.y * groups.x * 64u;
    if (element >= problem.elements || colors[element] != NO_COLOR) {
        return;
    }
    for (var corner = 0u; corner < problem.arity; corner++) {
        let body = bodies[element * problem.arity + corner];
        if (body != NOBODY) {
            atomicMax(&bids[body], bid_of(element));
        }
    }
}

@compute @workgroup_size(64)
fn take(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let element = id.x + id.y * groups.x * 64u;
    if (element >= problem.elements || colors[element] != NO_COLOR) {
        return;
    }
    var taken = vec4u();
    for (var corner = 0u; corner < problem.arity; corner++) {
        let body = bodies[element * problem.arity + corner];
        if (body != NOBODY) {
            if (atomicLoad(&bids[body]) != bid_of(element)) {
                atomicAdd(&progress.left, 1u);
                return;
            }
            taken |= used[body];
        }
    }
    let color = lowest_free(taken);
    if (color == 128u) {
        atomicAdd(&progress.failed, 1u);
        return;
    }
    colors[element] = color;
    for (var corner = 0u; corner < problem.arity; corner++) {
        let body = bodies[element * problem.arity + corner];
        if (body != NOBODY) {
            // The body is this element's alone in this round. Who reads the bid at the same time has
            // lost the body either way.
            used[body][color / 32u] |= 1u << (color % 32u);
            atomicStore(&bids[body], 0u);
        }
    }
}

fn lowest_free(taken: vec4u) -> u32 {
    for (var word = 0u; word < 4u; word++) {
        if (taken[word] != 0xffffffffu) {
            return 32u * word + firstTrailingBit(~taken[word]);
        }
    }
    return 128u;
}

@compute @workgroup_size(1)
fn end_round() {
    if (atomicLoad(&progress.left) == 0u) {
        round_size = vec4u();
    }
    atomicStore(&progress.left, 0u);
}
