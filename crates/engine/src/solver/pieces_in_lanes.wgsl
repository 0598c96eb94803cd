// The same as `pieces.wgsl`, with a piece per invocation: no invocation waits for another, and no particle is
// moved to and fro. This is for drivers that compute on the processor, which have few invocations at a time
// and whose barriers make all that is between them slow. The particles of a piece must follow each other.

fn particle_at(place: u32) -> vec4f {
    return positions[first_id + place];
}

fn move_particle(place: u32, particle: vec4f) {
    positions[first_id + place] = particle;
}

fn id_of(place: u32) -> u32 {
    return first_id + place;
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
    let own = BLOCK_WIDTH * (group.x + group.y * groups.x) + lane;
    if (own >= sweep.count) {
        return;
    }
    let block = 4u * (sweep.first + own);
    first_id = particle_fours[blocks[block]].x;
    let count = blocks[block + 1u];
    var contacts = 0u;
    for (var iteration = 0u; iteration < sweep.iterations; iteration++) {
        is_first = iteration == 0u;
        solve_in_turn(own);
        solve_more_in_turn(own);
        contacts = touch_shapes(0u, 1u, count);
    }
    report_contacts(contacts);
}
