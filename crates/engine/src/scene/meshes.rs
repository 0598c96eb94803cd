//! Makes the meshes of a scene: counted before they are made, so that no number in a file
//! can ask for more memory than [`MAX_PARTICLES`] stands for.

use std::io;
use std::path::Path as FilePath;
use std::sync::Arc;

use super::file::{Body, BodyKind, Geometry, MeshFile, MeshSource, SceneFile, Solid};
use super::path::{Finding, Path, is_blamed};
use super::sources::{make, source_path, vertex_count};
use super::validate::SOFT_WITHOUT_TETRAHEDRA;
use crate::mesh::load::{load_from, read_file};
use crate::mesh::weld::weld;
use crate::mesh::{Mesh, MeshError, Topology};

/// The most particles a scene may have: all copies of all bodies, and the vertices of shapes.
pub const MAX_PARTICLES: u64 = 1 << 24;

/// The most cells of a signed distance field along the longest side of its mesh.
pub const MAX_CELLS: u32 = 1024;

/// Where the mesh files that a scene names come from.
pub trait MeshFiles {
    /// The bytes of a file.
    ///
    /// # Errors
    /// Why there are none.
    fn read(&self, path: &FilePath) -> io::Result<Vec<u8>>;

    /// The file as it is named in messages.
    fn label(&self, path: &FilePath) -> String {
        path.display().to_string()
    }
}

/// Files of a folder on disk, and those that absolute paths name.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'path>(pub &'path FilePath);

impl MeshFiles for Folder<'_> {
    fn read(&self, path: &FilePath) -> io::Result<Vec<u8>> {
        read_file(&self.0.join(path))
    }

    fn label(&self, path: &FilePath) -> String {
        self.0.join(path).display().to_string()
    }
}

/// The meshes of a scene as far as they could be made.
#[derive(Debug)]
pub(super) struct Meshes {
    /// One for each body.
    pub(super) bodies: Vec<Option<Arc<Mesh>>>,
    /// One for each body that has an embedded surface, and could be made.
    pub(super) surfaces: Vec<Option<Arc<Mesh>>>,
    /// One for each shape; shapes that are no mesh have none.
    pub(super) shapes: Vec<Option<Arc<Mesh>>>,
    /// What a user should know although it is no error.
    pub(super) notes: Vec<String>,
}

impl Body {
    /// How many copies of the body there are.
    #[must_use]
    pub fn copies(&self) -> u128 {
        let count = self.repeat.as_ref().map_or([1; 3], |repeat| repeat.count);
        count.into_iter().map(u128::from).product()
    }
}

/// Makes all meshes but those that `findings` already complain about, and adds to these.
pub(super) fn make_meshes(
    file: &SceneFile,
    files: &dyn MeshFiles,
    findings: &mut Vec<Finding>,
) -> Meshes {
    let mut maker = Maker { files, left: MAX_PARTICLES.into(), notes: Vec::new() };
    let bodies = file.bodies.iter().enumerate().map(|(index, body)| {
        let path = Path::default().key("bodies").index(index);
        unless_blamed(&path.key("mesh"), findings, || maker.body(body, &path))
    });
    let bodies = bodies.collect();
    let surfaces = file.bodies.iter().enumerate().map(|(index, body)| {
        let path = Path::default().key("bodies").index(index).key("surface");
        let source = body.surface.as_ref()?;
        unless_blamed(&path, findings, || maker.surface(source, body.copies(), &path))
    });
    let surfaces = surfaces.collect();
    let shapes = file.shapes.iter().enumerate().map(|(index, shape)| {
        let path = Path::default().key("shapes").index(index).key("geometry").key("mesh");
        let Geometry::Mesh { source, cell, scale } = &shape.geometry else { return None };
        unless_blamed(&path, findings, || maker.shape(source, *cell, *scale, &path))
    });
    Meshes { bodies, surfaces, shapes: shapes.collect(), notes: maker.notes }
}

fn unless_blamed(
    path: &Path,
    findings: &mut Vec<Finding>,
    make: impl FnOnce() -> Result<Mesh, Finding>,
) -> Option<Arc<Mesh>> {
    if is_blamed(path, findings) {
        return None;
    }
    make().map(Arc::new).map_err(|finding| findings.push(finding)).ok()
}

struct Maker<'scene> {
    /// Where mesh files come from.
    files: &'scene dyn MeshFiles,
    /// Particles that the scene may still have.
    left: u128,
    notes: Vec<String>,
}

