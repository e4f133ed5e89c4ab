//! A say in what an agent does.

use interleaf::assemble::Recipe;
use interleaf::model::ToolCall;

use crate::{Boxed, Effect, Scene};

/// Has a say in what an agent does: it may add to each request, and refuse calls.
pub trait Hook: Send + Sync {
    /// Changes what the next request is made from.
    fn before_request<'a>(&'a self, recipe: &'a mut Recipe, scene: &'a Scene) -> Boxed<'a, ()> {
        let _ = (recipe, scene);
        Box::pin(async {})
    }

    /// Says whether a call may run. Several calls may be put to it at the same time, those of one
    /// answer in their order: a hook that asks a person puts one question after the other.
    fn before_call<'a>(
        &'a self,
        call: &'a ToolCall,
        effect: Effect,
        scene: &'a Scene,
    ) -> Boxed<'a, Allow> {
        let _ = (call, effect, scene);
        Box::pin(async { Allow::Run })
    }
}

/// Whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Allow {
    /// It may.
    Run,
    /// It may not; the model is told why.
    Refuse(String),
}
