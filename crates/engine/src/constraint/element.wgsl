// An element of a group as kernels read it: its ids, its constants, stiffness or compliance of each row
// unless all elements share them, and damping for springs. They lie together and are loaded four words at
// a time, because a load of one word costs as much. IDS_PER_WORD, SOFTNESSES and DAMPINGS stand above.

struct Element {
    ids: array<u32, N>,
    constants: Constants,
    softness: array<f32, M>,
    damping: f32,
}

const ID_WORDS = (N + IDS_PER_WORD - 1u) / IDS_PER_WORD;
const ID_BITS = 32u / IDS_PER_WORD;
const ID_MASK = 0xffffffffu >> (32u - ID_BITS);
const QUADS = (ID_WORDS + K + SOFTNESSES + DAMPINGS + 3u) / 4u;

/// The elements in schedule order.
@group(1) @binding(2) var<storage, read> elements: array<vec4u>;

fn element_at(place: u32) -> Element {
    var words: array<u32, 4u * QUADS>;
    for (var quad = 0u; quad < QUADS; quad++) {
        let four = elements[place * QUADS + quad];
        for (var word = 0u; word < 4u; word++) {
            words[4u * quad + word] = four[word];
        }
    }
    var element: Element;
    for (var corner = 0u; corner < N; corner++) {
        let first = ID_BITS * (corner % IDS_PER_WORD);
        element.ids[corner] = (words[corner / IDS_PER_WORD] >> first) & ID_MASK;
    }
    for (var constant = 0u; constant < K; constant++) {
        element.constants[constant] = bitcast<f32>(words[ID_WORDS + constant]);
    }
    for (var row = 0u; row < SOFTNESSES; row++) {
        element.softness[row] = bitcast<f32>(words[ID_WORDS + K + row]);
    }
    for (var damping = 0u; damping < DAMPINGS; damping++) {
        element.damping = bitcast<f32>(words[ID_WORDS + K + SOFTNESSES + damping]);
    }
    return element;
}
