//! The person who allows what an agent changes.
//!
//! ```text
//!   Guard, a hook ──Ask──▶ whoever talks with the person ──Answer──▶ Word
//! ```

use std::collections::VecDeque;
use std::io::{self, BufRead as _, IsTerminal as _, stdin};

use interleaf::model::{ToolCall, shown_exactly};
use interleaf_agent::settings::{self, Guard, Permissions, Word};
use interleaf_agent::{Boxed, Scene};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;

use crate::failure::printable;
use crate::output::say;

/// The most characters of a call's arguments that are shown before it is allowed.
const LONGEST_CALL: usize = 4_000;

/// What is said where a line is no answer, and where no line comes any more.
pub(crate) const UNCLEAR: &str = "that is neither yes nor no";
pub(crate) const NOBODY: &str = "no answer can be read: it is refused";

/// A call that waits for a person.
pub(crate) struct Ask {
    /// The agent that wants it.
    pub(crate) agent: String,
    pub(crate) call: ToolCall,
    answer: oneshot::Sender<Answer>,
}

/// The questions that come.
pub(crate) type Asks = mpsc::UnboundedReceiver<Ask>;

/// What a person says to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    /// For this tool, from now on.
    Always,
    /// And why, if that was said.
    No(String),
    /// There is no person.
    Nobody,
}

/// Asks the person, one question for each call.
pub(crate) struct Asking(mpsc::UnboundedSender<Ask>);

/// A hook that asks, and where its questions come out.
pub(crate) fn channel(permissions: Permissions) -> (Asks, Guard<Asking>) {
    let (asks, out) = mpsc::unbounded_channel();
    (out, Guard::new(permissions, Asking(asks)))
}

impl Answer {
    /// What a line says. Nothing, if that is not clear: then nothing is allowed and nothing
    /// refused.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let line = line.trim();
        let lower = line.to_lowercase();
        match lower.as_str() {
            "y" | "yes" => Some(Self::Yes),
            "a" | "always" => Some(Self::Always),
            _ if lower.starts_with('n') => {
                let (first, rest) = line.split_once([' ', ',', ':']).unwrap_or((line, ""));
                let is_no = ["n", "no"].contains(&first.to_lowercase().as_str());
                let why = if is_no { rest } else { line };
                Some(Self::No(why.trim_start_matches([',', ':', ' ']).to_owned()))
            }
            _ => None,
        }
    }

    fn word(self) -> Word {
        Word::No(match self {
            Self::Yes => return Word::Yes,
            Self::Always => return Word::Always,
            Self::No(why) if why.is_empty() => "the person said no".to_owned(),
            Self::No(why) => format!("the person said no: {why}"),
            Self::Nobody => {
                "nobody is there to allow it (the person may start it with --yes)".to_owned()
            }
        })
    }
}

impl Ask {
    /// Whether somebody waits for the answer.
    pub(crate) fn is_open(&self) -> bool {
        !self.answer.is_closed()
    }

    /// Hands the answer back. Nobody may wait for it any more.
    pub(crate) fn answer(self, answer: Answer) {
        let _ = self.answer.send(answer);
    }

    /// What may be said to it.
    pub(crate) fn choices(&self) -> String {
        let name = shown_exactly(self.call.name.as_str());
        format!("y, a (always allow `{name}` from now on), or n and why")
    }

    /// Who wants what.
    pub(crate) fn wanted(&self) -> String {
        wanted(&self.agent, &self.call)
    }
}

/// Who wants which call, for a person. Nothing in it does anything to a terminal.
fn wanted(who: &str, call: &ToolCall) -> String {
    format!("{} wants {}", printable(who), shown_call(call))
}

/// Waits until nobody waits any more for the answer to the first of these.
pub(crate) async fn given_up(waiting: &mut VecDeque<Ask>) {
    match waiting.front_mut() {
        Some(ask) => ask.answer.closed().await,
        None => std::future::pending().await,
    }
}

fn shown_call(call: &ToolCall) -> String {
    let arguments = on_one_line(call.arguments.as_str());
    let n = arguments.chars().count();
    let place = |nth| arguments.char_indices().nth(nth).map_or(arguments.len(), |(at, _)| at);
    let shown = match n.checked_sub(LONGEST_CALL) {
        None | Some(0) => shown_exactly(&arguments).into_owned(),
        Some(left) => {
            // What counts may stand at the end as well.
            let half = LONGEST_CALL / 2;
            let (begin, end) = (&arguments[..place(half)], &arguments[place(n - half)..]);
            let (begin, end) = (shown_exactly(begin), shown_exactly(end));
            format!("{begin} … {left} characters are not shown … {end}")
        }
    };
    format!("{}({shown})", shown_exactly(call.name.as_str()))
}

