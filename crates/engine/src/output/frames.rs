//! Meshes on disk: the state at the end, or a sequence of frames. The file's ending decides the
//! format. Every file is written beside its place and then renamed, so that nobody ever finds half
//! of one.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use glam::Vec3;
use thiserror::Error;

use crate::mesh::write::{write_obj, write_ply};
use crate::simulation::Simulation;

/// Formats that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFormat {
    /// Wavefront OBJ, text.
    Obj,
    /// Stanford PLY, binary.
    Ply,
}

/// A file that cannot be written.
#[derive(Debug, Error)]
pub enum FrameError {
    /// An ending that stands for no format.
    #[error("{}: cannot tell the format from the ending; use .obj or .ply", path.display())]
    UnknownEnding {
        /// The path.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

/// Writes the frames of a simulation.
#[derive(Clone, Debug)]
pub struct FrameWriter {
    path: PathBuf,
    format: FrameFormat,
    every: Option<u64>,
}

impl FrameWriter {
    /// A writer for one path. With `every`, or with a run of `#` in the file's name, it writes a
    /// sequence, numbered where the `#` stand or else before the ending; without, one file.
    pub fn new(path: &Path, every: Option<u64>) -> Result<Self, FrameError> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let format = match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("obj") => FrameFormat::Obj,
            Some("ply") => FrameFormat::Ply,
            _ => return Err(FrameError::UnknownEnding { path: path.to_owned() }),
        };
        let numbered = path.file_name().is_some_and(|name| name.to_string_lossy().contains('#'));
        Ok(Self { path: path.to_owned(), format, every: every.or(numbered.then_some(1)) })
    }

    /// Whether a frame is due after this many steps, of `last` in all.
    pub fn is_due(&self, steps: u64, last: bool) -> bool {
        match self.every {
            Some(every) => steps.is_multiple_of(every.max(1)),
            None => last,
        }
    }

    /// Writes the present state.
    pub fn write(&self, simulation: &Simulation) -> Result<PathBuf, FrameError> {
        let path = match self.every {
            Some(every) => numbered(&self.path, simulation.steps() / every.max(1)),
            None => self.path.clone(),
        };
        let (positions, triangles) = surface(simulation);
        write_beside(&path, |file| match self.format {
            FrameFormat::Obj => write_obj(file, &positions, &triangles),
            FrameFormat::Ply => write_ply(file, &positions, &triangles),
        })
        .map_err(|error| FrameError::Io { path: path.clone(), error })?;
        Ok(path)
    }
}

/// What is drawn: the particles and triangles of all bodies, body after body. A body with an
/// embedded surface has the vertices and triangles of that instead of its own.
#[must_use]
pub fn surface(simulation: &Simulation) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let model = simulation.model();
    let particles: Vec<Vec3> =
        simulation.positions().iter().map(|&[x, y, z, _]| Vec3::new(x, y, z)).collect();
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for body in &model.bodies {
        let first = positions.len() as u32;
        let own = &particles[body.particles.clone()];
        let corners = match &body.surface {
            Some(surface) => {
                positions.extend(surface.place(own));
                surface.triangles()
            }
            None => {
                positions.extend(own);
                &body.mesh.triangles
            }
        };
        triangles.extend(corners.iter().map(|triangle| triangle.map(|corner| corner + first)));
    }
    (positions, triangles)
}

/// Puts a frame's number in place of the `#` in a file's name, or before its ending.
#[must_use]
pub fn numbered(path: &Path, frame: u64) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = match (name.find('#'), name.rfind('.')) {
        (Some(start), _) => {
            let width = name[start..].chars().take_while(|&c| c == '#').count();
            format!("{}{frame:0width$}{}", &name[..start], &name[start + width..])
        }
        (None, Some(dot)) => format!("{}-{frame:04}{}", &name[..dot], &name[dot..]),
        (None, None) => format!("{name}-{frame:04}"),
    };
    path.with_file_name(name)
}

/// Writes a file under another name in the same folder and renames it when it is complete.
pub fn write_beside(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".partial");
    let beside = path.with_file_name(name);
    let result = File::create(&beside).and_then(|file| {
        let mut writer = BufWriter::new(file);
        write(&mut writer)?;
        writer.flush()?;
        fs::rename(&beside, path)
    });
    if result.is_err() {
        // Best effort: the error that matters is the one above.
        let _ = fs::remove_file(&beside);
    }
    result
}

#[cfg(test)]
mod tests {
    //! Contract: numbers go where they belong, endings decide, and a failed write leaves nothing.

    use super::*;

    #[test]
    fn frames_are_numbered_at_the_marks_or_before_the_ending() {
        assert_eq!(numbered(Path::new("a/b-###.obj"), 7), Path::new("a/b-007.obj"));
        assert_eq!(numbered(Path::new("b.ply"), 12345), Path::new("b-12345.ply"));
    }

    #[test]
    fn endings_decide_and_marks_make_a_sequence() {
        let writer = |path: &str, every| FrameWriter::new(Path::new(path), every);
        assert_eq!(writer("x.OBJ", None).unwrap().format, FrameFormat::Obj);
        assert!(writer("x.png", None).is_err() && writer("x", None).is_err());
        let single = writer("x.ply", None).unwrap();
        assert!(!single.is_due(5, false) && single.is_due(6, true));
        let sequence = writer("x##.ply", None).unwrap();
        assert!(sequence.is_due(5, false));
        let sparse = writer("x.ply", Some(10)).unwrap();
        assert!(sparse.is_due(20, false) && !sparse.is_due(21, true));
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.obj");
        write_beside(&path, |file| file.write_all(b"old")).unwrap();
        let failed = write_beside(&path, |file| {
            file.write_all(b"new")?;
            Err(io::Error::other("disk full"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_body_with_an_embedded_surface_is_drawn_as_that() {
        let text = r#"
            [[bodies]]
            name = "cloth"
            mesh.grid = { particles = [3, 3], size = [1, 1] }
            elements.stretch = { stiffness = 1 }

            [[bodies]]
            name = "jelly"
            kind = "soft"
            mesh.block = { size = [1, 1, 1], cells = [2, 2, 2] }
            surface.sphere = { radius = 0.6, subdivisions = 3 }
            transform = { position = [5, 0, 0], scale = 2 }
            elements.volume = { stiffness = 1 }
            repeat = { count = [2, 1, 1], spacing = [3, 0, 0] }
        "#;
        let scene = crate::scene::Scene::parse("test", text, Path::new(""), &[]).unwrap();
        let simulation = Simulation::new(&scene, crate::simulation::BackendChoice::Serial).unwrap();
        let (positions, triangles) = surface(&simulation);
        assert_eq!(positions.len(), 9 + 2 * 92);
        assert_eq!(triangles.len(), 8 + 2 * 180);
        for (number, place) in positions[9..].iter().enumerate() {
            let center = Vec3::X * if number < 92 { 5.0 } else { 8.0 };
            assert!((place.distance(center) - 1.2).abs() < 1e-5, "{place}");
        }
        assert!(triangles[8 + 180..].as_flattened().iter().all(|&corner| corner >= 9 + 92));
    }
}
