//! Context that is fresh in every request.

use interleaf::assemble::ContextText;

use crate::{Boxed, Scene, ToolError};

/// Something that every request should say as it is then.
///
/// The role, the TODO list, useful information and folder notes are built in; the session keeps
/// the last three. Further sources follow in the order in which they were given.
pub trait ContextSource: Send + Sync {
    /// What it says now; `None`, if nothing.
    ///
    /// # Errors
    /// If it cannot be read now. What was shown of it before still holds.
    fn context<'a>(&'a self, scene: &'a Scene) -> Boxed<'a, Result<Option<ContextText>, Unread>>;
}

/// A source that cannot be read now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Which source.
    pub kind: interleaf::model::ContextKind,
    /// Why.
    pub why: ToolError,
}
