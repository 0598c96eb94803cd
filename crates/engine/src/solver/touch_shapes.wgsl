// Contacts of the particles of a block that are `here`: what `contact.wgsl` does to all particles.

/// What is read once for all particles and all sweeps.
var<private> known_shapes: array<Shape, SHAPES>;
var<private> first_thickness: f32;
/// Where the ids of the particles begin in `particle_fours`.
var<private> first_ids: u32;

fn look_at_shapes(first_four: u32) {
    first_ids = first_four;
    first_thickness = bodies[0].thickness;
    for (var index = 0u; index < SHAPES; index++) {
        known_shapes[index] = shapes[substep.first_shape + index];
    }
}

fn id_of(place: u32) -> u32 {
    return particle_fours[first_ids + place / 4u][place % 4u];
}

fn previous_place(own: u32) -> vec3f {
    return previous[id_of(own)].xyz;
}

/// Moves the particles out of the shapes; returns how many of an invocation's were inside one.
fn touch_shapes(count: u32, lane: u32) -> u32 {
    var contacts = 0u;
    for (var first = 0u; first < count; first += BLOCK_WIDTH) {
        let own = min(first + lane, count - 1u);
        let particle = here[own];
        var thickness = first_thickness;
        if (!ONE_THICKNESS) {
            thickness = thickness_of(id_of(own));
        }
        var place = particle.xyz;
        var deepest = 0.0;
        for (var index = 0u; index < SHAPES; index++) {
            deepest = max(deepest, resolve(known_shapes[index], own, &place, thickness));
        }
        if (particle.w != 0.0 && deepest > 0.0 && first + lane == own) {
            here[own] = vec4f(place, particle.w);
            contacts++;
        }
    }
    return contacts;
}

fn report_contacts(contacts: u32) {
    if (substep.is_last != 0u && contacts > 0u) {
        atomicAdd(&findings.contacts, contacts);
    }
}
