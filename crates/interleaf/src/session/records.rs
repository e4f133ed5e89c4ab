//! What the session keeps beside the conversation, and adds to its requests.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use interleaf_assemble::{Agent, ContextText, OpenBlock, Recipe, Summary};
use interleaf_model::{ContextKind, Json, Timestamp};
use interleaf_store::{Page, Record, RecordChange, RecordFilter, RecordKind};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::information::{FileCache, InfoRange};
use super::notes::{FileRead, FolderNote};
use super::one_line::one_line;
use super::summary::KeptSummary;
use super::todo::TodoItem;
use super::{Session, information, notes, now, todo};
use crate::Error;

/// The records of a session, read, each by its key. They are read again once another node
/// may have changed them.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) summaries: BTreeMap<String, (Record, KeptSummary)>,
    /// By place, which is the order in which they are shown.
    pub(super) todo: BTreeMap<Vec<u32>, TodoItem>,
    /// With the numbers of their last changes.
    pub(super) information: BTreeMap<String, (u64, InfoRange)>,
    pub(super) notes: BTreeMap<String, (u64, FolderNote)>,
    /// The files that were read, by whom and where.
    pub(super) files: BTreeMap<String, FileRead>,
    pub(super) active: Option<Arc<Summary>>,
    /// Why a record cannot be read.
    pub(super) damaged: BTreeMap<(RecordKind, String), String>,
    pub(super) cache: FileCache,
}

/// A record that cannot be read. Requests leave it out, and name it;
/// [`Session::change_records`] removes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DamagedRecord {
    /// What it is.
    pub kind: RecordKind,
    /// Its name among those of its kind.
    pub key: String,
    /// The rule that it breaks.
    pub reason: String,
}

/// What a record says.
enum Said {
    Summary(KeptSummary),
    Todo(TodoItem),
    Info(InfoRange),
    Note(FolderNote),
    FileRead(FileRead),
    /// What no request is made from.
    Apart,
}

impl Session {
    /// The TODO items, ranges, notes and files that are kept but cannot be read. Requests
    /// are made without them, and say so. A summary that cannot be read is an error, for
    /// without it other messages would be sent.
    ///
    /// # Errors
    /// If the store refuses, or a summary is damaged.
    pub async fn damaged_records(&mut self) -> Result<Vec<DamagedRecord>, Error> {
        let damaged = self.kept().await?.damaged.iter();
        let record = |((kind, key), reason): (&(RecordKind, String), &String)| DamagedRecord {
            kind: *kind,
            key: key.clone(),
            reason: reason.clone(),
        };
        Ok(damaged.map(record).collect())
    }

    async fn read_records(&self, which: RecordFilter) -> Result<Records, Error> {
        let mut kept = Records::default();
        for record in self.records(which).await? {
            kept.insert(record)?;
        }
        kept.find_active();
        Ok(kept)
    }

    /// The records, read unless they are known.
    pub(super) async fn kept(&mut self) -> Result<&mut Records, Error> {
        let kept = match self.kept.take() {
            Some(kept) => kept,
            None => self.read_records(RecordFilter::default()).await?,
        };
        Ok(self.kept.insert(kept))
    }

    /// The recipe with what a request of this session adds to it: the summary, the TODO
    /// list, useful information and folder notes, as they were recorded when the session had
    /// this many events.
    ///
    /// # Errors
    /// If the store refuses, or a summary is damaged.
    pub async fn recipe_at(&self, recipe: &Recipe, seq: u64) -> Result<Recipe, Error> {
        let as_of = (seq < self.seq()).then_some(seq);
        let then = RecordFilter { as_of, ..RecordFilter::default() };
        let mut kept = self.read_records(then).await?;
        let at = match as_of {
            Some(seq) => self.time_of(seq).await?,
            None => now()?,
        };
        Ok(kept.complete(recipe, at).await?.into_owned())
    }

    /// The time at which a request was made or could have been made when the session had this
    /// many events, and has more now.
    async fn time_of(&self, seq: u64) -> Result<Timestamp, Error> {
        if let Some(request) = self.request_begun(seq, None).await? {
            return Ok(request.at);
        }
        let last =
            self.store.events(self.id(), Page::before(seq, 1)).await.map_err(Error::store)?;
        Ok(last.first().map_or(self.head.created, |event| event.at))
    }
}

/// A source of which nothing holds any more, for the report; none, if nothing ever did.
pub(super) fn expired_only(
    kind: ContextKind,
    expired: impl IntoIterator<Item = impl Into<Arc<str>>>,
) -> Option<ContextText> {
    let text = ContextText::new(kind, "").without(expired);
    (!text.expired.is_empty()).then_some(text)
}

impl Records {
    /// The summary that is sent.
    pub(super) fn active_summary(&self) -> Option<Arc<Summary>> {
        self.active.clone()
    }

