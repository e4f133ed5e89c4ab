//! What the session keeps beside the conversation, and adds to its requests.

use std::borrow::Cow;
use std::sync::Arc;

use interleaf_assemble::{Agent, Context, OpenBlock, Recipe, Summary};
use interleaf_model::{ContextKind, Json};
use interleaf_store::{Record, RecordChange, RecordFilter, RecordKind};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::information::{FileCache, InfoRange};
use super::notes::FolderNote;
use super::summary::KeptSummary;
use super::todo::TodoItem;
use super::{Session, information, notes, todo};
use crate::Error;

/// The records of a session, read. They are read again once they may have changed.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) summaries: Vec<(Record, KeptSummary)>,
    pub(super) todo: Vec<TodoItem>,
    pub(super) information: Vec<(Record, InfoRange)>,
    pub(super) notes: Vec<(Record, FolderNote)>,
    /// The files that were read, by whom and where.
    pub(super) files: Vec<notes::FileRead>,
    pub(super) active: Option<Arc<Summary>>,
    cache: FileCache,
}

impl Session {
    async fn read_records(&self, which: RecordFilter) -> Result<Kept, Error> {
        let mut kept = Kept::default();
        for record in self.records(which).await? {
            match record.kind {
                RecordKind::Summary => {
                    let summary = read(&record)?;
                    kept.summaries.push((record, summary));
                }
                RecordKind::Todo => kept.todo.push(TodoItem::of(&record.key, read(&record)?)?),
                RecordKind::Info => {
                    let range = read(&record)?;
                    kept.information.push((record, range));
                }
                RecordKind::Note => {
                    let note = read(&record)?;
                    kept.notes.push((record, note));
                }
                RecordKind::FileRead => kept.files.push(read(&record)?),
                RecordKind::PlanRun => {}
            }
        }
        kept.active = kept.summaries.iter().find_map(|(_, kept)| kept.active()).map(Arc::new);
        Ok(kept)
    }

    /// The records, read unless they are known.
    pub(super) async fn kept(&mut self) -> Result<&mut Kept, Error> {
        let kept = match self.kept.take() {
            Some(kept) => kept,
            None => self.read_records(RecordFilter::default()).await?,
        };
        Ok(self.kept.insert(kept))
    }

    /// The recipe with what a request of this session adds to it: the summary, the TODO
    /// list, useful information and folder notes, as they were recorded when the session had
    /// so many events.
    ///
    /// # Errors
    /// If the store refuses, or a record is damaged.
    pub async fn recipe_at(&self, recipe: &Recipe, seq: u64) -> Result<Recipe, Error> {
        let as_of = (seq < self.seq()).then_some(seq);
        let then = RecordFilter { as_of, ..RecordFilter::default() };
        let mut kept = self.read_records(then).await?;
        Ok(kept.complete(recipe).into_owned())
    }
}

impl Kept {
    /// The recipe with what the session knows and it does not say.
    pub(super) fn complete<'r>(&mut self, recipe: &'r Recipe) -> Cow<'r, Recipe> {
        let kept = self;
        let mut recipe = Cow::Borrowed(recipe);
        if recipe.open_block == OpenBlock::Unsaid {
            recipe.to_mut().open_block = OpenBlock::Wait;
        }
        // A sub-agent says nothing that a summary of the session covers.
        if recipe.summary.is_none() && recipe.agent == Agent::Main && kept.active.is_some() {
            recipe.to_mut().summary.clone_from(&kept.active);
        }
        let lacks =
            |kind: &ContextKind| !recipe.context.iter().any(|context| context.kind == *kind);
        let agent = &recipe.agent;
        let mut texts = Vec::new();
        if !kept.todo.is_empty() && lacks(&ContextKind::Todo) {
            texts.push((ContextKind::Todo, todo::render(&kept.todo, agent)));
        }
        if !kept.information.is_empty() && lacks(&ContextKind::Info) {
            let ranges = kept.information.iter().map(|(record, range)| (record.no, range));
            texts.push((ContextKind::Info, information::render(ranges, &mut kept.cache)));
        }
        if !kept.notes.is_empty() && lacks(&ContextKind::Notes) {
            let text = notes::render(&kept.notes, &kept.files, agent);
            texts.extend(text.map(|text| (ContextKind::Notes, text)));
        }
        for (kind, text) in texts {
            recipe.to_mut().context.push(Context::new(kind, text));
        }
        recipe
    }
}

/// What a record says.
pub(super) fn read<T: DeserializeOwned>(record: &Record) -> Result<T, Error> {
    serde_json::from_str(record.body.as_str()).map_err(|e| Error::record(record, e))
}

/// A change that makes a record say this.
pub(super) fn put(
    kind: RecordKind,
    key: &str,
    body: &impl Serialize,
) -> Result<RecordChange, Error> {
    let body = serde_json::to_string(body).map_err(Error::damaged)?;
    Ok(RecordChange::put(kind, key, Json::parse(body).map_err(Error::form)?))
}
