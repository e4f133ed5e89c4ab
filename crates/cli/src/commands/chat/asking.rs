//! Questions of an agent that works: may this call run?

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use interleaf::model::ToolCall;
use interleaf_agent::settings::Permissions;
use interleaf_agent::{Allow, Boxed, Effect, Hook, Scene};
use tokio::sync::{mpsc, oneshot};

/// A call that waits for a person.
pub(super) struct Ask {
    /// The agent that wants it.
    pub(super) agent: String,
    pub(super) call: ToolCall,
    answer: oneshot::Sender<Answer>,
}

/// The questions that come.
pub(super) type Asks = mpsc::UnboundedReceiver<Ask>;

/// What a person says to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    /// For this tool, from now on.
    Always,
    /// And why, if that was said.
    No(String),
}

/// Asks the person, one question for each call that changes something.
pub(super) struct Asking {
    permissions: Permissions,
    asks: mpsc::UnboundedSender<Ask>,
    /// The tools that are always allowed.
    always: Arc<Mutex<HashSet<String>>>,
}

/// A hook that asks, and where its questions come out.
pub(super) fn channel(permissions: Permissions) -> (Asks, Asking) {
    let (asks, out) = mpsc::unbounded_channel();
    (out, Asking { permissions, asks, always: Arc::default() })
}

impl Answer {
    /// What a line says.
    pub(super) fn read(line: &str) -> Self {
        let line = line.trim();
        match line.to_lowercase().as_str() {
            "y" | "yes" => Self::Yes,
            "a" | "always" => Self::Always,
            "n" | "no" => Self::No(String::new()),
            _ => {
                let (first, rest) = line.split_once([' ', ',', ':']).unwrap_or((line, ""));
                let is_no = ["n", "no"].contains(&first.to_lowercase().as_str());
                let why = if is_no { rest } else { line };
                Self::No(why.trim_start_matches([',', ':', ' ']).to_owned())
            }
        }
    }
}

impl Ask {
    /// Whether somebody waits for the answer.
    pub(super) fn is_open(&self) -> bool {
        !self.answer.is_closed()
    }

    /// Hands the answer back. Nobody may wait for it any more.
    pub(super) fn answer(self, answer: Answer) {
        let _ = self.answer.send(answer);
    }
}

impl Hook for Asking {
    fn before_call<'a>(
        &'a self,
        call: &'a ToolCall,
        effect: Effect,
        scene: &'a Scene,
    ) -> Boxed<'a, Allow> {
        Box::pin(async move {
            let name = call.name.to_string();
            let is_always = {
                let always = self.always.lock().unwrap_or_else(PoisonError::into_inner);
                always.contains(&name)
            };
            if is_always || !self.permissions.asks(call, effect) {
                return Allow::Run;
            }
            let (answer, answered) = oneshot::channel();
            let ask = Ask { agent: scene.agent().to_owned(), call: call.clone(), answer };
            if self.asks.send(ask).is_err() {
                return Allow::Refuse("the person cannot be asked".to_owned());
            }
            let answer = tokio::select! {
                answer = answered => answer,
                // The call is closed as one that was not run.
                () = scene.stopped() => return Allow::Refuse("the person interrupted".to_owned()),
            };
            match answer {
                Ok(Answer::Yes) => Allow::Run,
                Ok(Answer::Always) => {
                    self.always.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
                    Allow::Run
                }
                Ok(Answer::No(why)) if !why.is_empty() => {
                    Allow::Refuse(format!("the person said no: {why}"))
                }
                Ok(Answer::No(_)) => Allow::Refuse("the person said no".to_owned()),
                Err(_) => Allow::Refuse("the person cannot be asked".to_owned()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Answer;

    #[test]
    fn an_answer_is_yes_always_or_no_and_why() {
        assert_eq!(Answer::read(" Y "), Answer::Yes);
        assert_eq!(Answer::read("always"), Answer::Always);
        assert_eq!(Answer::read("n"), Answer::No(String::new()));
        assert_eq!(Answer::read("no, it is wrong"), Answer::No("it is wrong".to_owned()));
        assert_eq!(Answer::read("use the other file"), Answer::No("use the other file".to_owned()));
        assert_eq!(Answer::read("not that one"), Answer::No("not that one".to_owned()));
        // Silence allows nothing.
        assert_eq!(Answer::read(""), Answer::No(String::new()));
    }
}
