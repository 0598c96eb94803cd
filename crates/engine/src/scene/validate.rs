//! What a schema cannot say about a scene: keys that belong together, names that must exist,
//! numbers that depend on each other. What needs meshes is in
//! `meshes.rs` and `particles.rs`.

use std::collections::BTreeSet;

use super::describe::list;
use super::file::*;
use super::path::{Finding, Path};
use super::prune::Lost;
use super::suggest::{nearest, remedy};

/// The kinds of constraints that `elements` can ask for.
pub const ELEMENT_KINDS: &[&str] = &[
    "stretch",
    "bend",
    "bend-distance",
    "strain",
    "volume",
    "neo-hookean",
    "long-range",
    "balloon",
];

/// The kind of constraint that `attachments` make.
pub const ATTACHMENT_KIND: &str = "attachment";

/// Everything that is wrong with a scene of sound structure.
pub(super) fn validate(file: &SceneFile, lost: &Lost) -> Vec<Finding> {
    let mut findings = Vec::new();
    let root = Path::default();
    if file.bodies.is_empty() && lost.bodies.is_empty() {
        findings.push(Finding::new(
            &root.key("bodies"),
            "is missing or empty; give at least one [[bodies]] table",
        ));
    }
    check_partition(&file.partition, &root.key("partition"), &mut findings);
    check_names(file, &mut findings);
    for (index, body) in file.bodies.iter().enumerate() {
        check_body(body, &root.key("bodies").index(index), &mut findings);
    }
    for (index, shape) in file.shapes.iter().enumerate() {
        check_shape(shape, &root.key("shapes").index(index), &mut findings);
    }
    for (index, attachment) in file.attachments.iter().enumerate() {
        let path = root.key("attachments").index(index);
        check_attachment(attachment, file, lost, &path, &mut findings);
    }
    if file.camera.as_ref().is_some_and(|camera| camera.eye == camera.target) {
        let message = "is the same as `target`; give a place from which it can be seen";
        findings.push(Finding::new(&root.key("camera").key("eye"), message));
    }
    check_expect(file, lost, &root.key("expect"), &mut findings);
    findings
}

impl Elements {
    /// The names of the kinds that are asked for, in the order of [`ELEMENT_KINDS`].
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        let is_asked_for = [
            self.stretch.is_some(),
            self.bend.is_some(),
            self.bend_distance.is_some(),
            self.strain.is_some(),
            self.volume.is_some(),
            self.neo_hookean.is_some(),
            self.long_range.is_some(),
            self.balloon.is_some(),
        ];
        let kinds = ELEMENT_KINDS.iter().copied().zip(is_asked_for);
        kinds.filter_map(|(kind, is_asked_for)| is_asked_for.then_some(kind))
    }
}

/// Names are unique among bodies and shapes together: pictures and reports show both.
fn check_names(file: &SceneFile, findings: &mut Vec<Finding>) {
    let bodies = file.bodies.iter().map(|body| ("bodies", &body.name)).enumerate();
    let shapes = file.shapes.iter().map(|shape| ("shapes", &shape.name)).enumerate();
    let mut taken = BTreeSet::new();
    for (index, (array, name)) in bodies.chain(shapes) {
        if !taken.insert(name) {
            let path = Path::default().key(array).index(index).key("name");
            let message = format!("is {name:?}, which is taken; give a name of its own");
            findings.push(Finding::new(&path, message));
        }
    }
}

fn check_partition(partition: &Partition, path: &Path, findings: &mut Vec<Finding>) {
    if partition.subsets.is_some() && partition.subset_size.is_some() {
        let message = "is given beside `subsets`; give one of them";
        findings.push(Finding::new(&path.key("subset-size"), message));
    }
}

fn check_body(body: &Body, path: &Path, findings: &mut Vec<Finding>) {
    if body.density.is_some() && body.mass.is_some() {
        findings
            .push(Finding::new(&path.key("mass"), "is given beside `density`; give one of them"));
    }
    check_mesh_source(&body.mesh, &path.key("mesh"), findings);
    if let Some(surface) = &body.surface {
        check_mesh_source(surface, &path.key("surface"), findings);
    }
    check_solid(body, path, findings);
    for (index, pin) in body.pins.iter().enumerate() {
        check_selection(pin, &path.key("pins").index(index), findings);
    }
    if body.warp == [0.0; 3] {
        let message = "is no direction; give one, for example [1, 0, 0]";
        findings.push(Finding::new(&path.key("warp"), message));
    }
    check_elements(body, &path.key("elements"), findings);
}

