// The twin of `force.rs`: elements as springs that push on velocities, phase after phase.

/// What a dispatch is about.
struct Push {
    /// The first element (`push_phase`) or block (`push_blocks`), and how many.
    first: u32,
    count: u32,
}

@group(1) @binding(0) var<storage, read> positions: array<vec4f>;
@group(1) @binding(1) var<storage, read_write> velocities: array<vec4f>;
// Binding 2 is `elements`.
@group(1) @binding(4) var<uniform> springs: Push;
/// As in `project.wgsl`.
@group(1) @binding(5) var<storage, read> blocks: array<u32>;

@compute @workgroup_size(64)
fn push_phase(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let own = flat_id(id, groups);
    if (own >= springs.count) {
        return;
    }
    push(springs.first + own);
}

/// A block per workgroup: `sweep_large_blocks` for springs.
@compute @workgroup_size(64)
fn push_blocks(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let own = group.x + group.y * groups.x;
    let block = 4u * (springs.first + min(own, springs.count - 1u));
    let first_batch = blocks[block + 2u];
    let batch_count = select(0u, blocks[block + 3u], own < springs.count);
    for (var batch = first_batch; batch < first_batch + batch_count; batch++) {
        let end = blocks[batch + 1u];
        for (var place = blocks[batch] + lane; place < end; place += 64u) {
            push(place);
        }
        storageBarrier();
    }
}

fn push(place: u32) {
    var element = element_at(place);
    var x: Corners;
    var v: Corners;
    var w: array<f32, N>;
    for (var corner = 0u; corner < N; corner++) {
        let particle = element.ids[corner];
        x[corner] = positions[particle].xyz;
        w[corner] = positions[particle].w;
        v[corner] = velocities[particle].xyz;
    }
    accelerate(element, &x, &w, &v);
    for (var corner = 0u; corner < N; corner++) {
        if (w[corner] != 0.0) {
            velocities[element.ids[corner]] = vec4f(v[corner], 0.0);
        }
    }
}

/// v ← v + h w f.
fn accelerate(
    element: Element,
    x: ptr<function, Corners>,
    w: ptr<function, array<f32, N>>,
    v: ptr<function, Corners>,
) {
    var constants = element.constants;
    var stiffness = element.softness;
    let rows = evaluate(x, &constants);
    var impulses: array<f32, M>;
    for (var row = 0u; row < M; row++) {
        var rate = 0.0;
        for (var corner = 0u; corner < N; corner++) {
            rate = rate + dot(rows[row].gradients[corner], (*v)[corner]);
        }
        impulses[row] = -((stiffness[row] * rows[row].value + element.damping * rate) * substep.step);
    }
    for (var row = 0u; row < M; row++) {
        for (var corner = 0u; corner < N; corner++) {
            (*v)[corner] += rows[row].gradients[corner] * ((*w)[corner] * impulses[row]);
        }
    }
}
