//! How a session is compacted, from flags and a file.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::ValueHint::FilePath;
use interleaf::Target;
use interleaf::compaction::{CompactionPolicy, Trigger};
use interleaf_transport::{Compacting, CompactionDone};

use crate::arguments::ByteCount;
use crate::failure::{Failure, printable};
use crate::input::Input;
use crate::output::say;
use crate::reach::other;

const COMPACTION: &str = "Compaction";

/// Whether a session is compacted while it is asked, as the user wrote it.
#[derive(Debug, Args)]
pub(crate) struct CompactingArguments {
    /// Compact the session when its window is 80 % full, or the API finds the request too long
    #[arg(long, requires = "session", conflicts_with = "file", help_heading = COMPACTION)]
    compact: bool,
    /// The same at another fill, from 0 to 1, such as 0.6
    #[arg(long, value_name = "FILL", requires = "session", conflicts_with = "file", help_heading = COMPACTION)]
    compact_at: Option<f64>,
    /// The same by a policy: a JSON file, as docs/compaction.md says
    #[arg(long, value_name = "PATH", value_hint = FilePath, requires = "session")]
    #[arg(conflicts_with = "file", help_heading = COMPACTION)]
    compact_policy: Option<PathBuf>,
    /// The model that writes the summary [default: the one that is asked]
    #[arg(long, value_name = "VENDOR:MODEL", requires = "session", conflicts_with = "file", help_heading = COMPACTION)]
    compact_writer: Option<String>,
}

impl CompactingArguments {
    /// How the session is compacted, if the flags ask for it.
    pub(crate) fn read(
        &self,
        target: &Target,
        limit: ByteCount,
    ) -> Result<Option<Compacting>, Failure> {
        let is_asked = self.compact || self.compact_at.is_some() || self.compact_policy.is_some();
        if !is_asked {
            return match &self.compact_writer {
                Some(_) => Err(Failure::new("--compact-writer", "--compact says when it writes")),
                None => Ok(None),
            };
        }
        let mut policy = policy("--compact-policy", self.compact_policy.as_deref(), limit)?;
        if let Some(fill) = self.compact_at {
            policy.when = Some(Trigger::Fill(fill));
            policy.check().map_err(|e| Failure::new("--compact-at", e.to_string()))?;
        }
        // This program ends with the answer: nothing goes on in the background.
        policy.prepare = None;
        let compacting = Compacting::new(policy);
        Ok(Some(match &self.compact_writer {
            Some(named) => compacting.with_writer(other("--compact-writer", named, target)?),
            None => compacting,
        }))
    }
}

/// The policy in a file; without one the usual.
pub(crate) fn policy(
    flag: &str,
    path: Option<&Path>,
    limit: ByteCount,
) -> Result<CompactionPolicy, Failure> {
    let Some(path) = path else { return Ok(CompactionPolicy::default()) };
    let file = Input::read(path, limit)?;
    let policy: CompactionPolicy =
        serde_json::from_str(&file.text).map_err(|e| Failure::json(&file.name, &e))?;
    policy.check().map_err(|e| Failure::new(flag, e.to_string()).at(file.name))?;
    Ok(policy)
}

/// Says what a compaction did.
pub(crate) fn say_done(done: &CompactionDone) {
    for text in &done.texts {
        if !text.refused.is_empty() {
            say(format_args!("asked: {}", printable(&text.to_string())));
        }
    }
    say(format_args!("compacted: {done}"));
    if let Some(why) = &done.without_model {
        say(format_args!("note: no model wrote the summary: {}", printable(&why.to_string())));
    }
    for text in &done.texts {
        if let Some(cost) = text.cost().filter(|_| text.spent.is_some()) {
            say(format_args!("paid: {cost}"));
        }
    }
}