fn check_elements(body: &Body, path: &Path, findings: &mut Vec<Finding>) {
    let Elements { stretch, bend, bend_distance, strain, volume, .. } = &body.elements;
    let Elements { long_range, balloon, .. } = &body.elements;
    let materials = [
        ("stretch", stretch),
        ("bend", bend),
        ("bend-distance", bend_distance),
        ("volume", volume),
    ];
    for (kind, material) in materials {
        if let Some(material) = material {
            check_element_material(material, &path.key(kind), findings);
        }
    }
    if let Some(BalloonMaterial { stiffness, compliance, .. }) = balloon {
        check_material(*stiffness, *compliance, &path.key("balloon"), findings);
    }
    if let Some(strain) = strain {
        check_strain(strain, &path.key("strain"), findings);
    }
    if let Some(Reach { stiffness, compliance, .. }) = long_range {
        let path = path.key("long-range");
        check_material(*stiffness, *compliance, &path, findings);
        if body.pins.is_empty() {
            let message = "needs pinned particles to hold on to; give `pins` or remove it";
            findings.push(Finding::new(&path, message));
        }
    }
}

/// A constraint or a spring.
fn check_element_material(material: &Material, path: &Path, findings: &mut Vec<Finding>) {
    let Material { stiffness, compliance, spring, damping } = *material;
    if spring.is_none() {
        check_material(stiffness, compliance, path, findings);
        check_damping(damping, "`spring`", path, findings);
    } else if stiffness.is_some() || compliance.is_some() {
        let message = "has `spring` beside `stiffness` or `compliance`; give one of them";
        findings.push(Finding::new(path, message));
    }
}

/// Damping that would be ignored.
fn check_damping(damping: f32, needs: &str, path: &Path, findings: &mut Vec<Finding>) {
    if damping != 0.0 {
        let message = format!("damps forces, but there are none; give {needs} or remove it");
        findings.push(Finding::new(&path.key("damping"), message));
    }
}

fn check_strain(material: &StrainMaterial, path: &Path, findings: &mut Vec<Finding>) {
    let moduli = [material.warp, material.weft, material.shear];
    let given = moduli.iter().flatten().count();
    let problem = match (material.stiffness, given) {
        (Some(_), 0) | (None, 3) => {
            if material.stiffness.is_some() && material.forces {
                let message =
                    "needs moduli; give `warp`, `weft` and `shear` instead of `stiffness`";
                findings.push(Finding::new(&path.key("forces"), message));
            } else if !material.forces {
                check_damping(material.damping, "`forces = true`", path, findings);
            }
            return;
        }
        (Some(_), _) => "has `stiffness` beside moduli; give one or the others",
        (None, _) => {
            "gives no `stiffness` and not all of `warp`, `weft` and `shear`; give it or them"
        }
    };
    findings.push(Finding::new(path, problem));
}

/// For a soft body whose mesh is a surface.
pub(super) const SOFT_WITHOUT_TETRAHEDRA: &str = "is \"soft\", but the mesh has no tetrahedra; give `mesh.block` or `mesh.solid`, or kind = \"cloth\"";

/// Cloth is made of triangles, soft bodies of tetrahedra. What files are made of shows when
/// they are loaded.
fn check_solid(body: &Body, path: &Path, findings: &mut Vec<Finding>) {
    let kind = path.key("kind");
    match (body.kind, &body.mesh) {
        (BodyKind::Cloth, MeshSource::Block(_)) => {
            let message = "is \"cloth\", but `mesh.block` is a solid; give kind = \"soft\", or \
                           `mesh.box` for its surface";
            findings.push(Finding::new(&kind, message));
        }
        (BodyKind::Cloth, MeshSource::Solid(_)) => {
            let message = "is \"cloth\", but `mesh.solid` is a solid; give kind = \"soft\"";
            findings.push(Finding::new(&kind, message));
        }
        (BodyKind::Soft, MeshSource::Block(_) | MeshSource::Solid(_) | MeshSource::File(_)) => {}
        (BodyKind::Soft, _) => findings.push(Finding::new(&kind, SOFT_WITHOUT_TETRAHEDRA)),
        (BodyKind::Cloth, _) => check_cloth(body, path, findings),
    }
}

