//! Gmsh's `.msh` files, as text, of versions 2.2 and 4.1.
//!
//! Sections `$Name … $EndName`; those that do not matter here are skipped. Triangles and
//! tetrahedra are read, of second order too, by their corners. Physical groups name vertices:
//! by `$PhysicalNames`, or else `curve-3`, `surface-1` and so on.

use std::collections::BTreeMap;
use std::path::Path;

use super::Loaded;
use super::draft::{Draft, Element, Vertex};
use super::lines::{Lines, Words};
use crate::mesh::error::MeshError;

/// More physical groups than this are left out for one entity: each costs a copy of it.
const MOST_GROUPS: usize = 32;

const NOT_GMSH: &str = "a Gmsh file: it does not start with `$MeshFormat`";
const BINARY: &str = "text; convert it: `gmsh in.msh -save -format msh2 -o out.msh`";

/// Reads the bytes of a file. `path` is for messages only.
pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Loaded, MeshError> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = Lines::new(text.trim_start_matches('\u{feff}'), path, None);
    let version = read_format(&mut lines, path)?;
    let mut file = File { version, ..File::default() };
    while let Some(title) = lines.next() {
        match title {
            "$PhysicalNames" => file.read_names(&mut lines)?,
            "$Entities" if version == Version::New => file.read_entities(&mut lines)?,
            "$Nodes" => file.read_nodes(&mut lines)?,
            "$Elements" => file.read_elements(&mut lines)?,
            _ => {}
        }
        skip_section(&mut lines, title);
    }
    file.draft.finish(path, path)
}

/// How nodes and elements are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Version {
    /// 2.2: one after another.
    #[default]
    Old,
    /// 4.1: in blocks, one for each entity of the geometry.
    New,
}

fn read_format(lines: &mut Lines, path: &Path) -> Result<Version, MeshError> {
    let wrong = |format| MeshError::WrongFormat { path: path.to_owned(), format };
    if lines.next() != Some("$MeshFormat") {
        return Err(wrong(NOT_GMSH));
    }
    let mut words = lines.expect("`<version> <is binary> <size of numbers>`")?;
    let version: f64 = words.number("the version")?;
    if words.number::<u32>("0 for text or 1 for binary")? != 0 {
        return Err(wrong(BINARY));
    }
    let is_old = (2.0..3.0).contains(&version);
    if !is_old && (version - 4.1).abs() > 1e-6 {
        return Err(words.error(format!("version {version} cannot be read; save as 4.1 or 2.2")));
    }
    skip_section(lines, "$MeshFormat");
    Ok(if is_old { Version::Old } else { Version::New })
}

/// Goes on after the end of a section.
fn skip_section(lines: &mut Lines, title: &str) {
    let name = title.trim_start_matches('$');
    while let Some(line) = lines.next() {
        if line.strip_prefix("$End") == Some(name) {
            return;
        }
    }
}

#[derive(Default)]
struct File {
    version: Version,
    draft: Draft,
    /// Names of physical groups, by dimension and number.
    names: BTreeMap<(usize, i64), String>,
    /// Physical groups of an entity, by its dimension and number.
    entities: BTreeMap<(usize, i64), Vec<i64>>,
}

impl File {
    fn read_names(&mut self, lines: &mut Lines) -> Result<(), MeshError> {
        let count: u64 = lines.expect("the number of names")?.number("the number of names")?;
        for name in 1..=count {
            let mut words = lines.expect(&format!("name {name} of {count}"))?;
            let dimension = words.number("the dimension of a group")?;
            let number = words.number("the number of a group")?;
            let name = words.rest().trim_matches('"').to_owned();
            self.names.insert((dimension, number), name);
        }
        Ok(())
    }

