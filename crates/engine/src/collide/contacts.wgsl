// What kernels know of contacts between particles: see `model/contacts.rs`.

struct Contacts {
    members: u32,
    /// The number of cells as a power of two.
    cell_bits: u32,
    /// Where partners are looked for, and how far a particle may move before they are again, m.
    reach: f32,
    stale: f32,
    /// Distance that particles keep, m.
    diameter: f32,
    friction: f32,
    /// How fast a pair that overlaps is pushed apart, m/s.
    push_speed: f32,
    /// Parts that members are measured in.
    chunks: u32,
}

const MOST_PARTNERS = 64u;
