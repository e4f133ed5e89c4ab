//! What gave way, as figures.
//!
//! What gives way is always the oldest: four counts say nearly all of it. The last message
//! that a measure touched gives way only as far as needed.

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stays as it is.
    Stays,
    /// Of a result that is too long, head and tail stay.
    Shortened,
    /// Its content gives way to a placeholder.
    Cleared,
    /// The arguments of its calls are abridged.
    Abridged,
    /// It is shown in as many tokens as there is room for.
    Partly,
    /// It is not in the request.
    LeftOut,
}

/// What gave way, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Loss {
    /// The oldest results of those that are too long that were shortened.
    pub(crate) longs: usize,
    /// The oldest results that were cleared, where clearing saves anything.
    pub(crate) results: usize,
    /// The oldest messages with long arguments that were abridged.
    pub(crate) calls: usize,
    /// The oldest units that were left out.
    pub(crate) units: usize,
    /// Whether the question of the first unit that stays is left out too.
    pub(crate) question: bool,
    /// The message that gave way in part.
    pub(crate) grant: Option<Grant>,
}

/// What is shown of the last message that a measure touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) place: usize,
    /// What it may take.
    pub(crate) tokens: u64,
}