    /// Version 4.1: the physical groups of points, curves, surfaces and volumes.
    fn read_entities(&mut self, lines: &mut Lines) -> Result<(), MeshError> {
        let mut header = lines.expect("the numbers of entities")?;
        let mut counts = [0u64; 4];
        for count in &mut counts {
            *count = header.number("a number of entities")?;
        }
        for (dimension, count) in counts.into_iter().enumerate() {
            for entity in 1..=count {
                let mut words = lines.expect(&format!("entity {entity} of {count}"))?;
                let number = words.number("the number of an entity")?;
                // A point has a place, everything else a box.
                for _ in 0..if dimension == 0 { 3 } else { 6 } {
                    words.number::<f64>("a coordinate")?;
                }
                let groups: usize = words.number("the number of groups")?;
                let groups = (0..groups.min(MOST_GROUPS)).map(|_| words.number("a group"));
                let groups = groups.collect::<Result<Vec<i64>, _>>()?;
                self.entities.insert((dimension, number), groups);
            }
        }
        Ok(())
    }

    fn read_nodes(&mut self, lines: &mut Lines) -> Result<(), MeshError> {
        let mut header = lines.expect("the number of nodes")?;
        let count: u64 = header.number("a number of nodes")?;
        if self.version == Version::New {
            return (0..count).try_for_each(|_| self.read_node_block(lines));
        }
        for node in 1..=count {
            let mut words = lines.expect(&format!("node {node} of {count}"))?;
            let number = words.number("the number of a node")?;
            self.draft.vertices.push(Vertex { number, place: words.place()?, line: lines.line() });
        }
        Ok(())
    }

    /// Numbers first, then places.
    fn read_node_block(&mut self, lines: &mut Lines) -> Result<(), MeshError> {
        let mut header = lines.expect("`<dimension> <entity> <parametric> <nodes>`")?;
        for what in ["the dimension of an entity", "the number of an entity", "0 or 1"] {
            header.number::<i64>(what)?;
        }
        let count: u64 = header.number("a number of nodes")?;
        let first = self.draft.vertices.len();
        for node in 1..=count {
            let mut words = lines.expect(&format!("node {node} of {count}"))?;
            let number = words.number("the number of a node")?;
            let place = glam::Vec3::ZERO;
            self.draft.vertices.push(Vertex { number, place, line: lines.line() });
        }
        for vertex in &mut self.draft.vertices[first..] {
            vertex.place =
                lines.expect(&format!("the place of node {}", vertex.number))?.place()?;
        }
        Ok(())
    }

    fn read_elements(&mut self, lines: &mut Lines) -> Result<(), MeshError> {
        let mut header = lines.expect("the number of elements")?;
        let count: u64 = header.number("a number of elements")?;
        if self.version == Version::New {
            return (0..count).try_for_each(|_| self.read_element_block(lines));
        }
        for element in 1..=count {
            let mut words = lines.expect(&format!("element {element} of {count}"))?;
            let number = words.number("the number of an element")?;
            let kind = Kind::read(&mut words)?;
            let tags: u64 = words.number("the number of tags")?;
            let mut groups = Vec::new();
            for tag in 0..tags {
                let group: i64 = words.number("a tag")?;
                // The first tag is the physical group, the others do not matter here.
                groups.extend((tag == 0 && group != 0).then_some(group));
            }
            self.add_element(number, kind, &groups, &mut words, lines.line())?;
        }
        Ok(())
    }

    fn read_element_block(&mut self, lines: &mut Lines) -> Result<(), MeshError> {
        let mut header = lines.expect("`<dimension> <entity> <type> <elements>`")?;
        let dimension = header.number("the dimension of an entity")?;
        let entity = header.number("the number of an entity")?;
        let kind = Kind::read(&mut header)?;
        let count: u64 = header.number("a number of elements")?;
        let groups = self.entities.get(&(dimension, entity)).cloned().unwrap_or_default();
        for element in 1..=count {
            let mut words = lines.expect(&format!("element {element} of {count}"))?;
            let number = words.number("the number of an element")?;
            self.add_element(number, kind, &groups, &mut words, lines.line())?;
        }
        Ok(())
    }

