//! Which particles can touch each other.

use glam::Vec3;

use super::{Body, Patches};
use crate::mesh::Mesh;
use crate::scene::Scene;
use crate::scene::file::BodyKind;
use crate::state::{ContactSizes, ContactState};

/// How much farther than a diameter partners are looked for: they come closer while constraints
/// are solved.
const REACH: f32 = 1.5;

/// How far, in diameters, the way of a particle may be from the middle of all ways before partners are
/// looked for again. Two that come towards each other use up twice as much of the margin; the rest is
/// for the sweeps of a substep.
const STALE: f32 = 0.2;

/// Particles of a body that are closer than so many diameters in its rest shape never touch.
const REST_DIAMETERS: f32 = 1.5;

/// Diameters in a second at which particles that overlap are pushed apart.
const PUSH_RATE: f32 = 100.0;

/// Most chunks in which a device measures members, and fewest members of a chunk.
const MOST_CHUNKS: usize = 64;
const CHUNK: usize = 1024;

/// Fewest cells of a device's grid.
const FEWEST_CELLS: usize = 256;

/// Contacts between particles: who takes part, and how.
#[derive(Clone, Debug)]
pub struct ParticleContacts {
    /// The particles that take part, ascending: those of cloth, and the surfaces of soft bodies.
    pub members: Vec<u32>,
    /// For every particle its place in the rest shape, in units of the distance below which two
    /// particles of a body do not touch, and the number of its body. So two particles cannot touch
    /// if they are closer than 1 in these four dimensions. A body that does not collide with itself
    /// has all its particles in one place here.
    pub rest: Vec<[f32; 4]>,
    /// The members again, in patches.
    pub patches: Patches,
    /// The surfaces of soft bodies.
    pub solid_triangles: TrianglesAround,
    /// Distance that particles keep, m.
    pub diameter: f32,
    /// Coulomb's coefficient of friction.
    pub friction: f32,
}

impl ParticleContacts {
    /// The contacts that a scene asks for, if any.
    pub(super) fn new(scene: &Scene, bodies: &[Body]) -> Option<Self> {
        let settings = scene.file.particle_contacts.as_ref()?;
        let diameter =
            settings.radius.map_or_else(|| mean_edge(scene, bodies), |radius| 2.0 * radius);
        let mut contacts = Self {
            members: Vec::new(),
            rest: Vec::new(),
            patches: Patches::default(),
            solid_triangles: TrianglesAround::default(),
            diameter,
            friction: settings.friction,
        };
        for (number, body) in bodies.iter().enumerate() {
            contacts.add_body(number, body, scene);
        }
        contacts.patches.grow_tree();
        contacts.solid_triangles = TrianglesAround::of_solids(scene, bodies);
        Some(contacts)
    }

    fn add_body(&mut self, number: usize, body: &Body, scene: &Scene) {
        let in_scene = &scene.file.bodies[body.in_scene];
        let unit = in_scene.transform.scale / (REST_DIAMETERS * self.diameter);
        let center = body.mesh.bounds().map_or(Vec3::ZERO, |bounds| bounds.center());
        let rest: Vec<[f32; 4]> = body
            .mesh
            .positions
            .iter()
            .map(|&position| {
                let place = (position - center) * unit;
                let [x, y, z] = if in_scene.self_collision { place.to_array() } else { [0.0; 3] };
                [x, y, z, number as f32]
            })
            .collect();
        self.rest.extend(body.numbering.by_particle(&rest));
        let is_outside = match in_scene.kind {
            BodyKind::Cloth => vec![true; body.particles.len()],
            BodyKind::Soft => body.numbering.by_particle(&surface(&body.mesh)),
        };
        let own = body.particles.clone().zip(is_outside);
        let place = |(particle, _): (usize, bool)| {
            let [x, y, z, _] = self.rest[particle];
            (particle as u32, [x, y, z])
        };
        let own: Vec<_> = own.filter(|&(_, is_outside)| is_outside).map(place).collect();
        self.members.extend(own.iter().map(|&(particle, _)| particle));
        self.patches.add_body(number as u32, in_scene.self_collision, &own);
    }

