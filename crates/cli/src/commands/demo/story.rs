//! What happens in the demo: the files, what the user says, and what the model answers.
//!
//! All of it is data: `script.json` and the files in `folder/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use interleaf::wire::Family;
use interleaf_doubles::{Answer, Asked, Brain, Script};
use serde::Deserialize;
use serde_json::Value;

use crate::failure::Failure;

const SCRIPT: &str = include_str!("script.json");

const FILES: [(&str, &str); 5] = [
    ("README.md", include_str!("folder/README.md")),
    ("src/plan.txt", include_str!("folder/src/plan.txt")),
    ("src/clock.py", include_str!("folder/src/clock.py")),
    ("src/valve.py", include_str!("folder/src/valve.py")),
    ("log/may.txt", include_str!("folder/log/may.txt")),
];

/// What happens in the demo.
#[derive(Deserialize)]
pub(super) struct Story {
    pub(super) title: String,
    apis: BTreeMap<String, Api>,
    pub(super) role: String,
    pub(super) scout_role: String,
    pub(super) said: Vec<String>,
    pub(super) compact_at_messages: usize,
    pub(super) summary_tokens: u64,
    /// What whoever writes the summary is told.
    pub(super) summary_wanted: String,
    summary: String,
    agent: Value,
    scouts: Vec<Scout>,
}

#[derive(Deserialize)]
struct Api {
    model: String,
    path: String,
}

/// An API, and how the double serves it.
pub(super) struct Served<'a> {
    pub(super) family: Family,
    pub(super) model: &'a str,
    pub(super) path: &'a str,
}

#[derive(Deserialize)]
struct Scout {
    /// Words of its task, by which it is known.
    knows: String,
    replies: Value,
}

/// Who asks the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Main,
    /// By its number.
    Scout(usize),
    /// Whoever has the session compacted.
    Summary,
}

impl Story {
    pub(super) fn read() -> Result<Self, Failure> {
        serde_json::from_str(SCRIPT).map_err(|e| Failure::json("the script of the demo", &e))
    }

    pub(super) fn api(&self, family: Family) -> Result<Served<'_>, Failure> {
        let api = self.apis.get(family.as_str());
        let api = api.ok_or_else(|| Failure::new("--api", "the demo has no model of this API"))?;
        Ok(Served { family, model: &api.model, path: &api.path })
    }

    /// What the conversation is summarised as.
    pub(super) fn summary(&self) -> &str {
        &self.summary
    }

    /// Who asks.
    pub(super) fn speaker(&self, asked: &Asked) -> Speaker {
        let says = |words: &str| asked.texts().any(|text| text.contains(words));
        if says(&self.summary_wanted) {
            return Speaker::Summary;
        }
        let scout = self.scouts.iter().position(|scout| says(&scout.knows));
        match scout.filter(|_| says(&self.scout_role)) {
            Some(n) => Speaker::Scout(n),
            None => Speaker::Main,
        }
    }
}

/// The model's part.
pub(super) struct Model {
    story: Story,
    agent: Script,
    scouts: Vec<Script>,
}

impl Model {
    pub(super) fn of(story: &Story) -> Result<Self, Failure> {
        let read = |replies: &Value| {
            let wrong = |rule| Failure::new("the script of the demo", rule);
            Script::read(&replies.to_string()).map_err(wrong)
        };
        let scouts = story.scouts.iter().map(|scout| read(&scout.replies));
        Ok(Self {
            agent: read(&story.agent)?,
            scouts: scouts.collect::<Result<_, _>>()?,
            story: Story::read()?,
        })
    }
}

impl Brain for Model {
    fn answer(&self, asked: &Asked) -> Result<Answer, String> {
        match self.story.speaker(asked) {
            Speaker::Summary => Ok(Answer::text(&self.story.summary)),
            Speaker::Main => self.agent.answer(asked),
            Speaker::Scout(n) => match self.scouts.get(n) {
                Some(scout) => scout.answer(asked),
                None => Err("there is no such scout".to_owned()),
            },
        }
    }
}

/// The folder of the demo, which is removed with all that is in it.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn make() -> io::Result<Self> {
        // Six digits are two tokens, whichever they are: the figures do not depend on them.
        let first = std::process::id();
        let names =
            (0..1_000).map(|n| format!("interleaf-demo-{:06}", first.wrapping_add(n) % 1_000_000));
        let mut paths = names.map(|name| env::temp_dir().join(name));
        let made = loop {
            let Some(path) = paths.next() else {
                return Err(io::ErrorKind::AlreadyExists.into());
            };
            match fs::create_dir(&path) {
                Ok(()) => break Self(path),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        };
        for (name, text) in FILES {
            let path = made.0.join(name);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, text)?;
        }
        Ok(made)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
