// The twin of `detect.rs`, with a sort that suits the device: members are counted by cell, the counts
// are added up, members are scattered, and each cell is put into the order of its particles, so that
// nothing depends on who came first. All but the first two kernels run only if somebody has moved far:
// the second one writes how many workgroups they have.

/// The grid for where the members are now, and the sizes of the dispatches that depend on it.
struct Grid {
    for_members: vec4u,
    for_cells: vec4u,
    for_chunks: vec4u,
    for_one: vec4u,
    /// Cells along each axis, as powers of two.
    bits: vec4u,
}

/// Of the members of a chunk: sums of their places and of the squares of those, measured from the first
/// member, and the box around the ways that they have made since partners were last looked for.
struct Spread {
    sum: vec3f,
    squares: vec3f,
    low: vec3f,
    high: vec3f,
}

/// Farther than any way.
const FAR = 3e38;

@group(1) @binding(0) var<uniform> contacts: Contacts;
@group(1) @binding(1) var<storage, read> positions: array<vec4f>;
/// The particle at each place.
@group(1) @binding(2) var<storage, read_write> order: array<u32>;
/// Where it was when partners were last looked for, and its inverse mass.
@group(1) @binding(3) var<storage, read_write> kept: array<vec4f>;
@group(1) @binding(4) var<storage, read_write> spreads: array<Spread>;
@group(1) @binding(5) var<storage, read_write> grid_to_be: Grid;
@group(1) @binding(6) var<storage, read> grid: Grid;
@group(1) @binding(7) var<storage, read> members: array<u32>;
/// The cell of each member.
@group(1) @binding(8) var<storage, read_write> cells: array<u32>;
/// For each cell the number of its members, then where they begin among the places, then where they
/// end.
@group(1) @binding(9) var<storage, read_write> counters: array<atomic<u32>>;
@group(1) @binding(10) var<storage, read_write> ends: array<u32>;
/// Sums of counts of chunks of cells.
@group(1) @binding(11) var<storage, read_write> sums: array<u32>;
@group(1) @binding(12) var<storage, read> rest: array<vec4f>;
@group(1) @binding(13) var<storage, read_write> partners: array<u32>;
@group(1) @binding(14) var<storage, read_write> partner_counts: array<vec2u>;
@group(1) @binding(15) var<storage, read_write> findings: Findings;
/// Where the triangles around each particle begin in this same list, one more entry, and then the
/// triangles, three particles each.
@group(1) @binding(16) var<storage, read> around: array<u32>;
@group(1) @binding(17) var<storage, read_write> normals: array<vec4f>;

var<workgroup> partial_sums: array<vec3f, 64>;
var<workgroup> partial_squares: array<vec3f, 64>;
var<workgroup> partial_low: array<vec3f, 64>;
var<workgroup> partial_high: array<vec3f, 64>;

@compute @workgroup_size(64)
fn measure_spread(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let first = group.x * contacts.members / contacts.chunks;
    let end = (group.x + 1u) * contacts.members / contacts.chunks;
    let origin = positions[order[0]].xyz;
    var sum = vec3f();
    var squares = vec3f();
    var low = vec3f(FAR);
    var high = vec3f(-FAR);
    for (var place = first + lane; place < end; place += 64u) {
        let position = positions[order[place]].xyz;
        let offset = position - origin;
        sum += offset;
        squares += offset * offset;
        let way = position - kept[place].xyz;
        low = min(low, way);
        high = max(high, way);
        // Told by its bits, because compilers may take for granted that all numbers are numbers.
        let bits = bitcast<vec3u>(way) & vec3u(0x7fffffffu);
        if (any(bits >= vec3u(0x7f800000u))) {
            low = vec3f(-FAR);
            high = vec3f(FAR);
        }
    }
    partial_sums[lane] = sum;
    partial_squares[lane] = squares;
    partial_low[lane] = low;
    partial_high[lane] = high;
    for (var half = 32u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if (lane < half) {
            partial_sums[lane] += partial_sums[lane + half];
            partial_squares[lane] += partial_squares[lane + half];
            partial_low[lane] = min(partial_low[lane], partial_low[lane + half]);
            partial_high[lane] = max(partial_high[lane], partial_high[lane + half]);
        }
    }
    if (lane == 0u) {
        spreads[group.x] = Spread(partial_sums[0], partial_squares[0], partial_low[0], partial_high[0]);
    }
}

