//! Which particles a [`Selection`] means.

use glam::Vec3;

use super::file::{Region, Selection};
use crate::mesh::Mesh;

/// The particles of one copy of a body that meet all conditions of a selection, sorted.
///
/// `world_positions` are where the copy's particles start (see
/// [`start_positions`](super::start_positions)). They are looked at for regions only and may
/// be empty for a selection without one.
#[must_use]
pub fn select(selection: &Selection, mesh: &Mesh, world_positions: &[Vec3]) -> Vec<u32> {
    let mut particles = select_in_order(selection, mesh, world_positions);
    particles.sort_unstable();
    particles.dedup();
    particles
}

/// As [`select`], but in the order (and as often) as `indices` names them.
///
/// Attachments pair particles in this order, so that a seam may run either way. Without
/// `indices`, ascending.
#[must_use]
pub fn select_in_order(selection: &Selection, mesh: &Mesh, world_positions: &[Vec3]) -> Vec<u32> {
    let members = |name| mesh.groups.get(name).map_or(&[][..], Vec::as_slice);
    let group = selection.group.as_ref().map(members);
    let in_group =
        |particle: &u32| group.is_none_or(|members| members.binary_search(particle).is_ok());
    let in_region = |particle: &u32| match &selection.region {
        Some(region) => world_positions
            .get(*particle as usize)
            .is_some_and(|&position| contains(region, position)),
        None => true,
    };
    let count = mesh.positions.len() as u32;
    let chosen = |particle: &u32| *particle < count && in_group(particle) && in_region(particle);
    match (&selection.indices, group) {
        (Some(indices), _) => indices.iter().copied().filter(chosen).collect(),
        (None, Some(members)) => members.iter().copied().filter(chosen).collect(),
        (None, None) if selection.region.is_some() => (0..count).filter(chosen).collect(),
        (None, None) => Vec::new(),
    }
}

fn contains(region: &Region, position: Vec3) -> bool {
    match region {
        Region::Box { min, max } => {
            position.cmpge(Vec3::from(*min)).all() && position.cmple(Vec3::from(*max)).all()
        }
        Region::Sphere { center, radius } => position.distance(Vec3::from(*center)) <= *radius,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 × 3 particles at −1, 0, 1; number 3 · row + column.
    fn mesh() -> Mesh {
        crate::mesh::generate::grid([3, 3], [2.0, 2.0], Default::default(), 0).unwrap()
    }

    fn chosen(toml: &str) -> Vec<u32> {
        let mesh = mesh();
        select(&toml::from_str(toml).unwrap(), &mesh, &mesh.positions)
    }

    #[test]
    fn each_condition_selects_on_its_own() {
        assert_eq!(chosen("indices = [5, 3, 5]"), [3, 5]);
        assert_eq!(chosen("group = \"left\""), [0, 3, 6]);
        assert_eq!(chosen("region.box = { min = [-1, 0, -1], max = [0, 0, -1] }"), [0, 1]);
        assert_eq!(chosen("region.sphere = { center = [0, 0, 0], radius = 1 }"), [1, 3, 4, 5, 7]);
    }

    #[test]
    fn all_given_conditions_must_hold() {
        let sphere = "region.sphere = { center = [0, 0, 0], radius = 1.2 }";
        assert_eq!(chosen(&format!("group = \"left\"\n{sphere}")), [3]);
        assert_eq!(chosen(&format!("group = \"left\"\nindices = [0, 1, 3]\n{sphere}")), [3]);
        assert_eq!(chosen("group = \"left\"\nindices = [1]"), [0; 0]);
    }

    #[test]
    fn nothing_given_and_nothing_known_select_nothing() {
        assert_eq!(chosen(""), [0; 0]);
        assert_eq!(chosen("group = \"hem\""), [0; 0]);
        assert_eq!(chosen("indices = [9]"), [0; 0]);
    }

    #[test]
    fn pairs_keep_the_order_of_indices() {
        let selection: Selection = toml::from_str("indices = [5, 3, 5]").unwrap();
        assert_eq!(select_in_order(&selection, &mesh(), &[]), [5, 3, 5]);
    }
}
