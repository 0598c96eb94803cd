// The twin of `pieces` in `sweep.rs`: a workgroup takes the piece that is its block through all sweeps of the
// substep, with contacts after each. Its particles are brought to workgroup memory once.

@compute @workgroup_size(BLOCK_WIDTH)
fn sweep_pieces(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let own = group.x + group.y * groups.x;
    // As in `sweep_blocks`, some workgroups have nothing to do.
    let block = 4u * (sweep.first + min(own, sweep.count - 1u));
    let first_four = blocks[block];
    let count = select(0u, blocks[block + 1u], own < sweep.count);
    look_at_shapes(first_four);
    take_in(first_four, count, lane);
    var contacts = 0u;
    for (var iteration = 0u; iteration < sweep.iterations; iteration++) {
        is_first = iteration == 0u;
        solve_batches(own, lane);
        solve_more_batches(own, lane);
        contacts = touch_shapes(count, lane);
        workgroupBarrier();
    }
    take_out(first_four, count, lane);
    report_contacts(contacts);
}
