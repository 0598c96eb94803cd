//! What can be wrong with a partitioner's input, and with a schedule.

use thiserror::Error;

/// Elements that make no sense.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum InputError {
    /// A body id beyond the number of bodies.
    #[error("element {element} names body {body}, but there are {bodies} bodies (0 to {}); check the ids or the number of bodies", bodies.saturating_sub(1))]
    OutOfRange {
        /// The element.
        element: usize,
        /// The id it names.
        body: u32,
        /// How many bodies there are.
        bodies: usize,
    },
    /// An element that names a body twice.
    #[error("element {element} names body {body} twice; an element's bodies must differ")]
    RepeatedBody {
        /// The element.
        element: usize,
        /// The body.
        body: u32,
    },
    /// An element that does not exist, or not any more.
    #[error("there is no element {element} among {elements}")]
    NoSuchElement {
        /// The number given.
        element: u32,
        /// How many elements there are.
        elements: usize,
    },
    /// A body that does not exist.
    #[error("there is no body {body} among {bodies}")]
    NoSuchBody {
        /// The id given.
        body: u32,
        /// How many bodies there are.
        bodies: usize,
    },
    /// A flat list that does not divide into elements.
    #[error(
        "{length} body ids do not make elements of {arity} bodies each; give a multiple of {arity} (at least 1)"
    )]
    UnevenLength {
        /// Length of the list.
        length: usize,
        /// Bodies of an element.
        arity: usize,
    },
    /// Offsets that are not a rising list from 0 to the number of body ids.
    #[error("offsets must start with 0, never fall and end with {bodies}, the number of body ids")]
    BadOffsets {
        /// Number of body ids.
        bodies: usize,
    },
    /// A list of fixed bodies of the wrong length.
    #[error("the list of fixed bodies has {given} entries for {bodies} bodies; give one each")]
    FixedLength {
        /// Entries given.
        given: usize,
        /// Bodies there are.
        bodies: usize,
    },
    /// A list with one entry per element or per body that has the wrong length.
    #[error("{given} {what} for {expected} {of}; give one each")]
    WrongCount {
        /// What the list holds.
        what: &'static str,
        /// Entries given.
        given: usize,
        /// What there should be one for each of.
        of: &'static str,
        /// How many of those there are.
        expected: usize,
    },
    /// A coordinate or a size that is infinite or not a number.
    #[error("{what} {index} is not finite; the simulation may have diverged")]
    NotFinite {
        /// What it is.
        what: &'static str,
        /// Its place in the list.
        index: usize,
    },
    /// An option outside its range.
    #[error("{option} must be {range}, not {given}")]
    BadOption {
        /// Which option.
        option: &'static str,
        /// What it may be.
        range: &'static str,
        /// What it was.
        given: String,
    },
    /// More than an algorithm for small problems can take.
    #[error("more than {limit} {what}, too large for this algorithm; {instead}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
        /// What to do instead.
        instead: &'static str,
    },
    /// More than 32-bit ids can name.
    #[error("more than {limit} elements, bodies or body ids; split the problem")]
    TooMany {
        /// The limit.
        limit: usize,
    },
}

/// A proposed schedule that must not run in parallel.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ScheduleError {
    /// Offsets that do not nest.
    #[error("the offsets of {level} must start with 0, never fall and end with {end}")]
    BadOffsets {
        /// Which offsets: phases, blocks or batches.
        level: &'static str,
        /// What they must end with.
        end: usize,
    },
    /// An element that is missing, repeated or unknown.
    #[error(
        "element {element} is scheduled {times} times; every element must be scheduled exactly once"
    )]
    NotOnce {
        /// The element.
        element: u32,
        /// How often it occurs (0 where it is missing).
        times: usize,
    },
    /// Two elements that would write the same body at the same time.
    #[error(
        "elements {first} and {second} both write body {body} in {place}; they must not run at the same time"
    )]
    Conflict {
        /// The earlier element.
        first: u32,
        /// The later element.
        second: u32,
        /// The body they share.
        body: u32,
        /// Where they meet.
        place: Place,
    },
}

/// What can go wrong in a partitioner that takes more than elements.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PartitionError {
    /// The input makes no sense.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The result failed the conflict check, because a promise of the caller did not hold.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

/// Where two conflicting elements meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In two blocks of this phase.
    Phase(usize),
    /// In this batch.
    Batch(usize),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Phase(phase) => write!(f, "two blocks of phase {phase}"),
            Place::Batch(batch) => write!(f, "batch {batch}"),
        }
    }
}