/// What only soft bodies can have.
fn check_cloth(body: &Body, path: &Path, findings: &mut Vec<Finding>) {
    let solid = [
        ("volume", body.elements.volume.is_some()),
        ("neo-hookean", body.elements.neo_hookean.is_some()),
    ];
    for (kind, _) in solid.into_iter().filter(|(_, is_given)| *is_given) {
        let message = "needs tetrahedra, but the body is cloth; remove it or give kind = \"soft\"";
        findings.push(Finding::new(&path.key("elements").key(kind), message));
    }
    if body.surface.is_some() {
        let message =
            "needs tetrahedra to follow, but the body is cloth; remove it or give kind = \"soft\"";
        findings.push(Finding::new(&path.key("surface"), message));
    }
}

fn check_mesh_source(source: &MeshSource, path: &Path, findings: &mut Vec<Finding>) {
    match source {
        MeshSource::Torus(torus) => {
            check_torus(torus.radius, torus.tube_radius, &path.key("torus"), findings);
        }
        MeshSource::Solid(solid) => check_parts(solid, &path.key("solid"), findings),
        _ => {}
    }
}

/// A solid has forms or a surface.
fn check_parts(solid: &Solid, path: &Path, findings: &mut Vec<Finding>) {
    match (&solid.surface, solid.parts.is_empty()) {
        (None, true) => {
            let message = "has neither `parts` nor `surface`; give one of them";
            findings.push(Finding::new(path, message));
        }
        (Some(_), false) => {
            let message = "is given beside `parts`; give one of them";
            findings.push(Finding::new(&path.key("surface"), message));
        }
        (Some(surface), true) => check_mesh_source(surface, &path.key("surface"), findings),
        (None, false) => {}
    }
    for (index, part) in solid.parts.iter().enumerate() {
        if let Part::Torus { radius, tube_radius, .. } = part {
            let path = path.key("parts").index(index).key("torus");
            check_torus(*radius, *tube_radius, &path, findings);
        }
    }
}

/// A tube thicker than its ring would pass through itself.
fn check_torus(radius: f32, tube_radius: f32, path: &Path, findings: &mut Vec<Finding>) {
    if tube_radius >= radius {
        let message = format!("is {tube_radius}; give a number below `radius`, which is {radius}");
        findings.push(Finding::new(&path.key("tube-radius"), message));
    }
}

fn check_material(
    stiffness: Option<f32>,
    compliance: Option<f32>,
    path: &Path,
    findings: &mut Vec<Finding>,
) {
    let problem = match (stiffness, compliance) {
        (Some(_), Some(_)) => "has both `stiffness` and `compliance`; give one of them",
        (None, None) => {
            "has neither `stiffness` nor `compliance`; give one, for example compliance = 0"
        }
        _ => return,
    };
    findings.push(Finding::new(path, problem));
}

fn check_selection(selection: &Selection, path: &Path, findings: &mut Vec<Finding>) {
    if selection.indices.is_none() && selection.group.is_none() && selection.region.is_none() {
        findings
            .push(Finding::new(path, "names no particles; give `indices`, `group` or `region`"));
    }
    if let Some(Region::Box { min, max }) = &selection.region {
        check_corners(*min, *max, &path.key("region").key("box"), findings);
    }
}

fn check_corners(min: [f32; 3], max: [f32; 3], path: &Path, findings: &mut Vec<Finding>) {
    for axis in 0..3 {
        if min[axis] > max[axis] {
            let message = format!("is {}, above the {} of `max`; swap them", min[axis], max[axis]);
            findings.push(Finding::new(&path.key("min").index(axis), message));
        }
    }
}