    fn add_element(
        &mut self,
        number: u64,
        kind: Kind,
        groups: &[i64],
        words: &mut Words,
        line: usize,
    ) -> Result<(), MeshError> {
        let mut corners = [0; 4];
        for corner in &mut corners[..=kind.dimension] {
            *corner = words.number("the number of a node")?;
        }
        let [a, b, c, _] = corners;
        match kind.dimension {
            2 => self.draft.triangles.push(Element { number, corners: [a, b, c], line }),
            3 => self.draft.tetrahedra.push(Element { number, corners, line }),
            _ => {}
        }
        for &group in groups {
            let name = self.name(kind.dimension, group);
            self.draft.groups.entry(name).or_default().extend(&corners[..=kind.dimension]);
        }
        Ok(())
    }

    fn name(&self, dimension: usize, group: i64) -> String {
        let unnamed = || format!("{}-{group}", ["point", "curve", "surface", "volume"][dimension]);
        self.names.get(&(dimension, group)).cloned().unwrap_or_else(unnamed)
    }
}

/// A simplex: as many corners as dimensions and one more.
#[derive(Clone, Copy)]
struct Kind {
    dimension: usize,
}

impl Kind {
    fn read(words: &mut Words) -> Result<Self, MeshError> {
        let number: u32 = words.number("the type of an element")?;
        let dimension = match number {
            15 => 0,
            1 | 8 => 1,
            2 | 9 => 2,
            4 | 11 => 3,
            _ => {
                let message = format!(
                    "elements of type {number} cannot be read, only triangles (2) and tetrahedra (4)"
                );
                return Err(words.error(message));
            }
        };
        Ok(Self { dimension })
    }
}

#[cfg(test)]
mod tests {
    //! Contract: both versions give the same mesh and groups; every broken line is named;
    //! nothing is allocated on a header's word; no bytes panic.
    use proptest::prelude::*;

    use super::*;

    const OLD: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Comments\n$Nodes?\n$EndComments\n\
        $PhysicalNames\n1\n3 7 \"the corner\"\n$EndPhysicalNames\n\
        $Nodes\n4\n1 0 0 0\n5 1 0 0\n3 0 1 0\n9 0 0 1\n$EndNodes\n\
        $Elements\n3\n1 15 2 0 1 1\n2 2 2 4 6 1 3 5\n8 4 2 7 1 1 5 3 9\n$EndElements\n";
    const NEW: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n\
        $PhysicalNames\n1\n3 7 \"the corner\"\n$EndPhysicalNames\n\
        $Entities\n1 0 1 1\n1 0 0 0 0\n6 0 0 0 1 1 0 1 4 0\n1 0 0 0 1 1 1 1 7 1 6\n$EndEntities\n\
        $Nodes\n2 4 1 9\n2 6 0 3\n1\n5\n3\n0 0 0\n1 0 0\n0 1 0\n3 1 0 1\n9\n0 0 1\n$EndNodes\n\
        $Elements\n3 3 1 8\n0 1 15 1\n1 1\n2 6 2 1\n2 1 3 5\n3 1 4 1\n8 1 5 3 9\n$EndElements\n";

    fn read(text: &str) -> Result<Loaded, MeshError> {
        parse(text.as_bytes(), Path::new("a.msh"))
    }

    #[test]
    fn both_versions_give_the_same_mesh() {
        for text in [OLD, NEW] {
            let Loaded { mesh, notes } = read(text).unwrap();
            mesh.check().unwrap();
            // Numbers 1, 3, 5 and 9.
            assert_eq!(mesh.tetrahedra, [[0, 2, 1, 3]]);
            assert_eq!(mesh.triangles.len(), 4);
            assert_eq!(mesh.groups["the corner"], [0, 1, 2, 3]);
            assert_eq!(mesh.groups["surface-4"], [0, 1, 2]);
            assert!(notes.is_empty(), "{notes:?}");
        }
    }

