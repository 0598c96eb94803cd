// What sweeps move. BLOCK_PARTICLES stands above.

@group(1) @binding(0) var<storage, read_write> positions: array<vec4f>;
@group(1) @binding(1) var<storage, read_write> multipliers: array<f32>;

/// The particles of this workgroup's block.
var<workgroup> here: array<vec4f, BLOCK_PARTICLES>;
