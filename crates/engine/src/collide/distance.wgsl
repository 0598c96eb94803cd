// The twin of `Form::distance` in `shape.rs` and of `SparseSdf::sample` in `mesh/sdf.rs`.

const PLANE = 0u;
const SPHERE = 1u;
const BOX = 2u;
const CAPSULE = 3u;
const TUBE = 4u;
const TORUS = 5u;
const FIELD = 6u;

const SHORTEST = 1e-20;
const UP = vec3f(0.0, 1.0, 0.0);

/// Numbers of the fields of meshes, one field after another: lowest corner (3), side of a cell, blocks
/// along x, y and z, bounds of the mesh (3, 3), where in the whole list the distances at corners of
/// blocks begin, where the numbers of blocks, where the samples of blocks; then these lists.
@group(1) @binding(16) var<storage, read> fields: array<u32>;

/// Whether a shape has a form. FORMS, above, has a bit for each form that the scene has: drivers that go
/// through all branches are spared the others.
fn has_form(shape: Shape, form: u32) -> bool {
    return (FORMS & (1u << form)) != 0u && shape.form == form;
}

fn distance_to(shape: Shape, p: vec3f) -> Distance {
    if (has_form(shape, PLANE)) {
        return Distance(p.y, UP);
    }
    if (has_form(shape, SPHERE)) {
        return round_distance(p, shape.size.x);
    }
    if (has_form(shape, BOX)) {
        return box_distance(p, shape.size.xyz);
    }
    if (has_form(shape, CAPSULE)) {
        let along = clamp(p.x, -shape.size.y, shape.size.y);
        return round_distance(vec3f(p.x - along, p.y, p.z), shape.size.x);
    }
    if (has_form(shape, TUBE)) {
        return tube_distance(p, shape.size.x, shape.size.y);
    }
    if (has_form(shape, TORUS)) {
        let across = sqrt(p.x * p.x + p.z * p.z);
        let radial = direction(vec3f(p.x, 0.0, p.z), across, vec3f(1.0, 0.0, 0.0));
        return round_distance(p - radial * shape.size.x, shape.size.y);
    }
    if (has_form(shape, FIELD)) {
        let found = sample(shape.field, p);
        let length = sqrt(dot(found.normal, found.normal));
        return Distance(found.value, direction(found.normal, length, UP));
    }
    return Distance();
}

/// `p` divided by its length, or a default where the length vanishes.
fn direction(p: vec3f, length: f32, otherwise: vec3f) -> vec3f {
    return select(otherwise, p * (1.0 / max(length, SHORTEST)), SHORTEST < length);
}

fn round_distance(p: vec3f, radius: f32) -> Distance {
    let length = sqrt(dot(p, p));
    return Distance(length - radius, direction(p, length, UP));
}

fn signs(p: vec3f) -> vec3f {
    return select(vec3f(1.0), vec3f(-1.0), p < vec3f());
}

fn box_distance(p: vec3f, half: vec3f) -> Distance {
    let q = abs(p) - half;
    // Inside, the nearest face decides; outside, the nearest point of the box does.
    let deepest = max(max(q.x, q.y), q.z);
    let out = max(q, vec3f());
    let length = sqrt(dot(out, out));
    var inner = vec3f(0.0, 0.0, 1.0);
    if (!(q.x < deepest)) {
        inner = vec3f(1.0, 0.0, 0.0);
    } else if (!(q.y < deepest)) {
        inner = vec3f(0.0, 1.0, 0.0);
    }
    let normal = direction(out, length, inner) * signs(p);
    return Distance(select(deepest, length, 0.0 < deepest), normal);
}

fn tube_distance(p: vec3f, radius: f32, half_length: f32) -> Distance {
    let across = sqrt(p.y * p.y + p.z * p.z);
    let radial = direction(vec3f(0.0, p.y, p.z), across, UP);
    let axial = vec3f(signs(p).x, 0.0, 0.0);
    let end = abs(p.x) - half_length;
    let side = across - radius;
    let out_end = max(end, 0.0);
    let out_side = max(side, 0.0);
    let length = sqrt(out_end * out_end + out_side * out_side);
    let outer = axial * out_end + radial * out_side;
    let inner = select(axial, radial, end < side);
    let deepest = max(end, side);
    let value = select(deepest, length, 0.0 < deepest);
    return Distance(value, direction(outer, length, inner));
}

fn number(index: u32) -> f32 {
    return bitcast<f32>(fields[index]);
}

fn vector_at(index: u32) -> vec3f {
    return vec3f(number(index), number(index + 1u), number(index + 2u));
}

/// Distance and gradient (not normalized) in the field of a mesh.
fn sample(field: u32, point: vec3f) -> Distance {
    let cell = number(field + 3u);
    let blocks = vec3u(fields[field + 4u], fields[field + 5u], fields[field + 6u]);
    let local = (point - vector_at(field)) / cell;
    let cells = vec3f(blocks * 8u);
    if (!(all(local >= vec3f()) && all(local <= cells))) {
        let away = point - min(max(point, vector_at(field + 7u)), vector_at(field + 10u));
        let length = sqrt(dot(away, away));
        return Distance(length, direction(away, length, vec3f()));
    }
    let at = min(floor(local), cells - vec3f(1.0));
    let block = vec3u(at) / 8u;
    let own = fields[fields[field + 14u] + place_in(block, blocks)];
    if (own == 0xffffffffu) {
        let corners = corners_of(fields[field + 13u], block, blocks + vec3u(1u));
        let found = trilinear(corners, local / 8.0 - vec3f(block));
        return Distance(found.value, found.normal / (cell * 8.0));
    }
    let samples = fields[field + 15u] + own * 729u;
    let found = trilinear(corners_of(samples, vec3u(at) % 8u, vec3u(9u)), local - at);
    return Distance(found.value, found.normal / cell);
}

fn place_in(at: vec3u, counts: vec3u) -> u32 {
    return (at.z * counts.y + at.y) * counts.x + at.x;
}

/// The values at the eight corners of a cell: x changes fastest, then y, then z.
fn corners_of(first: u32, lowest: vec3u, counts: vec3u) -> array<f32, 8> {
    let start = first + place_in(lowest, counts);
    let up = start + counts.x;
    let back = start + counts.x * counts.y;
    let up_back = back + counts.x;
    return array<f32, 8>(
        number(start), number(start + 1u), number(up), number(up + 1u),
        number(back), number(back + 1u), number(up_back), number(up_back + 1u),
    );
}

fn blend(low: f32, high: f32, share: f32) -> f32 {
    return low + (high - low) * share;
}

/// Value and gradient of the trilinear interpolant at a place in the unit cube.
fn trilinear(c: array<f32, 8>, at: vec3f) -> Distance {
    let row0 = blend(c[0], c[1], at.x);
    let row1 = blend(c[2], c[3], at.x);
    let row2 = blend(c[4], c[5], at.x);
    let row3 = blend(c[6], c[7], at.x);
    let sheet0 = blend(row0, row1, at.y);
    let sheet1 = blend(row2, row3, at.y);
    let slope = vec3f(
        blend(blend(c[1] - c[0], c[3] - c[2], at.y), blend(c[5] - c[4], c[7] - c[6], at.y), at.z),
        blend(row1 - row0, row3 - row2, at.z),
        sheet1 - sheet0,
    );
    return Distance(blend(sheet0, sheet1, at.z), slope);
}
