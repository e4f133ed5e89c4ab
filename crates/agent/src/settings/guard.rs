//! Asking a person before a call runs.

use std::sync::{Mutex, PoisonError};

use interleaf::model::ToolCall;

use super::Permissions;
use crate::{Allow, Boxed, Effect, Hook, Scene};

/// A way to ask a person whether a call may run.
pub trait Ask: Send + Sync {
    /// Asks. A [`Guard`] puts one question after the other.
    fn ask<'a>(&'a self, call: &'a ToolCall, scene: &'a Scene) -> Boxed<'a, Word>;
}

/// What a person says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Word {
    /// It may run.
    Yes,
    /// It may run, and so may each further call of this tool.
    Always,
    /// It may not; the model is told why.
    No(String),
}

/// Has a person asked before a call runs that the permissions do not allow.
///
/// ```
/// use interleaf::model::ToolCall;
/// use interleaf_agent::settings::{Ask, Guard, Permissions, Word};
/// use interleaf_agent::{Agent, Boxed, Scene, tools};
///
/// struct Nobody;
///
/// impl Ask for Nobody {
///     fn ask<'a>(&'a self, _: &'a ToolCall, _: &'a Scene) -> Boxed<'a, Word> {
///         Box::pin(async { Word::No("nobody is there to allow it".to_owned()) })
///     }
/// }
///
/// let mender = Agent::new("mender").with_hook(Guard::new(Permissions::default(), Nobody));
/// let mender = tools::all().into_iter().fold(mender, Agent::with_shared_tool);
/// ```
#[derive(Debug)]
pub struct Guard<A> {
    /// With the tools that the person always allows.
    permissions: Mutex<Permissions>,
    person: A,
    /// An answer may hold for the questions that wait.
    turn: tokio::sync::Mutex<()>,
}

impl<A: Ask> Guard<A> {
    /// What is allowed unasked, and who is asked for all else.
    pub fn new(permissions: Permissions, person: A) -> Self {
        Self { permissions: Mutex::new(permissions), person, turn: tokio::sync::Mutex::default() }
    }
}

impl<A: Ask> Hook for Guard<A> {
    fn before_call<'a>(
        &'a self,
        call: &'a ToolCall,
        effect: Effect,
        scene: &'a Scene,
    ) -> Boxed<'a, Allow> {
        Box::pin(async move {
            let permissions = || self.permissions.lock().unwrap_or_else(PoisonError::into_inner);
            let is_asked = || permissions().asks(call, effect, scene.folder());
            if !is_asked() {
                return Allow::Run;
            }
            let _turn = self.turn.lock().await;
            if !is_asked() {
                return Allow::Run;
            }
            match self.person.ask(call, scene).await {
                Word::Yes => Allow::Run,
                Word::Always => {
                    permissions().allow.push(call.name.to_string());
                    Allow::Run
                }
                Word::No(why) => Allow::Refuse(why),
            }
        })
    }
}
