//! All sweeps of a substep over pieces and their contacts, in one dispatch.

use super::super::adapter::AdapterKind;
use super::super::group::Way;
use super::super::kernels::{Bind, Groups, Recorded};
use super::super::shaders::{Module, Taker};
use super::{Recorder, Sweeps, block_width, work_of};
use crate::solver::iterate;

/// So many shapes can be kept by every invocation.
const MOST_SHAPES: usize = 4;

/// So many groups can be swept over by one kernel.
const MOST_GROUPS: usize = 2;

impl Recorder<'_> {
    /// Takes pieces through all sweeps: in one dispatch, or sweep by sweep where that is more than a kernel
    /// has room for.
    pub(super) fn pieces(&mut self, iterations: u32) {
        if let Some(at_once) = self.pieces_at_once(iterations) {
            self.recorded.push(at_once);
            return;
        }
        let mut stages = Vec::new();
        (0..iterations).for_each(|iteration| iterate(self.model, iteration, &mut stages));
        for (place, stage) in stages.iter().enumerate() {
            self.stage(*stage, place + 1 == stages.len());
        }
    }

    fn pieces_at_once(&mut self, iterations: u32) -> Option<Recorded> {
        let groups = self.model.pieces.as_ref()?.groups.clone();
        let shapes = self.model.shapes.len();
        let is_here = |index: usize| matches!(self.lists(index).way, Way::Blocks(_));
        if groups.len() > MOST_GROUPS || shapes > MOST_SHAPES || !groups.clone().all(is_here) {
            return None;
        }
        let (index, other) = (groups.start, Some(groups.start + 1).filter(|_| groups.len() > 1));
        let (range, _) = work_of(&self.model.groups[index], self.lists(index).way, 0);
        let (taker, workgroups) = self.taker(index, range.len());
        let sweeps = Sweeps { range, first: true, iterations };
        let mut binds = self.sweep_binds(index, other, &sweeps);
        let obstacles = (shapes > 0).then(|| self.obstacles());
        if obstacles.is_some() {
            binds.extend(self.contact_binds());
        }
        let is_array = |(_, bind): &&(u32, Bind)| !matches!(bind, Bind::Parameters(..));
        let arrays = binds.iter().filter(is_array).count();
        let module = Module::Pieces(self.sweeping(index, other), obstacles, taker);
        let has_room = arrays <= self.gpu.info.storage_bindings as usize;
        has_room.then_some(Recorded { module, entry: "sweep_pieces", binds, groups: workgroups })
    }

    /// Who takes so many pieces through their sweeps.
    fn taker(&mut self, index: usize, pieces: usize) -> (Taker, Groups) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let width = block_width(self.gpu) as usize;
        let is_for_invocations = self.gpu.info.kind == AdapterKind::Software
            && self.lists(index).are_in_rows
            && are_quicker_in_lanes(pieces, width, cores);
        if is_for_invocations {
            (Taker::Invocation, Groups::of(pieces.div_ceil(width)))
        } else {
            (Taker::Workgroup, Groups::of(pieces))
        }
    }
}

/// Whether a driver that computes on so many cores takes pieces through their sweeps sooner if each is one
/// lane of a register. So many at a time take four fifths of what they take one after another, but are
/// harder to share out evenly.
fn are_quicker_in_lanes(pieces: usize, width: usize, cores: usize) -> bool {
    let registers = pieces.div_ceil(width);
    4 * registers.div_ceil(cores) * width < 5 * pieces.div_ceil(cores)
}

#[cfg(test)]
mod tests {
    //! Contract: pieces are lanes where that leaves no core without work.

    use super::*;

    #[test]
    fn few_pieces_are_no_lanes() {
        for (pieces, cores, in_lanes) in
            [(100, 2, true), (100, 4, false), (8, 1, true), (8, 2, false), (1000, 16, true)]
        {
            assert_eq!(are_quicker_in_lanes(pieces, 8, cores), in_lanes, "{pieces} on {cores}");
        }
    }
}
