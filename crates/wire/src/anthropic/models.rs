//! What the name of a model says about it.
//!
//! Names are read, not looked up: `claude-opus-4-6`, `claude-3-5-haiku-20241022`,
//! `us.anthropic.claude-sonnet-5-v1:0`, `claude-fable-5.1@20261001`. Of a model that
//! is not known nothing is assumed.

use interleaf_model::{Requirements, SystemInPlace};

use crate::{Effort, Vendor};

/// A line of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    Opus,
    Sonnet,
    Haiku,
    Fable,
    Mythos,
}

/// A model, as far as its name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Model {
    line: Option<Line>,
    /// Major and minor; `(0, 0)` where the name has no number.
    version: (u32, u32),
}

/// Which `thinking` settings a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Modes {
    pub(super) enabled: bool,
    pub(super) adaptive: bool,
    pub(super) disabled: bool,
}

impl Model {
    /// Reads a model's name.
    pub(crate) fn named(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let is_claude = ["claude", "fable", "mythos"].iter().any(|word| name.contains(word));
        let start = name.find("claude").unwrap_or(0);
        // Others serve their models in this form too; their numbers say nothing here.
        let tail = if is_claude { &name[start..] } else { "" };
        let mut line = None;
        let mut numbers: Vec<u32> = Vec::new();
        // A version is one or two short numbers in a row; longer ones are dates.
        let mut is_open = true;
        for word in tail.split(|c: char| !c.is_ascii_alphanumeric()) {
            match word {
                "" => {}
                "opus" => line = Some(Line::Opus),
                "sonnet" => line = Some(Line::Sonnet),
                "haiku" => line = Some(Line::Haiku),
                "fable" => line = Some(Line::Fable),
                "mythos" => line = Some(Line::Mythos),
                _ => match word.parse() {
                    Ok(number) if word.len() <= 2 && is_open && numbers.len() < 2 => {
                        numbers.push(number);
                        continue;
                    }
                    _ => {}
                },
            }
            is_open = numbers.is_empty();
        }
        let version = (numbers.first().copied().unwrap_or(0), numbers.get(1).copied().unwrap_or(0));
        Self { line, version }
    }

    fn is_newest_line(self) -> bool {
        matches!(self.line, Some(Line::Fable | Line::Mythos))
    }

    fn is_known(self) -> bool {
        self.version != (0, 0) || self.is_newest_line()
    }

    /// Whether a last message of the assistant's is refused.
    pub(super) fn refuses_prefill(self) -> bool {
        self.version >= (4, 6) || self.is_newest_line()
    }

    /// Whether sampling settings are refused.
    pub(super) fn refuses_sampling(self) -> bool {
        self.version >= (4, 7) || self.is_newest_line()
    }

    /// Whether it takes a temperature or a nucleus, but not both.
    pub(super) fn samples_one_way(self) -> bool {
        self.line.is_some() && ((4, 1)..(4, 7)).contains(&self.version)
    }

    /// Whether a tool cannot be forced.
    pub(super) fn refuses_forced_tools(self) -> bool {
        match self.line {
            Some(Line::Opus | Line::Sonnet) => self.version >= (5, 5),
            Some(Line::Fable | Line::Mythos) => self.version >= (5, 1),
            Some(Line::Haiku) | None => false,
        }
    }

    /// Whether a `system` message may stand between the others; nothing, if the model is not
    /// known.
    pub(super) fn takes_system_messages(self) -> Option<bool> {
        let since = match self.line? {
            Line::Opus => (4, 8),
            Line::Fable | Line::Mythos => (5, 0),
            Line::Sonnet | Line::Haiku => (5, 5),
        };
        Some(self.version >= since)
    }

    /// Which `thinking` settings it takes.
    pub(super) fn modes(self) -> Modes {
        let all = Modes { enabled: true, adaptive: true, disabled: true };
        if !self.is_known() {
            return all;
        }
        let always_on = match self.line {
            Some(Line::Fable | Line::Mythos) => true,
            Some(Line::Opus | Line::Sonnet) => self.version >= (5, 5),
            Some(Line::Haiku) | None => false,
        };
        if self.is_newest_line() || self.version >= (4, 7) {
            Modes { enabled: false, disabled: !always_on, ..all }
        } else if self.version >= (4, 6) {
            all
        } else {
            Modes { adaptive: false, ..all }
        }
    }

    /// Whether it is known not to think: those before 3.7.
    pub(super) fn never_thinks(self) -> bool {
        self.version != (0, 0) && self.version < (3, 7) && !self.is_newest_line()
    }

    /// Whether an effort can be asked for.
    pub(super) fn takes_effort(self) -> bool {
        let is_first = self.line == Some(Line::Opus) && self.version == (4, 5);
        is_first || self.modes().adaptive
    }

    /// The effort that comes nearest, of those that it knows; what lies above becomes the
    /// highest below. None, if it knows no effort.
    pub(super) fn nearest_effort(self, asked: Effort) -> Option<Effort> {
        let is_preview = self.line == Some(Line::Mythos) && self.version == (0, 0);
        let has_extra_high = !self.is_known() || !self.modes().enabled && !is_preview;
        let has_max = self.modes().adaptive;
        let nearest = match asked {
            Effort::Minimal => Effort::Low,
            Effort::ExtraHigh if !has_extra_high => Effort::High,
            Effort::Max if !has_max => Effort::High,
            Effort::Low | Effort::Medium | Effort::High | Effort::ExtraHigh | Effort::Max => asked,
        };
        self.takes_effort().then_some(nearest)
    }

    /// The most tokens that it writes, thinking included, where that is known.
    pub(super) fn most_tokens(self) -> Option<u64> {
        match (self.line?, self.version) {
            (Line::Opus, (4, 0 | 1)) => Some(32_000),
            (Line::Opus | Line::Sonnet | Line::Haiku, (4, 0..=5)) => Some(64_000),
            (_, (4, 6..) | (5, 0..=5)) => Some(128_000),
            // Models to come may write more.
            _ => None,
        }
    }

    /// Whether thinking can be turned off only with an effort of at most `high`.
    pub(super) fn needs_thinking_for_effort(self) -> bool {
        matches!(
            (self.line, self.version),
            (Some(Line::Opus), (5, 0)) | (Some(Line::Haiku), (5, 5))
        )
    }
}

/// Whether the model of this name takes thinking back only after exactly what it was made
/// after, whoever serves it.
pub(crate) fn binds_thinking(model: &str) -> bool {
    let model = Model::named(model);
    match model.line {
        Some(Line::Fable | Line::Mythos) => model.version >= (5, 1),
        Some(Line::Opus | Line::Sonnet | Line::Haiku) => model.version >= (5, 5),
        None => false,
    }
}

/// Whether the model of this name refuses a last message of the assistant's, whoever
/// serves it.
pub(crate) fn refuses_prefill(model: &str) -> bool {
    Model::named(model).refuses_prefill()
}

/// What the API asks of a request to this model.
pub(super) fn requirements(_vendor: &Vendor, model: &str) -> Requirements {
    let mut asked = Requirements::STRICT;
    asked.no_trailing_assistant = refuses_prefill(model);
    if Model::named(model).takes_system_messages() == Some(true) {
        asked.system_in_place = SystemInPlace::AfterUser;
    }
    asked
}