@compute @workgroup_size(1)
fn shape_grid() {
    var sum = vec3f();
    var squares = vec3f();
    var low = vec3f(FAR);
    var high = vec3f(-FAR);
    for (var chunk = 0u; chunk < contacts.chunks; chunk++) {
        sum += spreads[chunk].sum;
        squares += spreads[chunk].squares;
        low = min(low, spreads[chunk].low);
        high = max(high, spreads[chunk].high);
    }
    let count = f32(max(contacts.members, 1u));
    let mean = sum / count;
    // A variance may come out negative by rounding.
    var needed = sqrt(max(squares / count - mean * mean, vec3f()) * 12.0);
    var bits = vec4u();
    for (var bit = 0u; bit < contacts.cell_bits; bit++) {
        var axis = 0u;
        if (needed.y > needed.x) {
            axis = 1u;
        }
        if (needed.z > needed[axis]) {
            axis = 2u;
        }
        needed[axis] *= 0.5;
        bits[axis] += 1u;
    }
    grid_to_be.bits = bits;
    // Divided first: what is squared and too large for a number is not compared.
    let half = min((high * 0.5 - low * 0.5) / contacts.stale, vec3f(1e9));
    let is_due = dot(half, half) > 1.0;
    let all_cells = 1u << contacts.cell_bits;
    grid_to_be.for_members = select(vec4u(), dispatch_of(contacts.members, 64u), is_due);
    grid_to_be.for_cells = select(vec4u(), dispatch_of(all_cells, 64u), is_due);
    grid_to_be.for_chunks = select(vec4u(), dispatch_of(all_cells, CHUNK), is_due);
    grid_to_be.for_one = select(vec4u(), vec4u(1u), is_due);
}

/// Workgroups for so many things, along x and y.
fn dispatch_of(count: u32, width: u32) -> vec4u {
    let groups = (count + width - 1u) / width;
    let x = min(groups, 65535u);
    return vec4u(x, (groups + x - 1u) / max(x, 1u), 1u, 0u);
}

fn along(x: f32, axis: u32) -> u32 {
    let scaled = x * (1.0 / contacts.reach);
    let down = i32(floor(clamp(scaled, -2147483000.0, 2147483000.0)));
    return bitcast<u32>(down) & ((1u << grid.bits[axis]) - 1u);
}

fn coordinates_of(position: vec3f) -> vec3u {
    return vec3u(along(position.x, 0u), along(position.y, 1u), along(position.z, 2u));
}

fn cell_of(at: vec3u) -> u32 {
    return at.x | ((at.y | (at.z << grid.bits.y)) << grid.bits.x);
}

@compute @workgroup_size(64)
fn clear_cells(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let cell = flat_id(id, groups);
    if (cell < (1u << contacts.cell_bits)) {
        ends[cell] = 0u;
    }
}

@compute @workgroup_size(64)
fn count_members(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let member = flat_id(id, groups);
    if (member < contacts.members) {
        let cell = cell_of(coordinates_of(positions[members[member]].xyz));
        cells[member] = cell;
        atomicAdd(&counters[cell], 1u);
    }
}

/// Cells of a chunk whose counts a workgroup adds up, four each.
const CHUNK = 256u;
var<workgroup> running: array<u32, 64>;

/// The sum of the totals of all lanes before this one; that of all is left in the last lane's `running`.
fn sum_before(lane: u32, total: u32) -> u32 {
    running[lane] = total;
    for (var step = 1u; step < 64u; step *= 2u) {
        workgroupBarrier();
        var before = 0u;
        if (lane >= step) {
            before = running[lane - step];
        }
        workgroupBarrier();
        running[lane] += before;
    }
    workgroupBarrier();
    return running[lane] - total;
}

/// Turns the counts of a chunk's cells into where they begin in the chunk.
@compute @workgroup_size(64)
fn add_up_chunk(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let chunk = group.x + group.y * groups.x;
    let first = chunk * CHUNK + 4u * lane;
    let is_real = first < (1u << contacts.cell_bits);
    var starts = vec4u();
    var total = 0u;
    if (is_real) {
        for (var index = 0u; index < 4u; index++) {
            starts[index] = total;
            total += ends[first + index];
        }
    }
    let start = sum_before(lane, total);
    if (is_real) {
        for (var index = 0u; index < 4u; index++) {
            ends[first + index] = start + starts[index];
        }
        if (lane == 63u) {
            sums[chunk] = running[63];
        }
    }
}

/// Turns the sums of chunks into where they begin.
@compute @workgroup_size(64)
fn add_up_sums(@builtin(local_invocation_index) lane: u32) {
    let chunks = (1u << contacts.cell_bits) / CHUNK;
    let each = (chunks + 63u) / 64u;
    let first = min(lane * each, chunks);
    let end = min(first + each, chunks);
    var total = 0u;
    for (var chunk = first; chunk < end; chunk++) {
        total += sums[chunk];
    }
    var start = sum_before(lane, total);
    for (var chunk = first; chunk < end; chunk++) {
        let count = sums[chunk];
        sums[chunk] = start;
        start += count;
    }
}

