//! Checks that need meshes: every selection finds particles, attachments find as many on both
//! sides, and bodies start where single precision can tell particles apart.

use glam::Vec3;

use super::describe::list;
use super::file::*;
use super::meshes::Meshes;
use super::path::{Finding, Path, is_blamed};
use super::place::{instances, start_positions};
use super::select::select_in_order;
use super::suggest::nearest;
use crate::mesh::{Bounds, Mesh, Topology};

/// The farthest from the origin that a particle may start, m. Single precision steps by 6 cm there.
pub const MAX_COORDINATE: f32 = 1e6;

/// Checks pins, attachments and start positions of all bodies whose mesh could be made.
pub(super) fn check_particles(file: &SceneFile, meshes: &Meshes, findings: &mut Vec<Finding>) {
    for (index, (body, mesh)) in file.bodies.iter().zip(&meshes.bodies).enumerate() {
        let path = Path::default().key("bodies").index(index);
        let Some(mesh) = mesh else { continue };
        if let Err(finding) = check_reach(body, mesh, &path) {
            findings.push(finding);
            continue;
        }
        if body.elements.balloon.is_some() {
            let path = path.key("elements").key("balloon");
            findings.extend(check_closed(mesh).map(|problem| Finding::new(&path, problem)));
        }
        for (index, pin) in body.pins.iter().enumerate() {
            count(pin, body, mesh, &path.key("pins").index(index), findings);
        }
    }
    for (index, attachment) in file.attachments.iter().enumerate() {
        let path = Path::default().key("attachments").index(index);
        check_attachment(attachment, file, meshes, &path, findings);
    }
}

/// What keeps a surface from enclosing a volume.
fn check_closed(mesh: &Mesh) -> Option<String> {
    // A mesh without topology has been complained about already.
    let topology = Topology::new(mesh).ok()?;
    let [open, crowded, flipped] =
        [&topology.boundary_edges, &topology.non_manifold_edges, &topology.flipped_edges]
            .map(Vec::len);
    let problem = if open > 0 {
        format!("{open} edges have a triangle on one side only")
    } else if crowded > 0 {
        format!("{crowded} edges have more than two triangles")
    } else if flipped > 0 {
        format!("the triangles at {flipped} edges do not agree on what is outside")
    } else if mesh.volume().abs() <= f64::from(f32::MIN_POSITIVE) {
        "it encloses nothing".to_owned()
    } else {
        return None;
    };
    Some(format!("needs a closed surface, but {problem}; close the mesh, for example with `weld`"))
}

/// Holds for every copy if it holds for the outermost ones.
fn check_reach(body: &Body, mesh: &Mesh, path: &Path) -> Result<(), Finding> {
    let corner =
        mesh.bounds().map_or(0.0, |bounds| bounds.min.abs().max(bounds.max.abs()).length());
    let stretch =
        body.deform.map_or(1.0, |factors| 2.0 * Vec3::from(factors).max_element().max(1.0));
    let copies = body.repeat.as_ref().map_or(Vec3::ZERO, |repeat| {
        let last = Vec3::from_array(repeat.count.map(|count| (count - 1) as f32));
        (last * Vec3::from(repeat.spacing)).abs() + Vec3::splat(repeat.jitter)
    });
    let place = Vec3::from(body.transform.position).abs() + copies;
    let reach = place.max_element() + corner * stretch * body.transform.scale;
    if reach <= MAX_COORDINATE {
        return Ok(());
    }
    let message = format!(
        "reaches {reach:e} m from the origin; keep within {MAX_COORDINATE:e} m, where single \
         precision can still tell particles apart"
    );
    Err(Finding::new(path, message))
}