    /// The recipe with what the session knows at a time and it does not say.
    pub(super) async fn complete<'r>(
        &mut self,
        recipe: &'r Recipe,
        at: Timestamp,
    ) -> Result<Cow<'r, Recipe>, Error> {
        let kept = self;
        let mut recipe = Cow::Borrowed(recipe);
        let at = recipe.at.unwrap_or(at);
        if recipe.at.is_none() && recipe.context.iter().any(|text| text.until.is_some()) {
            recipe.to_mut().at = Some(at);
        }
        if recipe.open_block == OpenBlock::Unsaid {
            recipe.to_mut().open_block = OpenBlock::Wait;
        }
        // A sub-agent says nothing that a summary of the session covers.
        if recipe.summary.is_none() && recipe.agent == Agent::Main && kept.active.is_some() {
            recipe.to_mut().summary.clone_from(&kept.active);
        }
        let lacks =
            |kind: &ContextKind| !recipe.context.iter().any(|context| context.kind == *kind);
        let mut texts = Vec::new();
        if lacks(&ContextKind::Todo) {
            texts.extend(todo::render(kept, &recipe.agent, at));
        }
        if lacks(&ContextKind::Info) {
            texts.extend(information::render(kept, at).await?);
        }
        if lacks(&ContextKind::Notes) {
            texts.extend(notes::render(kept, &recipe.agent, at));
        }
        if !texts.is_empty() {
            recipe.to_mut().context.append(&mut texts);
        }
        Ok(recipe)
    }

    /// Takes in what a record says from now on.
    pub(super) fn change(&mut self, record: Record) -> Result<(), Error> {
        self.remove(record.kind, &record.key);
        let is_summary = record.kind == RecordKind::Summary;
        self.insert(record)?;
        if is_summary {
            self.find_active();
        }
        Ok(())
    }

    /// What is said of records of these kinds that cannot be read: a line for each.
    pub(super) fn damaged_lines(&self, kinds: &[RecordKind]) -> String {
        let damaged = self.damaged.iter().filter(|((kind, _), _)| kinds.contains(kind));
        let line = |((kind, key), reason): (&(RecordKind, String), &String)| {
            format!("(the {kind} {} cannot be read: {})\n", one_line(key), one_line(reason))
        };
        damaged.map(line).collect()
    }

    fn insert(&mut self, record: Record) -> Result<(), Error> {
        let said = Said::read(record.kind, &record.key, &record.body);
        let (no, key) = (record.no, record.key.clone());
        match said {
            Ok(Said::Summary(summary)) => drop(self.summaries.insert(key, (record, summary))),
            Ok(Said::Todo(item)) => drop(self.todo.insert(item.place().to_vec(), item)),
            Ok(Said::Info(range)) => drop(self.information.insert(key, (no, range))),
            Ok(Said::Note(note)) => drop(self.notes.insert(key, (no, note))),
            Ok(Said::FileRead(read)) => drop(self.files.insert(key, read)),
            Ok(Said::Apart) => {}
            Err(reason) if record.kind == RecordKind::Summary => {
                return Err(Error::record(&record, reason));
            }
            Err(reason) => drop(self.damaged.insert((record.kind, key), reason)),
        }
        Ok(())
    }

    /// Forgets a record.
    pub(super) fn remove(&mut self, kind: RecordKind, key: &str) {
        self.damaged.remove(&(kind, key.to_owned()));
        match kind {
            RecordKind::Summary => {
                self.summaries.remove(key);
                self.find_active();
            }
            RecordKind::Todo => {
                if let Some(place) = todo::place_of(key) {
                    self.todo.remove(&place);
                }
            }
            RecordKind::Info => drop(self.information.remove(key)),
            RecordKind::Note => drop(self.notes.remove(key)),
            RecordKind::FileRead => drop(self.files.remove(key)),
            RecordKind::PlanRun | RecordKind::Run => {}
        }
    }

    fn find_active(&mut self) {
        let mut summaries = self.summaries.values();
        self.active = summaries.find_map(|(_, kept)| kept.active()).map(Arc::new);
    }
}

impl Said {
    fn read(kind: RecordKind, key: &str, body: &Json) -> Result<Self, String> {
        Ok(match kind {
            RecordKind::Summary => Self::Summary(parse(body)?),
            RecordKind::Todo => Self::Todo(TodoItem::of(key, parse(body)?)?),
            RecordKind::Info => {
                let range: InfoRange = parse(body)?;
                range.check()?;
                Self::Info(range)
            }
            RecordKind::Note => Self::Note(parse(body)?),
            RecordKind::FileRead => Self::FileRead(parse(body)?),
            RecordKind::PlanRun | RecordKind::Run => Self::Apart,
        })
    }
}

/// Which rule a record breaks, if it breaks one.
pub(crate) fn check(kind: RecordKind, key: &str, body: &Json) -> Result<(), String> {
    Said::read(kind, key, body).map(drop)
}

fn parse<T: DeserializeOwned>(body: &Json) -> Result<T, String> {
    serde_json::from_str(body.as_str()).map_err(|e| e.to_string())
}

/// What a record says.
pub(super) fn read<T: DeserializeOwned>(record: &Record) -> Result<T, Error> {
    parse(&record.body).map_err(|reason| Error::record(record, reason))
}

/// A change that makes a record say this.
pub(super) fn put(
    kind: RecordKind,
    key: &str,
    body: &impl Serialize,
) -> Result<RecordChange, Error> {
    Ok(RecordChange::put(kind, key, Json::of(body).map_err(Error::form)?))
}

/// The text of a value as JSON, in which nothing runs into anything else. That makes it a
/// key as well.
pub(super) fn text_of(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|e| Error::rule(format!("it cannot be stored: {e}")))
}