impl Maker<'_> {
    fn body(&mut self, body: &Body, path: &Path) -> Result<Mesh, Finding> {
        let source_path = source_path(&body.mesh, &path.key("mesh"));
        let blamed =
            if body.repeat.is_some() { &path.key("repeat").key("count") } else { &source_path };
        // Generated meshes are paid for before they are made, files when their size is known.
        let announced = vertex_count(&body.mesh);
        if let Some(particles) = announced {
            self.spend(particles, body.copies(), blamed)?;
        }
        let mut mesh = self.source(&body.mesh, &source_path)?;
        if let Some(distance) = body.weld {
            mesh = welded(&mesh, distance, &path.key("weld"))?;
        }
        if announced.is_none() {
            self.spend(mesh.positions.len() as u128, body.copies(), blamed)?;
        }
        if matches!(body.mesh, MeshSource::File(_)) {
            check_kind(body, &mesh, path)?;
        }
        Ok(mesh)
    }

    /// The surface that is drawn for a soft body. Its vertices count like particles, because
    /// frames hold them for every copy.
    fn surface(&mut self, source: &MeshSource, copies: u128, path: &Path) -> Result<Mesh, Finding> {
        let source_path = source_path(source, path);
        let announced = vertex_count(source);
        if let Some(vertices) = announced {
            self.spend(vertices, copies, &source_path)?;
        }
        let mesh = self.source(source, &source_path)?;
        if announced.is_none() {
            self.spend(mesh.positions.len() as u128, copies, &source_path)?;
        }
        Ok(mesh)
    }

    fn shape(
        &mut self,
        source: &MeshSource,
        cell: Option<f32>,
        scale: f32,
        path: &Path,
    ) -> Result<Mesh, Finding> {
        let source_path = source_path(source, &path.key("source"));
        if let Some(particles) = vertex_count(source) {
            self.spend(particles, 1, &source_path)?;
        }
        let mut mesh = self.source(source, &source_path)?;
        mesh.scale(scale);
        check_closed(&mesh, &source_path)?;
        check_cells(&mesh, cell, path)?;
        if mesh.volume() < 0.0 {
            mesh.flip();
            self.notes.push(format!("{source_path}: the mesh was inside out and has been turned"));
        }
        Ok(mesh)
    }

    fn spend(&mut self, particles: u128, copies: u128, path: &Path) -> Result<(), Finding> {
        if let Some(left) = self.left.checked_sub(particles.saturating_mul(copies)) {
            self.left = left;
            return Ok(());
        }
        let times = if copies > 1 { format!("{copies} times ") } else { String::new() };
        let spent = u128::from(MAX_PARTICLES) - self.left;
        let before = if spent > 0 { format!(" after {spent}") } else { String::new() };
        let message = format!(
            "makes {times}{particles} particles{before}; a scene may have {MAX_PARTICLES}, \
             give fewer"
        );
        Err(Finding::new(path, message))
    }

    fn source(&mut self, source: &MeshSource, path: &Path) -> Result<Mesh, Finding> {
        let surface = match source {
            MeshSource::Solid(Solid { surface: Some(surface), .. }) => {
                let path = source_path(surface, &path.key("surface"));
                let mesh = self.source(surface, &path)?;
                check_closed(&mesh, &path)?;
                Some(mesh)
            }
            _ => None,
        };
        let made = make(source, surface.as_ref(), |file| self.loaded(file));
        made.map_err(|error| match error {
            MeshError::Unreadable { .. } => {
                Finding::new(path, format!("{error}; give a path relative to the scene's folder"))
            }
            MeshError::LatticeTooFine { .. }
            | MeshError::CellTooSmall { .. }
            | MeshError::NothingInside { .. } => Finding::new(&path.key("cell"), error.to_string()),
            _ => Finding::new(path, error.to_string()),
        })
    }

    fn loaded(&mut self, file: &MeshFile) -> Result<Mesh, MeshError> {
        let named = FilePath::new(&file.path);
        let place = self.files.label(named);
        // Messages name the file where it is; it is read by the name that the scene gives it, but for
        // its ending: TetGen's files come in pairs.
        let loaded = load_from(FilePath::new(&place), |path| match path.extension() {
            Some(ending) => self.files.read(&named.with_extension(ending)),
            None => self.files.read(named),
        })?;
        self.notes.extend(loaded.notes.iter().map(|note| format!("{place}: {note}")));
        Ok(loaded.mesh)
    }
}

fn welded(mesh: &Mesh, distance: f32, path: &Path) -> Result<Mesh, Finding> {
    let welded = weld(mesh, distance).map_err(|error| Finding::new(path, error.to_string()))?;
    if welded.mesh.triangles.is_empty() {
        let message = format!("is {distance}, which welds every triangle away; give less");
        return Err(Finding::new(path, message));
    }
    Ok(welded.mesh)
}

/// Cloth is made of triangles, soft bodies of tetrahedra; a file may have either.
fn check_kind(body: &Body, mesh: &Mesh, path: &Path) -> Result<(), Finding> {
    let message = match (body.kind, mesh.tetrahedra.is_empty()) {
        (BodyKind::Cloth, false) => {
            "is \"cloth\", but the mesh is a solid of tetrahedra; give kind = \"soft\""
        }
        (BodyKind::Soft, true) => SOFT_WITHOUT_TETRAHEDRA,
        _ => return Ok(()),
    };
    Err(Finding::new(&path.key("kind"), message))
}

/// Only a closed surface, wound one way, has an inside.
fn check_closed(mesh: &Mesh, path: &Path) -> Result<(), Finding> {
    let topology = Topology::new(mesh).map_err(|error| Finding::new(path, error.to_string()))?;
    if !topology.is_closed() {
        let (open, forked) = (topology.boundary_edges.len(), topology.non_manifold_edges.len());
        let message = format!(
            "encloses no space: {open} edges have one triangle and {forked} have more than two; \
             give a closed mesh"
        );
        return Err(Finding::new(path, message));
    }
    if !topology.is_oriented() {
        let flipped = topology.flipped_edges.len();
        let message = format!(
            "has no clear inside: at {flipped} edges two triangles run the same way; \
             wind all triangles alike"
        );
        return Err(Finding::new(path, message));
    }
    if mesh.volume().abs() > 0.0 {
        Ok(())
    } else {
        Err(Finding::new(path, "is flat: it encloses no volume; give a solid mesh"))
    }
}

fn check_cells(mesh: &Mesh, cell: Option<f32>, path: &Path) -> Result<(), Finding> {
    let longest = mesh.bounds().map_or(0.0, |bounds| bounds.size().max_element());
    match cell {
        Some(cell) if longest / cell > MAX_CELLS as f32 => {
            let least = longest / MAX_CELLS as f32;
            let message = format!(
                "is {cell}, which makes more than {MAX_CELLS} cells along {longest} m; \
                 give {least} or more"
            );
            Err(Finding::new(&path.key("cell"), message))
        }
        _ => Ok(()),
    }
}