    /// Where partners are looked for, m.
    pub fn reach(&self) -> f32 {
        REACH * self.diameter
    }

    /// How far the way of a particle may be from the middle of all ways before partners are looked for
    /// again, m.
    pub fn stale(&self) -> f32 {
        STALE * self.diameter
    }

    /// Within this distance, m, all partners are known whenever pairs are parted. Who is farther apart when contacts
    /// are counted cannot touch in that substep.
    pub fn close(&self) -> f32 {
        self.reach() - 2.0 * self.stale()
    }

    /// How far a pair that overlaps may be pushed apart in a substep, m.
    pub fn push(&self, step: f32) -> f32 {
        PUSH_RATE * self.diameter * step
    }

    /// Parts in which a device measures members.
    pub fn chunks(&self) -> usize {
        (self.members.len() / CHUNK).clamp(1, MOST_CHUNKS)
    }

    /// The number of cells of a device's grid as a power of two: two to four for each member, so that few cells far
    /// apart coincide.
    pub fn cell_bits(&self) -> u32 {
        (2 * self.members.len()).max(FEWEST_CELLS).next_power_of_two().trailing_zeros()
    }

    /// Memory for these contacts.
    pub(super) fn memory(&self) -> ContactState {
        ContactState::new(ContactSizes {
            particles: self.rest.len(),
            patches: self.patches.all.len(),
            lowest_nodes: self.patches.lowest().len(),
            nodes: self.patches.node_count(),
        })
    }
}

/// The triangles around each particle.
#[derive(Clone, Debug, Default)]
pub struct TrianglesAround {
    /// Those of a particle begin here; the next one's entry is where they end.
    starts: Vec<u32>,
    triangles: Vec<[u32; 3]>,
}

impl TrianglesAround {
    fn of_solids(scene: &Scene, bodies: &[Body]) -> Self {
        let mut around = Self { starts: vec![0], triangles: Vec::new() };
        for body in bodies {
            let mut corners = vec![Vec::new(); body.particles.len()];
            if scene.file.bodies[body.in_scene].kind == BodyKind::Soft {
                for triangle in &body.mesh.triangles {
                    let own = triangle.map(|vertex| body.numbering.particle(vertex));
                    let all = own.map(|particle| particle + body.particles.start as u32);
                    own.iter().for_each(|&particle| corners[particle as usize].push(all));
                }
            }
            for of_one in corners {
                around.triangles.extend(of_one);
                around.starts.push(around.triangles.len() as u32);
            }
        }
        around
    }

    /// Where the triangles of each particle begin in this same list, one more entry, and then the
    /// triangles.
    pub fn words(&self) -> Vec<u32> {
        let first = self.starts.len() as u32;
        let starts = self.starts.iter().map(|start| first + 3 * start);
        starts.chain(self.triangles.as_flattened().iter().copied()).collect()
    }

    /// The triangles around a particle.
    #[inline]
    pub fn around(&self, particle: usize) -> &[[u32; 3]] {
        &self.triangles[self.starts[particle] as usize..self.starts[particle + 1] as usize]
    }
}

/// Which vertices lie on the surface.
fn surface(mesh: &Mesh) -> Vec<bool> {
    let mut is_outside = vec![false; mesh.positions.len()];
    for &corner in mesh.triangles.as_flattened() {
        is_outside[corner as usize] = true;
    }
    is_outside
}

/// Mean length of the edges of all triangles, m: with particles of this diameter a surface is closed.
fn mean_edge(scene: &Scene, bodies: &[Body]) -> f32 {
    let (mut sum, mut count) = (0.0_f64, 0_usize);
    for body in bodies {
        let scale = f64::from(scene.file.bodies[body.in_scene].transform.scale);
        let Mesh { positions, triangles, .. } = body.mesh.as_ref();
        for &[a, b, c] in triangles {
            for [from, to] in [[a, b], [b, c], [c, a]] {
                let length = positions[from as usize].distance(positions[to as usize]);
                sum += scale * f64::from(length);
                count += 1;
            }
        }
    }
    (sum / count.max(1) as f64).max(f64::from(f32::MIN_POSITIVE)) as f32
}
