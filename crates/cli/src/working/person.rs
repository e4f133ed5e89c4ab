//! The person at the terminal, who allows what an agent changes.

use std::io::{BufRead as _, IsTerminal as _, stdin};

use interleaf::model::{ToolCall, shown_speech};
use interleaf_agent::{Allow, Boxed, Effect, Hook, Scene};

use crate::output::say;

/// Asks whoever sits at the terminal.
pub(super) struct Person {
    pub(super) allows_all: bool,
}

impl Hook for Person {
    fn before_call<'a>(&'a self, call: &'a ToolCall, _: Effect, _: &'a Scene) -> Boxed<'a, Allow> {
        Box::pin(async move {
            let asks = ["write", "edit", "run"].contains(&call.name.as_str());
            if self.allows_all || !asks {
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
