//! Makes the meshes of a scene: counted before they are made, so that no number in a file
//! can ask for more memory than [`MAX_PARTICLES`] stands for.

use std::path::Path as FilePath;
use std::sync::Arc;

use super::file::*;
use super::path::{Finding, Path, is_blamed};
use crate::mesh::{Mesh, MeshError, Topology, generate};

/// The most particles a scene may have, all copies of all bodies together.
pub const MAX_PARTICLES: u64 = 1 << 24;

/// The most cells of a signed distance field along the longest side of its mesh.
pub const MAX_CELLS: u32 = 1024;

/// The meshes of a scene as far as they could be made.
#[derive(Debug, Default)]
pub(super) struct Meshes {
    /// One for each body.
    pub(super) bodies: Vec<Option<Arc<Mesh>>>,
    /// One for each shape; shapes that are no mesh have none.
    pub(super) shapes: Vec<Option<Arc<Mesh>>>,
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
    directory: &FilePath,
    findings: &mut Vec<Finding>,
) -> Meshes {
    let mut budget = Budget { left: MAX_PARTICLES.into() };
    let mut meshes = Meshes::default();
    for (index, body) in file.bodies.iter().enumerate() {
        let path = Path::default().key("bodies").index(index);
        let mesh = unless_blamed(&path.key("mesh"), findings, || {
            make_body(body, directory, &mut budget, &path)
        });
        meshes.bodies.push(mesh.map(Arc::new));
    }
    for (index, shape) in file.shapes.iter().enumerate() {
        let path = Path::default().key("shapes").index(index).key("geometry").key("mesh");
        let mesh = match &shape.geometry {
            Geometry::Mesh { source, cell, scale } => unless_blamed(&path, findings, || {
                make_shape(source, *cell, *scale, directory, &path)
            }),
            _ => None,
        };
        meshes.shapes.push(mesh.map(Arc::new));
    }
    meshes
}

fn unless_blamed(
    path: &Path,
    findings: &mut Vec<Finding>,
    make: impl FnOnce() -> Result<Mesh, Finding>,
) -> Option<Mesh> {
    if is_blamed(path, findings) {
        return None;
    }
    make().map_err(|finding| findings.push(finding)).ok()
}

/// Particles that the scene may still have.
struct Budget {
    left: u128,
}

impl Budget {
    fn spend(&mut self, particles: u128, copies: u128, path: &Path) -> Result<(), Finding> {
        if let Some(left) = self.left.checked_sub(particles.saturating_mul(copies)) {
            self.left = left;
            return Ok(());
        }
        let times = if copies > 1 { format!("{copies} times ") } else { String::new() };
        let spent = u128::from(MAX_PARTICLES) - self.left;
        let before = if spent > 0 { format!(" after {spent}") } else { String::new() };
        let message = format!(
            "makes {times}{particles} particles{before}; a scene may have {MAX_PARTICLES}, give fewer"
        );
        Err(Finding::new(path, message))
    }
}

fn make_body(
    body: &Body,
    directory: &FilePath,
    budget: &mut Budget,
    path: &Path,
) -> Result<Mesh, Finding> {
    let source_path = source_path(&body.mesh, &path.key("mesh"));
    let blamed =
        if body.repeat.is_some() { &path.key("repeat").key("count") } else { &source_path };
    // Generated meshes are paid for before they are made, files when their size is known.
    let expected = vertex_count(&body.mesh);
    if let Some(particles) = expected {
        budget.spend(particles, body.copies(), blamed)?;
    }
    let mesh = make_source(&body.mesh, directory, &source_path)?;
    if expected.is_none() {
        budget.spend(mesh.positions.len() as u128, body.copies(), blamed)?;
    }
    Ok(mesh)
}

fn make_shape(
    source: &MeshSource,
    cell: Option<f32>,
    scale: f32,
    directory: &FilePath,
    path: &Path,
) -> Result<Mesh, Finding> {
    let source_path = source_path(source, &path.key("source"));
    if let Some(particles) = vertex_count(source) {
        Budget { left: MAX_PARTICLES.into() }.spend(particles, 1, &source_path)?;
    }
    let mut mesh = make_source(source, directory, &source_path)?;
    mesh.scale(scale);
    check_closed(&mesh, &source_path)?;
    check_cells(&mesh, cell, path)?;
    Ok(mesh)
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
    Ok(())
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

/// How many vertices a generator will make; `None` for files.
fn vertex_count(source: &MeshSource) -> Option<u128> {
    let product = |numbers: &[u32], more: u128| {
        numbers.iter().map(|&number| u128::from(number) + more).product::<u128>()
    };
    Some(match source {
        MeshSource::Grid(grid) => product(&grid.particles, 0),
        MeshSource::Disc(disc) => 1 + 3 * u128::from(disc.rings) * (u128::from(disc.rings) + 1),
        MeshSource::Sphere(sphere) => 2 + 10 * u128::from(sphere.subdivisions).pow(2),
        MeshSource::Tube(tube) => product(&[tube.around, tube.along], 0),
        MeshSource::Torus(torus) => product(&[torus.around, torus.tube_around], 0),
        MeshSource::Box(surface) => {
            let inside = surface.cells.map(|cells| cells.saturating_sub(1));
            product(&surface.cells, 1).saturating_sub(product(&inside, 0))
        }
        MeshSource::Block(block) => product(&block.cells, 1),
        MeshSource::File(_) => return None,
    })
}

/// `mesh.grid` for a grid, and so on; for a file, its path.
fn source_path(source: &MeshSource, path: &Path) -> Path {
    match source {
        MeshSource::Grid(_) => path.key("grid"),
        MeshSource::Disc(_) => path.key("disc"),
        MeshSource::Sphere(_) => path.key("sphere"),
        MeshSource::Tube(_) => path.key("tube"),
        MeshSource::Torus(_) => path.key("torus"),
        MeshSource::Box(_) => path.key("box"),
        MeshSource::Block(_) => path.key("block"),
        MeshSource::File(_) => path.key("file").key("path"),
    }
}

fn make_source(source: &MeshSource, directory: &FilePath, path: &Path) -> Result<Mesh, Finding> {
    let made: Result<Mesh, MeshError> = match source {
        MeshSource::Grid(grid) => {
            generate::grid(grid.particles, grid.size, diagonals(grid.diagonals), grid.seed)
        }
        MeshSource::Disc(disc) => generate::disc(disc.radius, disc.rings),
        MeshSource::Sphere(sphere) => generate::sphere(sphere.radius, sphere.subdivisions),
        MeshSource::Tube(tube) => generate::tube(tube.radius, tube.length, tube.around, tube.along),
        MeshSource::Torus(torus) => {
            generate::torus(torus.radius, torus.tube_radius, torus.around, torus.tube_around)
        }
        MeshSource::Box(surface) => generate::box_surface(surface.size, surface.cells),
        MeshSource::Block(block) => generate::block(block.size, block.cells),
        MeshSource::File(file) => {
            let path_in_messages = directory.join(&file.path);
            return Err(Finding::new(
                path,
                format!("{}: mesh files cannot be read yet", path_in_messages.display()),
            ));
        }
    };
    made.map_err(|error| Finding::new(path, error.to_string()))
}

fn diagonals(diagonals: Diagonals) -> generate::Diagonals {
    match diagonals {
        Diagonals::Regular => generate::Diagonals::Regular,
        Diagonals::Alternating => generate::Diagonals::Alternating,
        Diagonals::Random => generate::Diagonals::Random,
    }
}