    #[test]
    fn without_tetrahedra_the_triangles_are_the_mesh() {
        let text = OLD.replace("8 4 2 7 1 1 5 3 9", "8 2 0 5 9 9");
        let Loaded { mesh, notes } = read(&text).unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2]]);
        assert_eq!(
            notes,
            [
                "vertices dropped, because no element uses them: 1",
                "triangles dropped, because a corner is repeated: 1"
            ]
        );
    }

    #[test]
    fn errors_name_the_file_the_line_and_what_is_wrong() {
        let cases: &[(&str, &str, &str, &str)] = &[
            (
                OLD,
                "$MeshFormat",
                "$Nodes",
                "a.msh is not a Gmsh file: it does not start with `$MeshFormat`",
            ),
            (
                OLD,
                "2.2 0 8",
                "2.2 1 8",
                "a.msh is not text; convert it: `gmsh in.msh -save -format msh2 -o out.msh`",
            ),
            (OLD, "2.2 0 8", "4 0 8", "a.msh:2: version 4 cannot be read; save as 4.1 or 2.2"),
            (OLD, "2.2 0 8", "two", "a.msh:2: `two` is not the version"),
            (
                OLD,
                "$Nodes\n4\n",
                "$Nodes\n4000000000\n",
                "a.msh:17: `$EndNodes` is not the number of a node",
            ),
            (OLD, "5 1 0 0", "5 1 0", "a.msh:14: the line ends before a coordinate"),
            (
                OLD,
                "5 1 0 0",
                "5 1 0 inf",
                "a.msh:14: coordinates must be finite numbers that fit single precision",
            ),
            (OLD, "5 1 0 0", "1 1 0 0", "a.msh:14: vertex 1 is also on line 13"),
            (
                OLD,
                "8 4 2 7",
                "8 5 2 7",
                "a.msh:22: elements of type 5 cannot be read, only triangles (2) and tetrahedra (4)",
            ),
            (
                OLD,
                "1 5 3 9",
                "1 5 3 4",
                "a.msh:22: tetrahedron 8 names vertex 4, which does not exist; there are vertices from 1 to 9",
            ),
            (
                OLD,
                "1 5 3 9",
                "1 5 3 5",
                "a.msh:22: tetrahedron 8 has no volume, its corners lie in a plane; remove it",
            ),
            (
                OLD,
                "1 5 3 9\n$EndElements\n",
                "1 5 3",
                "a.msh:22: the line ends before the number of a node",
            ),
            (OLD, "$Elements", "$Forgotten", "a.msh has 4 vertices but no triangles or tetrahedra"),
            (
                NEW,
                "2 6 0 3\n",
                "2 6 0 9999999999999\n",
                "a.msh:26: `$EndNodes` is not the number of a node",
            ),
            (
                NEW,
                "9\n0 0 1\n$EndNodes",
                "9\n$EndNodes",
                "a.msh:25: `$EndNodes` is not a coordinate",
            ),
            (
                NEW,
                "8 1 5 3 9\n$EndElements\n",
                "",
                "a.msh:33: the file ends here, but element 1 of 1 should follow",
            ),
            (
                NEW,
                "3 1 4 1\n",
                "3 1 4 1000000000\n",
                "a.msh:35: `$EndElements` is not the number of an element",
            ),
        ];
        for (text, old, new, expected) in cases {
            let broken = text.replacen(old, new, 1);
            assert_ne!(broken, *text);
            assert_eq!(read(&broken).unwrap_err().to_string(), *expected, "{new}");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_and_cuts_never_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let path = Path::new("any");
            let _ = parse(&bytes, path);
            for text in [OLD, NEW] {
                let mut changed = text.as_bytes().to_vec();
                for (place, byte) in &changes {
                    let at = place.index(changed.len());
                    changed[at] = *byte;
                }
                changed.truncate(cut.index(2 * text.len()));
                if let Ok(loaded) = parse(&changed, path) {
                    loaded.mesh.check().unwrap();
                }
            }
        }
    }
}