@compute @workgroup_size(64)
fn add_sums(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let cell = flat_id(id, groups);
    if (cell < (1u << contacts.cell_bits)) {
        ends[cell] += sums[cell / CHUNK];
    }
}

/// Where a cell's members begin becomes where they end.
@compute @workgroup_size(64)
fn scatter(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let member = flat_id(id, groups);
    if (member < contacts.members) {
        order[atomicAdd(&counters[cells[member]], 1u)] = members[member];
    }
}

/// Puts the members of each cell into order.
@compute @workgroup_size(64)
fn sort_cells(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let cell = flat_id(id, groups);
    if (cell >= (1u << contacts.cell_bits)) {
        return;
    }
    let start = start_of(cell);
    let end = ends[cell];
    for (var place = start; place < end; place++) {
        let particle = order[place];
        var hole = place;
        while (hole > start && order[hole - 1u] > particle) {
            order[hole] = order[hole - 1u];
            hole -= 1u;
        }
        order[hole] = particle;
    }
    for (var place = start; place < end; place++) {
        kept[place] = positions[order[place]];
    }
}

fn start_of(cell: u32) -> u32 {
    if (cell == 0u) {
        return 0u;
    }
    return ends[cell - 1u];
}

/// Looks through the cells around.
@compute @workgroup_size(64)
fn search(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let place = flat_id(id, groups);
    if (place >= contacts.members) {
        return;
    }
    let own = kept[place];
    var found = 0u;
    // Fixed particles need no partners of their own: nothing moves them.
    if (own.w != 0.0) {
        let at = coordinates_of(own.xyz);
        let last = (vec3u(1u) << grid.bits.xyz) - vec3u(1u);
        // A coordinate, the next and the one before, each once: with few cells they coincide.
        let across = min(last + vec3u(1u), vec3u(3u));
        for (var z = 0u; z < across.z; z++) {
            for (var y = 0u; y < across.y; y++) {
                let row = vec3u(0u, neighbor(at.y, y, last.y), neighbor(at.z, z, last.z));
                found = search_row(place, at.x, row, last.x, found);
            }
        }
    }
    partner_counts[place] = vec2u(min(found, MOST_PARTNERS), 0u);
    if (found > MOST_PARTNERS) {
        atomicAdd(&findings.dropped, found - MOST_PARTNERS);
    }
}

fn neighbor(coordinate: u32, which: u32, last: u32) -> u32 {
    if (which == 0u) {
        return coordinate;
    }
    return (coordinate + select(last, 1u, which == 1u)) & last;
}

/// The neighbors along x in one row: a range, and one more cell where it wraps around.
fn search_row(place: u32, x: u32, row: vec3u, last: u32, already: u32) -> u32 {
    let first_cell = cell_of(row);
    if (last < 3u) {
        return search_cells(place, first_cell, first_cell + last, already);
    }
    if (x == 0u) {
        let found = search_cells(place, first_cell, first_cell + 1u, already);
        return search_cells(place, first_cell + last, first_cell + last, found);
    }
    if (x == last) {
        let found = search_cells(place, first_cell + last - 1u, first_cell + last, already);
        return search_cells(place, first_cell, first_cell, found);
    }
    return search_cells(place, first_cell + x - 1u, first_cell + x + 1u, already);
}

fn search_cells(place: u32, first: u32, last: u32, already: u32) -> u32 {
    let own = kept[place].xyz;
    let own_rest = rest[order[place]];
    let end = ends[last];
    var found = already;
    for (var other = start_of(first); other < end; other++) {
        let way = kept[other].xyz - own;
        if (dot(way, way) < contacts.reach * contacts.reach) {
            let apart = own_rest - rest[order[other]];
            if (dot(apart, apart) >= 1.0) {
                if (found < MOST_PARTNERS) {
                    partners[place * MOST_PARTNERS + found] = order[other];
                }
                found += 1u;
            }
        }
    }
    return found;
}

/// Directions out of soft bodies, for those that found partners.
@compute @workgroup_size(64)
fn find_normals(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let place = flat_id(id, groups);
    if (place >= contacts.members || partner_counts[place].x == 0u) {
        return;
    }
    let particle = order[place];
    if (around[particle] == around[particle + 1u]) {
        return;
    }
    var sum = vec3f();
    for (var triangle = around[particle]; triangle < around[particle + 1u]; triangle += 3u) {
        let a = positions[around[triangle]].xyz;
        let b = positions[around[triangle + 1u]].xyz;
        let c = positions[around[triangle + 2u]].xyz;
        sum += cross(b - a, c - a);
    }
    normals[particle] = vec4f(sum * (1.0 / max(sqrt(dot(sum, sum)), 1.17549435e-38)), 0.0);
}
