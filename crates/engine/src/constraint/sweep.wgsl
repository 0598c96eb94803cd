// Four ways through a schedule:
// - `sweep_phase`: a dispatch per phase whose blocks have one batch each, an element per invocation;
// - `sweep_split`: the same for phantoms. The first element that meets a copy takes its place from the
//   particle, which nobody moves before copies are merged, so that particles need not be split first;
// - `sweep_blocks`: a dispatch per phase, a block per workgroup. The block's particles are loaded into
//   workgroup memory once; its batches follow each other with a barrier between them, and after them
//   those of another group that has the same blocks;
// - `sweep_large_blocks`: the same for blocks with more particles than fit there.

/// Marks the first use of a copy in a sweep.
const FIRST_USE = 0x80000000u;

/// `sweep_split`: the particle that each copy stands for.
@group(1) @binding(5) var<storage, read> particles: array<u32>;

@compute @workgroup_size(64)
fn sweep_phase(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    begin_sweep();
    let own = flat_id(id, groups);
    if (own >= sweep.count) {
        return;
    }
    solve_element(sweep.first + own);
}

@compute @workgroup_size(64)
fn sweep_split(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    begin_sweep();
    let own = flat_id(id, groups);
    if (own >= sweep.count) {
        return;
    }
    let place = sweep.first + own;
    var element = soft_element_at(place);
    var x: Corners;
    var w: array<f32, N>;
    for (var corner = 0u; corner < N; corner++) {
        let marked = element.ids[corner];
        if ((marked & FIRST_USE) != 0u) {
            let copy = (marked & ~FIRST_USE) - sweep.first_copy;
            let particle = positions[particles[copy]];
            x[corner] = particle.xyz;
            w[corner] = particle.w * bitcast<f32>(blocks[copy]);
        } else {
            let particle = positions[marked];
            x[corner] = particle.xyz;
            w[corner] = particle.w;
        }
    }
    solve(place, element, &x, &w);
    for (var corner = 0u; corner < N; corner++) {
        if (w[corner] != 0.0) {
            positions[element.ids[corner] & ~FIRST_USE] = vec4f(x[corner], w[corner]);
        }
    }
}

@compute @workgroup_size(BLOCK_WIDTH)
fn sweep_blocks(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    begin_sweep();
    let own = group.x + group.y * groups.x;
    // Workgroups beyond the last block go through the motions with nothing to do: barriers must be
    // reached by all.
    let block = 4u * (parameters.first + min(own, parameters.count - 1u));
    let first_four = blocks[block];
    let count = select(0u, blocks[block + 1u], own < parameters.count);
    begin_more();
    take_in(first_four, count, lane);
    solve_batches(own, lane);
    solve_more_batches(own, lane);
    take_out(first_four, count, lane);
}

/// Blocks of a phase share no particle that is written, so a barrier of the workgroup is enough here too.
@compute @workgroup_size(BLOCK_WIDTH)
fn sweep_large_blocks(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    begin_sweep();
    let own = group.x + group.y * groups.x;
    let block = 4u * (parameters.first + min(own, parameters.count - 1u));
    let first_batch = blocks[block + 2u];
    let batch_count = select(0u, blocks[block + 3u], own < parameters.count);
    for (var batch = first_batch; batch < first_batch + batch_count; batch++) {
        let end = blocks[batch + 1u];
        for (var place = blocks[batch] + lane; place < end; place += BLOCK_WIDTH) {
            solve_element(place);
        }
        storageBarrier();
    }
}
