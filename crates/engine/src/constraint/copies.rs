//! Particles that take part in a sweep several times over: paper A's phantoms.

/// The split particles of a group and their copies, which stand at the end of the state's arrays:
/// those of one particle after those of another.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// The particles, themselves among those who take part, and where the copies of each end.
    /// They begin where those of the one before end.
    pub ends: Vec<(u32, u32)>,
    /// Inverse masses of the particles.
    pub inverse_masses: Vec<f32>,
    /// How many times as much those of each of those are who take part for them: as many times as there
    /// are of them, so that together they weigh as much as the particle and momentum is kept; once in
    /// the paper.
    pub factors: Vec<f32>,
    /// The first copy of all.
    pub first: u32,
}

impl Copies {
    /// How many particles have copies.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no particle has copies.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many copies there are.
    pub fn count(&self) -> usize {
        self.ends.last().map_or(0, |&(_, end)| (end - self.first) as usize)
    }

    /// Where the copies of a particle of the list begin.
    #[inline(always)]
    pub fn start(&self, index: usize) -> usize {
        if index == 0 { self.first as usize } else { self.ends[index - 1].1 as usize }
    }

    /// Whether `number` particles of the list, from `first` on, follow each other in memory and have
    /// one copy each.
    #[inline(always)]
    pub fn is_run(&self, first: usize, number: usize) -> bool {
        let start = (self.ends[first].0, self.start(first) as u32);
        let mut is_run = true;
        for (place, &own) in (0..).zip(&self.ends[first..first + number]) {
            is_run &= own == (start.0 + place, start.1 + place + 1);
        }
        is_run
    }

    /// The particle that an id stands for.
    pub(crate) fn original(&self, id: u32) -> u32 {
        if self.is_empty() || id < self.first {
            return id;
        }
        let after = self.ends.partition_point(|&(_, end)| end <= id);
        self.ends.get(after).map_or(id, |&(particle, _)| particle)
    }
}
