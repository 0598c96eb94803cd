// What sweeps move, and how the particles of a block come to workgroup memory and back. BLOCK_PARTICLES and
// BLOCK_WIDTH stand above.

@group(1) @binding(0) var<storage, read_write> positions: array<vec4f>;
@group(1) @binding(1) var<storage, read_write> multipliers: array<f32>;
/// The particles of blocks. Reading one number would cost as much as reading four.
@group(1) @binding(7) var<storage, read> particle_fours: array<vec4u>;

/// The particles of this workgroup's block.
var<workgroup> here: array<vec4f, BLOCK_PARTICLES>;

/// Whether this is the first sweep of the substep, when all multipliers are 0.
var<private> is_first: bool;

/// What the ids of elements are counted from, where particles stay in place.
var<private> first_id: u32;

/// Brings the particles of a block here.
fn take_in(first_four: u32, count: u32, lane: u32) {
    let fours = (count + 3u) / 4u;
    for (var four = lane; four < fours; four += BLOCK_WIDTH) {
        let ids = particle_fours[first_four + four];
        for (var place = 0u; place < 4u; place++) {
            here[4u * four + place] = positions[ids[place]];
        }
    }
    workgroupBarrier();
}

/// Brings them back.
fn take_out(first_four: u32, count: u32, lane: u32) {
    let fours = (count + 3u) / 4u;
    for (var four = lane; four < fours; four += BLOCK_WIDTH) {
        let ids = particle_fours[first_four + four];
        for (var place = 0u; place < 4u; place++) {
            let index = 4u * four + place;
            let moved = here[index];
            if (moved.w != 0.0 && index < count) {
                positions[ids[place]] = moved;
            }
        }
    }
}
