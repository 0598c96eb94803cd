//! Contract: the geometry of the file and nothing else, in the file's order; what is wrong is
//! named with its line; no bytes whatsoever make the loader panic.
use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<Loaded, MeshError> {
    parse_obj(text.as_bytes(), Path::new("shirt.obj"))
}

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

#[test]
fn vertices_keep_the_order_of_the_file() {
    let loaded = parse(&format!("{SQUARE}f 4 1 3\nf 2 3 1\n")).unwrap();
    assert_eq!(loaded.mesh.positions, [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y]);
    assert_eq!(loaded.mesh.triangles, [[3, 0, 2], [1, 2, 0]]);
    assert!(loaded.notes.is_empty() && loaded.mesh.groups.is_empty());
}

#[test]
fn texture_coordinates_and_normals_do_not_split_vertices() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0\nvt 1 1\nvn 0 0 1\nvn 0 1 0\n\
                f 1/1/1 2/2/1 3/1/2\nf 3//1 2//2 4\nf 1/99999999999999999999 4 3/-7/-7\n";
    let mesh = parse(text).unwrap().mesh;
    assert_eq!(mesh.positions.len(), 4);
    assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3], [0, 3, 2]]);
}

#[test]
fn negative_numbers_count_back_from_the_line_they_stand_on() {
    let mesh = parse("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 1 1 0\nf -1 -2 -3\n").unwrap().mesh;
    assert_eq!(mesh.triangles, [[0, 1, 2], [3, 2, 1]]);
}

#[test]
fn faces_may_come_before_their_vertices() {
    let mesh = parse(&format!("f 1 2 3\n{SQUARE}f 1 3 4")).unwrap().mesh;
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
}

#[test]
fn polygons_are_cut_whether_convex_or_not() {
    let arrow = "v 0 0 0\nv 2 -1 0\nv 0.5 0 0\nv 2 1 0\nf 1 2 3 4\nf 1 2 4\n";
    let mesh = parse(arrow).unwrap().mesh;
    assert_eq!(mesh.triangles.len(), 3);
    // Around the dent, not across it.
    assert!(mesh.triangles[..2].iter().all(|corners| corners.contains(&2)));
    let mesh = parse(&format!("{SQUARE}f 1 2 3 4\n")).unwrap().mesh;
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
}

#[test]
fn objects_and_groups_become_groups_that_share_vertices() {
    let text = format!(
        "o Left half\n{SQUARE}g sleeve seam\nf 1 2 3\ng\nf 1 3 4\no Right\nv 2 0 0\ng seam\nf 2 5 3\no Empty\n"
    );
    let mesh = parse(&text).unwrap().mesh;
    assert_eq!(mesh.positions.len(), 5);
    assert_eq!(mesh.groups.keys().collect::<Vec<_>>(), ["Left half", "Right", "seam", "sleeve"]);
    assert_eq!(mesh.groups["Left half"], [0, 1, 2, 3]);
    assert_eq!(mesh.groups["Right"], [1, 2, 4]);
    assert_eq!(mesh.groups["sleeve"], [0, 1, 2]);
    assert_eq!(mesh.groups["seam"], [0, 1, 2, 4]);
    mesh.check().unwrap();
}