fn check_shape(shape: &Shape, path: &Path, findings: &mut Vec<Finding>) {
    let geometry = path.key("geometry");
    match &shape.geometry {
        Geometry::Torus { radius, tube_radius } => {
            check_torus(*radius, *tube_radius, &geometry.key("torus"), findings);
        }
        Geometry::Mesh { source, .. } => {
            check_mesh_source(source, &geometry.key("mesh").key("source"), findings);
        }
        _ => {}
    }
    for (index, pair) in shape.keyframes.windows(2).enumerate() {
        if pair[1].time <= pair[0].time {
            let path = path.key("keyframes").index(index + 1).key("time");
            let message = format!(
                "is {}; give a time after that of the keyframe before, {}",
                pair[1].time, pair[0].time
            );
            findings.push(Finding::new(&path, message));
        }
    }
}

fn check_attachment(
    attachment: &Attachment,
    file: &SceneFile,
    lost: &Lost,
    path: &Path,
    findings: &mut Vec<Finding>,
) {
    let bodies: Vec<_> = file.bodies.iter().map(|body| body.name.as_str()).collect();
    check_name("body", &attachment.body, &bodies, &lost.bodies, &path.key("body"), findings);
    check_selection(&attachment.particles, &path.key("particles"), findings);
    check_material(attachment.stiffness, attachment.compliance, path, findings);
    let to = path.key("to");
    match &attachment.to {
        Target::Place {} => {}
        Target::Shape { name } => {
            let shapes: Vec<_> = file.shapes.iter().map(|shape| shape.name.as_str()).collect();
            check_name(
                "shape",
                name,
                &shapes,
                &lost.shapes,
                &to.key("shape").key("name"),
                findings,
            );
        }
        Target::Body { name, particles } => {
            check_name("body", name, &bodies, &lost.bodies, &to.key("body").key("name"), findings);
            check_selection(particles, &to.key("body").key("particles"), findings);
        }
    }
}

fn check_name(
    what: &str,
    name: &str,
    known: &[&str],
    lost: &[Option<String>],
    path: &Path,
    findings: &mut Vec<Finding>,
) {
    let may_be_lost = lost.iter().any(|lost| lost.as_deref().is_none_or(|lost| lost == name));
    if known.contains(&name) || may_be_lost {
        return;
    }
    let lost = lost.iter().filter_map(Option::as_deref);
    let known: Vec<_> = known.iter().copied().chain(lost).collect();
    let advice = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None if known.is_empty() => format!("the scene has no {what}"),
        None => format!("the scene has {}", list(known.into_iter())),
    };
    findings.push(Finding::new(path, format!("is {name:?}, which is no {what}; {advice}")));
}

fn check_expect(file: &SceneFile, lost: &Lost, path: &Path, findings: &mut Vec<Finding>) {
    for (kind, bound) in &file.expect.residual {
        let path = path.key("residual").key(kind);
        findings.extend(check_kind(kind, file, lost).map(|message| Finding::new(&path, message)));
        if bound.rms.is_none() && bound.max.is_none() {
            findings.push(Finding::new(&path, "has no bound; give `rms`, `max` or both"));
        }
    }
    if let Some(extent) = &file.expect.extent {
        check_corners(extent.min, extent.max, &path.key("extent"), findings);
    }
}

/// A bound on constraints that the scene does not have would hold whatever happens.
fn check_kind(kind: &str, file: &SceneFile, lost: &Lost) -> Option<String> {
    if kind == ATTACHMENT_KIND {
        let advice = "but the scene has none; give [[attachments]] or remove this";
        return file.attachments.is_empty().then(|| format!("bounds attachments, {advice}"));
    }
    if !ELEMENT_KINDS.contains(&kind) {
        let known: Vec<_> = ELEMENT_KINDS.iter().copied().chain([ATTACHMENT_KIND]).collect();
        return Some(format!("is no kind of constraint; {}", remedy(kind, &known, "`")));
    }
    let made = |body: &Body| body.elements.kinds().any(|made| made == kind);
    let is_made = !lost.bodies.is_empty() || file.bodies.iter().any(made);
    let advice = format!("give a body `elements.{kind}` or remove this");
    (!is_made).then(|| format!("bounds a kind that no body has; {advice}"))
}