fn check_attachment(
    attachment: &Attachment,
    file: &SceneFile,
    meshes: &Meshes,
    path: &Path,
    findings: &mut Vec<Finding>,
) {
    let mut count = |name: &str, selection: &Selection, path: &Path| {
        let (body, mesh) = find_body(name, file, meshes)?;
        count(selection, body, mesh, path, findings)
    };
    let own = count(&attachment.body, &attachment.particles, &path.key("particles"));
    let Target::Body { name, particles } = &attachment.to else { return };
    let others = count(name, particles, &path.key("to").key("body").key("particles"));
    if let (Some(own), Some(others)) = (own, others)
        && own != others
    {
        let message = format!(
            "ties {own} particles of {:?} to {others} of {name:?}; select as many on both sides",
            attachment.body
        );
        findings.push(Finding::new(path, message));
    }
}

fn find_body<'scene>(
    name: &str,
    file: &'scene SceneFile,
    meshes: &'scene Meshes,
) -> Option<(&'scene Body, &'scene Mesh)> {
    let index = file.bodies.iter().position(|body| body.name == name)?;
    let mesh = meshes.bodies.get(index)?.as_deref()?;
    Some((&file.bodies[index], mesh))
}

/// How many particles a selection finds, unless something is wrong with it.
fn count(
    selection: &Selection,
    body: &Body,
    mesh: &Mesh,
    path: &Path,
    findings: &mut Vec<Finding>,
) -> Option<usize> {
    if is_blamed(path, findings) {
        return None;
    }
    count_selected(selection, body, mesh, path).map_err(|finding| findings.push(finding)).ok()
}

/// How many particles of all copies a selection finds, which must be some.
fn count_selected(
    selection: &Selection,
    body: &Body,
    mesh: &Mesh,
    path: &Path,
) -> Result<usize, Finding> {
    check_indices(selection, mesh, path)?;
    check_group(selection, mesh, path)?;
    let in_copy = |positions: &[Vec3]| select_in_order(selection, mesh, positions).len();
    let count = match selection.region {
        None => in_copy(&[]).saturating_mul(usize::try_from(body.copies()).unwrap_or(usize::MAX)),
        Some(_) => {
            instances(body).map(|instance| in_copy(&start_positions(body, mesh, &instance))).sum()
        }
    };
    if count == 0 {
        Err(Finding::new(path, nothing_selected(selection, body, mesh)))
    } else {
        Ok(count)
    }
}

fn check_indices(selection: &Selection, mesh: &Mesh, path: &Path) -> Result<(), Finding> {
    let particles = mesh.positions.len();
    let mut indices = selection.indices.iter().flatten().enumerate();
    match indices.find(|&(_, &index)| index as usize >= particles) {
        None => Ok(()),
        Some((position, index)) => {
            let message = format!(
                "is {index}; give a number from 0 to {}, the body's last particle",
                particles.saturating_sub(1)
            );
            Err(Finding::new(&path.key("indices").index(position), message))
        }
    }
}

fn check_group(selection: &Selection, mesh: &Mesh, path: &Path) -> Result<(), Finding> {
    let Some(group) = &selection.group else { return Ok(()) };
    if mesh.groups.contains_key(group) {
        return Ok(());
    }
    let advice = match nearest(group, mesh.groups.keys().map(String::as_str)) {
        Some(near) => format!("did you mean {near:?}?"),
        None if mesh.groups.is_empty() => "it has none".to_owned(),
        None => format!("it has {}", list(mesh.groups.keys().map(String::as_str))),
    };
    Err(Finding::new(
        &path.key("group"),
        format!("is {group:?}, which is no group of the mesh; {advice}"),
    ))
}

fn nothing_selected(selection: &Selection, body: &Body, mesh: &Mesh) -> String {
    let starts = || {
        instances(body).filter_map(|instance| Bounds::of(&start_positions(body, mesh, &instance)))
    };
    let together =
        |all: Bounds, one: Bounds| Bounds { min: all.min.min(one.min), max: all.max.max(one.max) };
    match starts().reduce(together) {
        Some(Bounds { min, max }) if selection.region.is_some() => {
            format!("selects no particle; the body starts between {min} and {max}")
        }
        _ => "selects no particle; loosen its conditions".to_owned(),
    }
}
