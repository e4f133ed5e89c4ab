//! `obliging`: does what an agent hopes for.

use super::{Brain, fitting};
use crate::answer::Answer;
use crate::asked::{Asked, Choice, Part, Tool};

/// Calls the tools that it is offered, thinks when asked to, and repeats what it was told. The
/// same request gets the same answer.
#[derive(Debug, Clone)]
pub struct Obliging {
    /// How many rounds of calls it makes before it answers.
    rounds: usize,
    /// How many calls it makes at once, where it may.
    at_once: usize,
}

/// How many lines of what it was told it repeats, and how much of each.
const LINES: usize = 40;
const LINE: usize = 200;

impl Default for Obliging {
    fn default() -> Self {
        Self { rounds: 2, at_once: 2 }
    }
}

impl Obliging {
    /// Two rounds, two calls at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers after this many rounds of calls.
    #[must_use]
    pub fn with_rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Makes this many calls at once, where it may.
    #[must_use]
    pub fn with_calls_at_once(mut self, calls: usize) -> Self {
        self.at_once = calls.max(1);
        self
    }

    fn calls<'a>(&self, asked: &'a Asked) -> Vec<&'a Tool> {
        let n_tools = asked.tools.len();
        let at_once = if asked.parallel { self.at_once.min(n_tools) } else { 1 };
        let is_forced = match &asked.choice {
            Choice::None => return Vec::new(),
            Choice::Named(name) => {
                return asked.tools.iter().filter(|tool| tool.name == *name).collect();
            }
            Choice::Any => true,
            Choice::Auto => false,
        };
        if n_tools == 0 || (asked.rounds() >= self.rounds && !is_forced) {
            return Vec::new();
        }
        // Each round goes on where the one before it left off.
        let first = asked.rounds() * at_once;
        (first..first + at_once).map(|i| &asked.tools[i % n_tools]).collect()
    }
}

impl Brain for Obliging {
    fn answer(&self, asked: &Asked) -> Result<Answer, String> {
        let mut answer = Answer::new();
        let calls = self.calls(asked);
        if asked.thinking {
            let round = asked.rounds() + 1;
            let next = if calls.is_empty() { "answer" } else { "call a tool" };
            answer = answer.with_thinking(format!("This is round {round}: I {next}."));
        }
        if calls.is_empty() {
            return Ok(answer.with_text(told(asked)));
        }
        for (i, tool) in calls.iter().enumerate() {
            let seed = asked.turns.len() + i;
            let schema = tool.parameters.clone().unwrap_or_default();
            answer = answer.with_call(&tool.name, &fitting(&schema, seed));
        }
        Ok(answer)
    }
}

/// What it was told: the last texts of the user's side, and what tools gave back.
fn told(asked: &Asked) -> String {
    let mut lines = vec!["You told me:".to_owned()];
    let texts: Vec<&str> = asked.user_texts().collect();
    let lasts = &texts[texts.len().saturating_sub(8)..];
    lines.extend(lasts.iter().flat_map(|text| text.lines()).map(said));
    let results = asked.results();
    if !results.is_empty() {
        lines.push("The tools gave back:".to_owned());
        let texts = results.into_iter().flat_map(Part::texts).flat_map(str::lines);
        lines.extend(texts.map(said));
    }
    lines.retain(|line| line != "- ");
    lines.truncate(LINES);
    lines.join("\n")
}

fn said(line: &str) -> String {
    format!("- {}", line.trim().chars().take(LINE).collect::<String>())
}
