//! A compaction for people: what goes, what stays and why, and the tokens before and after.

use std::fmt;

use super::{CompactedReport, Compaction, Figures, FormCause, SparedCause, SummaryForm};

/// As many messages that stay are named.
const NAMED: usize = 20;

impl SparedCause {
    /// Why a message stays, in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::System => "a system message",
            Self::Pinned => "pinned",
            Self::Open => "a call without a result",
            Self::Block => "of one tool block with one that stays",
            Self::Unheard => "another agent's",
            Self::LatestUser => "the user's latest words",
            Self::LatestAnswer => "the latest words, as no user has spoken",
            Self::Role => "of a role that the policy keeps",
            Self::UserText => "what a user said",
            Self::Relevant => "has words of the current request",
        }
    }
}

impl fmt::Display for SummaryForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Extended => "the session's own request, with one more message",
            Self::Transcript => "a transcript of what goes",
        })
    }
}

impl fmt::Display for FormCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cheaper { extended, transcript: Some(whole) } => {
                write!(f, "with its cache it costs as much as {extended} tokens, not {whole}")
            }
            Self::Cheaper { transcript: None, .. } => f.write_str("a transcript does not fit"),
            Self::Dearer { extended, transcript } => write!(
                f,
                "it costs {transcript} tokens, the session's own request as much as {extended}"
            ),
            Self::OtherModel => f.write_str("another model than the session's own writes it"),
            Self::NothingCached => f.write_str("no request was recorded, so no cache has it"),
            Self::LeavesOut => f.write_str("the session's own request would leave some of it out"),
            Self::Waits => f.write_str("the session's own request waits for results"),
            Self::UnknownCache => f.write_str("the rules of the model's cache are not known"),
            Self::Refused => f.write_str("a text was refused before"),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tokens, limit, messages, fixed } = self;
        let percent = self.fill() * 100.0;
        write!(f, "{messages} messages, {tokens} tokens, {percent:.0} % of {limit}")?;
        match fixed {
            0 => Ok(()),
            fixed => write!(f, " ({fixed} for tools, system texts and context)"),
        }
    }
}

impl fmt::Display for Compaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "before  {}", self.figures)?;
        let (n, covered) = (self.n_messages, self.covered);
        write!(f, "goes    {n} messages, {covered} tokens")?;
        if let (Some(first), Some(last)) = (self.messages.first(), self.messages.last()) {
            write!(f, ": {} to {}", first.id, last.id)?;
        }
        match &self.earlier {
            Some(_) => writeln!(f, ", with the summary before")?,
            None => writeln!(f)?,
        }
        let stays = self.figures.messages.saturating_sub(n);
        write!(f, "stays   {stays} messages")?;
        if let Some(from) = &self.stays_from {
            write!(f, ": all from {from} on")?;
            if !self.spared.is_empty() {
                write!(f, ", and {} before it", self.spared.len())?;
            }
        }
        writeln!(f)?;
        for some in [&self.spared, &self.newest] {
            for spared in some.iter().take(NAMED) {
                writeln!(f, "          {}, {}", spared.message, spared.cause.words())?;
            }
            if let Some(more) = some.len().checked_sub(NAMED + 1) {
                writeln!(f, "          and {} more", more + 1)?;
            }
        }
        let percent = self.after as f64 / self.figures.limit.max(1) as f64 * 100.0;
        writeln!(f, "after   at most {} tokens, {percent:.0} %", self.after)
    }
}

impl fmt::Display for CompactedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_messages, before, after, .. } = self;
        write!(f, "{n_messages} messages of {before} tokens gave way to {after} tokens with ")?;
        f.write_str(&self.facts())
    }
}

impl CompactedReport {
    /// How many facts were kept, and how many not, in a few words.
    pub fn facts(&self) -> String {
        match (self.n_facts, self.n_left_out) {
            (n, 0) => format!("{n} facts"),
            (n, left_out) => format!("{n} facts ({left_out} more are past a limit of the policy)"),
        }
    }
}
