//! Writers of triangle meshes: OBJ for people, binary PLY for size and speed.
//!
//! Positions come apart from the triangles: frames of a simulation share one mesh.

use std::io::{BufWriter, Error, ErrorKind, Result, Write};

use glam::Vec3;

/// Writes a Wavefront OBJ file. Numbers are written with as many digits as it takes to read
/// back the same bits.
///
/// # Errors
/// What the writer reports, and a triangle that names a vertex that does not exist.
pub fn write_obj<W: Write>(writer: W, positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<()> {
    check_range(positions, triangles)?;
    let mut writer = BufWriter::new(writer);
    for position in positions {
        writeln!(writer, "v {} {} {}", position.x, position.y, position.z)?;
    }
    for corners in triangles {
        let [a, b, c] = corners.map(|corner| u64::from(corner) + 1);
        writeln!(writer, "f {a} {b} {c}")?;
    }
    writer.flush()
}

/// Writes a binary (little-endian) PLY file.
///
/// # Errors
/// What the writer reports, and a triangle that names a vertex that does not exist or that
/// PLY's signed indices cannot hold.
pub fn write_ply<W: Write>(writer: W, positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<()> {
    check_range(positions, triangles)?;
    if i32::try_from(positions.len()).is_err() {
        let message = format!("{} vertices are more than a PLY file can number", positions.len());
        return Err(Error::new(ErrorKind::InvalidInput, message));
    }
    let mut writer = BufWriter::new(writer);
    write_ply_header(&mut writer, positions.len(), triangles.len())?;
    for coordinate in positions.iter().flat_map(Vec3::to_array) {
        writer.write_all(&coordinate.to_le_bytes())?;
    }
    for corners in triangles {
        writer.write_all(&[3])?;
        for corner in corners {
            writer.write_all(&corner.to_le_bytes())?;
        }
    }
    writer.flush()
}

fn write_ply_header(writer: &mut impl Write, vertices: usize, faces: usize) -> Result<()> {
    writeln!(writer, "ply\nformat binary_little_endian 1.0")?;
    writeln!(writer, "element vertex {vertices}")?;
    writeln!(writer, "property float x\nproperty float y\nproperty float z")?;
    writeln!(writer, "element face {faces}")?;
    // `int`, not `uint`: every reader knows it.
    writeln!(writer, "property list uchar int vertex_indices\nend_header")
}

fn check_range(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<()> {
    super::check_range("triangle", triangles, positions.len())
        .map_err(|error| Error::new(ErrorKind::InvalidInput, error))
}

#[cfg(test)]
mod tests {
    //! Contract: what is written reads back bit for bit.
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::mesh::{Mesh, generate, load};

    fn sample() -> Mesh {
        let mut mesh = generate::torus(1.0, 0.3, 7, 5).unwrap();
        mesh.scale(1.0 / 3.0);
        mesh
    }

    #[test]
    fn obj_reads_back() {
        let mesh = sample();
        let mut bytes = Vec::new();
        write_obj(&mut bytes, &mesh.positions, &mesh.triangles).unwrap();
        let loaded = load::parse_obj(&bytes, Path::new("torus.obj")).unwrap();
        assert_eq!(loaded.mesh, mesh);
        assert!(loaded.notes.is_empty(), "{:?}", loaded.notes);
    }

    #[test]
    fn ply_is_laid_out_as_its_header_says() {
        let mesh = sample();
        let mut bytes = Vec::new();
        write_ply(&mut bytes, &mesh.positions, &mesh.triangles).unwrap();
        let end = b"end_header\n";
        let header = bytes.windows(end.len()).position(|part| part == end).unwrap() + end.len();
        let text = std::str::from_utf8(&bytes[..header]).unwrap();
        assert!(text.starts_with("ply\nformat binary_little_endian 1.0\n"));
        assert!(text.contains("\nelement vertex 35\n") && text.contains("\nelement face 70\n"));
        let (vertices, faces) = bytes[header..].split_at(12 * 35);
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        let read: Vec<Vec3> = vertices
            .chunks(12)
            .map(|xyz| Vec3::from_array([0, 4, 8].map(|at| f32::from_bits(word(&xyz[at..at + 4])))))
            .collect();
        assert_eq!(read, mesh.positions);
        assert!(faces.chunks(13).all(|face| face[0] == 3));
        let read: Vec<[u32; 3]> =
            faces.chunks(13).map(|face| [1, 5, 9].map(|at| word(&face[at..at + 4]))).collect();
        assert_eq!(read, mesh.triangles);
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> Result<usize> {
            Err(Error::from(ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_reported() {
        let positions = [Vec3::X, Vec3::Y, Vec3::Z];
        for write in [write_obj::<Full>, write_ply::<Full>] {
            let error = write(Full, &positions, &[[0, 1, 2]]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StorageFull);
        }
    }

    #[test]
    fn a_vertex_that_does_not_exist_is_an_error_before_anything_is_written() {
        for write in [write_obj::<Full>, write_ply::<Full>] {
            let error = write(Full, &[Vec3::ZERO; 3], &[[0, 1, 3]]).unwrap_err();
            assert!(error.to_string().contains("triangle 0 names vertex 3"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_finite_coordinates_survive_obj(bits in proptest::array::uniform9(any::<u32>())) {
            let coordinates = bits.map(f32::from_bits);
            prop_assume!(coordinates.iter().all(|x| x.is_finite()));
            let positions: Vec<Vec3> =
                coordinates.chunks(3).map(Vec3::from_slice).collect();
            let mut bytes = Vec::new();
            write_obj(&mut bytes, &positions, &[[0, 1, 2]]).unwrap();
            let loaded = load::parse_obj(&bytes, Path::new("any.obj")).unwrap();
            prop_assert_eq!(loaded.mesh.positions, positions);
        }
    }
}