#[test]
fn what_is_no_geometry_is_skipped() {
    let text = format!(
        "\u{feff}# comment\r\nmtllib missing.mtl\nusemtl\nusemtl red\ns off\n{SQUARE}vp 0.3\n\
         l 1 2\np 1\ncurv2 nonsense\n  f 1 2 3 # a comment \\\n f 1 \\\n 3 \\\r\n 4\n"
    );
    // The backslash in the comment joins the next line to it.
    assert_eq!(parse(&text).unwrap().mesh.triangles, [[0, 1, 2]]);
    let text = format!("{SQUARE}f 1 2 3\nf 1 \\\n 3 \\\r\n 4\n");
    assert_eq!(parse(&text).unwrap().mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
}

#[test]
fn weights_and_colors_of_vertices_are_ignored() {
    let mesh = parse("v 0 0 0 2\nv 1 0 0 0.5 0.5 0.5\nv 0 1 0\nf 1 2 3\n").unwrap().mesh;
    assert_eq!(mesh.positions, [Vec3::ZERO, Vec3::X, Vec3::Y]);
}

#[test]
fn what_is_left_out_or_doubtful_is_noted() {
    let text = format!(
        "v 9 9 9\n{SQUARE}v 0 0 1\nv 7 7 7\nv 8 8 8\n\
         g hem\nf 2 3 4\nf 7 8 8\nf 2 3 5\nf 3 2 6\n"
    );
    let loaded = parse(&text).unwrap();
    assert_eq!(loaded.mesh.positions.len(), 5);
    assert_eq!(loaded.mesh.triangles, [[0, 1, 2], [0, 1, 3], [1, 0, 4]]);
    assert_eq!(loaded.mesh.groups["hem"], [0, 1, 2, 3, 4]);
    assert_eq!(
        loaded.notes,
        [
            "vertices dropped, because no triangle uses them: 3",
            "triangles dropped, because a corner is repeated: 1",
            "edges of more than two triangles, which will not bend: 1",
        ]
    );
    let notes = parse("v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 4\n").unwrap().notes;
    assert_eq!(
        notes,
        ["triangles without area: 1", "edges between triangles that face opposite sides: 1"]
    );
}

#[test]
fn errors_name_the_file_the_line_and_what_is_wrong() {
    let cases = [
        ("v 0 0\n", "shirt.obj:5: this vertex has 2 coordinates, it must have 3: `v x y z`"),
        ("v 0 0 zero\nf 1 2 3\n", "shirt.obj:5: `zero` is not a number"),
        ("f 1 2\n", "shirt.obj:5: this face has 2 corners, it must have 3 or more"),
        ("\nf 1 2 3\nf 1 2 x\n", "shirt.obj:7: `x` is not the number of a vertex"),
        ("f 1 2 /3\n", "shirt.obj:5: `/3` is not the number of a vertex"),
        ("f 1 2 3.5\n", "shirt.obj:5: `3.5` is not the number of a vertex"),
        ("f 1 2 0\n", "shirt.obj:5: vertex 0 does not exist: vertices are counted from 1"),
        ("f 1 2 5\n", "shirt.obj:5: vertex 5 does not exist: the file has 4 vertices"),
        (
            "f 1 2 -5\nv 1 1 1\n",
            "shirt.obj:5: vertex -5 counts back beyond the first of the 4 vertices before this line",
        ),
        (
            "v nan 0 0\nf 1 2 5\n",
            "shirt.obj:5: coordinates must be finite numbers that fit single precision",
        ),
        (
            "f 1 2 3\nv 0 0 1e99\nf 1 2 5\n",
            "shirt.obj:6: coordinates must be finite numbers that fit single precision",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error(&format!("{SQUARE}{text}")), expected);
    }
    let message = error(SQUARE);
    assert!(message.contains("shirt.obj has 4 vertices but no faces"), "{message}");
    assert!(error(&format!("{SQUARE}f 1 1 1\n")).contains("no faces"));
    for text in ["", "solid ascii\nfacet normal 0 0 1\n", "v 0 0 0\0f 1 2 3"] {
        assert!(error(text).contains("shirt.obj is not a Wavefront OBJ file"), "{text}");
    }
}

#[test]
fn a_file_that_is_missing_or_none_is_named() {
    let message = load(Path::new("/no/such/shirt.obj")).unwrap_err().to_string();
    assert!(message.starts_with("cannot read /no/such/shirt.obj: "), "{message}");
    let folder = tempfile::tempdir().unwrap();
    let message = load(folder.path()).unwrap_err().to_string();
    assert!(message.ends_with("it is not a regular file"), "{message}");
    let file = folder.path().join("shirt.obj");
    std::fs::write(&file, format!("{SQUARE}f 1 2 3 4")).unwrap();
    assert_eq!(load(&file).unwrap().mesh.triangles.len(), 2);
}

#[test]
fn old_encodings_in_names_do_no_harm() {
    let mut bytes = b"# Ma\xdfe\ng \xc4rmel\n".to_vec();
    bytes.extend(format!("{SQUARE}f 1 2 3\n").bytes());
    let loaded = parse_obj(&bytes, Path::new("hemd.obj")).unwrap();
    assert_eq!(loaded.mesh.groups["\u{fffd}rmel"], [0, 1, 2]);
}

/// Whatever comes out must be sound.
fn survives(bytes: &[u8]) {
    if let Ok(loaded) = parse_obj(bytes, Path::new("any.obj")) {
        loaded.mesh.check().unwrap();
        assert!(!loaded.mesh.triangles.is_empty());
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (-6i64..7).prop_map(|number| number.to_string()),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        2 => any::<f32>().prop_map(|number| number.to_string()),
        1 => "[0-9/.\\-]{0,6}",
        1 => Just("\\".to_owned()),
        1 => Just("#".to_owned()),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let keyword = prop_oneof![
        6 => Just("v"), 6 => Just("f"), 1 => Just("o"), 1 => Just("g"), 1 => Just("vt"),
        1 => Just("vn"), 1 => Just("l"), 1 => Just("usemtl"), 1 => Just("mtllib"), 1 => Just(""),
    ];
    (keyword, proptest::collection::vec(word(), 0..7))
        .prop_map(|(keyword, words)| format!("{keyword} {}", words.join(" ")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        survives(&bytes);
    }

    #[test]
    fn random_lines_never_panic(lines in proptest::collection::vec(line(), 0..40)) {
        survives(lines.join("\n").as_bytes());
        let numbered: String = lines.iter().map(|line| format!("{line}\n")).collect();
        survives(format!("{SQUARE}{numbered}f 1 2 3\n").as_bytes());
    }

    #[test]
    fn mutated_files_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = format!(
            "# plate\no plate\n{SQUARE}vt 0 0\nvn 0 0 1\ng half\nf 1/1/1 2/1/1 3/1/1\nf -4//1 3//1 4//1\n"
        ).into_bytes();
        for (place, byte, kind) in changes {
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        survives(&bytes);
        survives(&bytes[..cut.index(bytes.len())]);
    }
}
