// Contacts of the particles of a piece, after each of its sweeps: what `contact.wgsl` does to all particles.
// Kernels that follow define where its particles are: `particle_at`, `move_particle`, `id_of`.

/// What all particles have to do with, read before the first sweep.
var<private> known_shapes: array<Shape, SHAPES>;
var<private> first_thickness: f32;

fn look_at_shapes() {
    first_thickness = bodies[0].thickness;
    for (var index = 0u; index < SHAPES; index++) {
        known_shapes[index] = shapes[substep.first_shape + index];
    }
}

fn previous_place(own: u32) -> vec3f {
    return previous[id_of(own)].xyz;
}

fn thickness_at(own: u32) -> f32 {
    if (ONE_THICKNESS) {
        return first_thickness;
    }
    return thickness_of(id_of(own));
}

fn touches_some(place: vec3f, thickness: f32) -> bool {
    var touches = false;
    for (var index = 0u; index < SHAPES; index++) {
        touches = touches || is_deep(known_shapes[index], place, thickness);
    }
    return touches;
}

/// Moves particles out of the shapes, one in `stride` of them; returns how many were inside one.
///
/// Most are far from all shapes. They are passed over in a loop of their own, because that is all that a
/// driver skips which goes through both sides of every branch.
fn touch_shapes(first: u32, stride: u32, count: u32) -> u32 {
    var contacts = 0u;
    var own = first;
    loop {
        var particle: vec4f;
        for (; own < count; own += stride) {
            particle = particle_at(own);
            if (touches_some(particle.xyz, thickness_at(own))) {
                break;
            }
        }
        if (own >= count) {
            break;
        }
        if (particle.w != 0.0) {
            var place = particle.xyz;
            let thickness = thickness_at(own);
            for (var index = 0u; index < SHAPES; index++) {
                _ = resolve(known_shapes[index], own, &place, thickness);
            }
            move_particle(own, vec4f(place, particle.w));
            contacts++;
        }
        own += stride;
    }
    return contacts;
}

fn report_contacts(contacts: u32) {
    if (substep.is_last != 0u && contacts > 0u) {
        atomicAdd(&findings.contacts, contacts);
    }
}