impl settings::Ask for Asking {
    fn ask<'a>(&'a self, call: &'a ToolCall, scene: &'a Scene) -> Boxed<'a, Word> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let ask = Ask { agent: scene.agent().to_owned(), call: call.clone(), answer };
            if self.0.send(ask).is_err() {
                return Word::No("the person cannot be asked".to_owned());
            }
            tokio::select! {
                answer = answered => match answer {
                    Ok(answer) => answer.word(),
                    Err(_) => Word::No("the person cannot be asked".to_owned()),
                },
                // The call is closed as one that was not run.
                () = scene.stopped() => Word::No("the person interrupted".to_owned()),
            }
        })
    }
}

/// Asks whoever sits at the terminal whether a call may run. Ask one thing at a time.
pub(crate) async fn allowed_by_person(who: &str, call: &ToolCall) -> Word {
    if !stdin().is_terminal() {
        return Answer::Nobody.word();
    }
    say(wanted(who, call));
    forget_typed();
    loop {
        say("allow it? y, or n and why:");
        let answer = match spawn_blocking(read_line).await {
            Ok(Ok(Some(line))) => Answer::read(&line),
            _ => {
                say(NOBODY);
                Some(Answer::Nobody)
            }
        };
        match answer {
            Some(Answer::Always) => say("there is no always for a plan"),
            None => say(UNCLEAR),
            Some(answer) => return answer.word(),
        }
    }
}

/// The next line of standard input; nothing at its end.
pub(super) fn read_line() -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let n = stdin().lock().read_until(b'\n', &mut line)?;
    Ok((n > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
}

/// Forgets what was typed so far: it is no answer to a question that was not there yet.
pub(super) fn forget_typed() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush);
}

/// JSON without the white space between its parts, which could push a part off the screen.
fn on_one_line(json: &str) -> String {
    let (mut is_text, mut is_escaped) = (false, false);
    let stays = |c: &char| {
        let was_text = is_text;
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            _ => {}
        }
        was_text || is_text || !c.is_whitespace()
    };
    json.chars().filter(stays).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_yes_always_or_no_and_why() {
        assert_eq!(Answer::read(" Y "), Some(Answer::Yes));
        assert_eq!(Answer::read("always"), Some(Answer::Always));
        assert_eq!(Answer::read("n"), Some(Answer::No(String::new())));
        assert_eq!(Answer::read("No"), Some(Answer::No(String::new())));
        assert_eq!(Answer::read("no, it is wrong"), Some(Answer::No("it is wrong".to_owned())));
        assert_eq!(Answer::read("not that one"), Some(Answer::No("not that one".to_owned())));
    }

    #[test]
    fn what_is_not_clear_is_no_answer() {
        for line in ["", "use the other file", "/help", "yes but not that file", "all of them"] {
            assert_eq!(Answer::read(line), None, "{line}");
        }
    }

    #[test]
    fn what_a_call_is_asked_with_stands_on_one_line_and_nothing_of_it_is_hidden() {
        let gap = "\n".repeat(60);
        let arguments = format!(r#"{{"z":"a  \" b",{gap}"command":"touch EVIL"{gap}}}"#);
        let line = shown_call(&ToolCall::new("c1", "run", &arguments).unwrap());
        assert_eq!(line, r#"run({"z":"a  \" b","command":"touch EVIL"})"#);
        let long = format!("{{\"pad\":\"{}\",\"command\":\"x\"}}", "p".repeat(LONGEST_CALL));
        let line = shown_call(&ToolCall::new("c1", "run", &long).unwrap());
        assert!(line.contains(" … 24 characters are not shown … "), "{line}");
        assert!(line.ends_with("p\",\"command\":\"x\"})"), "{line}");
        let spaced = "{\"command\":\"./check\u{a0}all\u{3164}\"}";
        let line = shown_call(&ToolCall::new("c1", "run", spaced).unwrap());
        assert_eq!(line, r#"run({"command":"./check\u{a0}all\u{3164}"})"#);
    }
}
