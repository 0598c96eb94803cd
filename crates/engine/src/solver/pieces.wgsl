// The twin of `pieces` in `sweep.rs`: a workgroup takes the piece that is its block through all sweeps of the
// substep, with contacts after each. Its particles are brought to workgroup memory once.

/// Where the ids of the block's particles begin.
var<private> first_ids: u32;

fn particle_at(place: u32) -> vec4f {
    return here[place];
}

fn move_particle(place: u32, particle: vec4f) {
    here[place] = particle;
}

fn id_of(place: u32) -> u32 {
    return particle_fours[first_ids + place / 4u][place % 4u];
}

@compute @workgroup_size(BLOCK_WIDTH)
fn sweep_pieces(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    begin_sweep();
    begin_more();
    look_at_shapes();
    let own = group.x + group.y * groups.x;
    // As in `sweep_blocks`, some workgroups have nothing to do.
    let block = 4u * (parameters.first + min(own, parameters.count - 1u));
    let first_four = blocks[block];
    let count = select(0u, blocks[block + 1u], own < parameters.count);
    first_ids = first_four;
    take_in(first_four, count, lane);
    var contacts = 0u;
    for (var iteration = 0u; iteration < parameters.iterations; iteration++) {
        is_first = iteration == 0u;
        solve_batches(own, lane);
        solve_more_batches(own, lane);
        contacts = touch_shapes(lane, BLOCK_WIDTH, count);
        workgroupBarrier();
    }
    take_out(first_four, count, lane);
    report_contacts(contacts);
}
