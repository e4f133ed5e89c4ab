//! The person at the terminal, who allows what an agent changes.

use std::io::{BufRead as _, IsTerminal as _, stdin};

use interleaf::model::{ToolCall, shown_speech};
use interleaf_agent::{Allow, Boxed, Effect, Hook, Scene};

use crate::output::say;

/// Asks whoever sits at the terminal.
pub(crate) struct Person {
    pub(crate) allows_all: bool,
}

/// Whether a person is asked before a call: it changes something beside what the session keeps.
pub(crate) fn asks(call: &ToolCall, effect: Effect) -> bool {
    let keeps = ["todo_", "info_", "note_"].iter().any(|kept| call.name.as_str().starts_with(kept));
    effect == Effect::Changes && !keeps
}

impl Hook for Person {
    fn before_call<'a>(
        &'a self,
        call: &'a ToolCall,
        effect: Effect,
        _: &'a Scene,
    ) -> Boxed<'a, Allow> {
        Box::pin(async move {
            if self.allows_all || !asks(call, effect) {
                return Allow::Run;
            }
            if !stdin().is_terminal() {
                let why = "nobody is there to allow it (the person may start it with --yes)";
                return Allow::Refuse(why.to_owned());
            }
            let arguments = shown_speech(call.arguments.as_str()).into_owned();
            say(format_args!("{}({arguments})", call.name));
            say("allow it? y, or n and why:");
            let answer = tokio::task::spawn_blocking(|| {
                let mut line = String::new();
                stdin().lock().read_line(&mut line).map(|_| line)
            });
            match answer.await {
                Ok(Ok(line)) if ["y", "yes"].contains(&line.trim()) => Allow::Run,
                Ok(Ok(line)) => {
                    let why = line.trim().trim_start_matches(['n', 'N']).trim();
                    let why = if why.is_empty() { "the person said no" } else { why };
                    Allow::Refuse(why.to_owned())
                }
                _ => Allow::Refuse("the person cannot be asked".to_owned()),
            }
        })
    }
}
