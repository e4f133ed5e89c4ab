//! What a compaction did, as data.

use std::collections::BTreeMap;
use std::fmt;

use interleaf::compaction::{CompactedReport, Compaction, Refusal, SummaryForm};
use interleaf::model::Spent;
use serde::{Serialize, Serializer};
use smol_str::SmolStr;

use crate::{Amount, Answer, Attempts, Error};

/// A compaction that was done.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CompactionDone {
    /// Why it was done.
    pub because: CompactedBecause,
    /// What gave way, what stayed, and the figures before it.
    #[serde(skip)]
    pub plan: Compaction,
    /// What came of it.
    #[serde(flatten)]
    pub report: CompactedReport,
    /// The texts that a model wrote, or failed to.
    pub texts: Vec<SummaryText>,
    /// Why the summary is a digest that no model wrote. None: a model wrote it.
    pub without_model: Option<WithoutModel>,
}

/// Why a session was compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompactedBecause {
    /// Somebody asked for it.
    Asked,
    /// The policy said that it was due.
    Due,
    /// The policy said that it was due, and the summary had been prepared before.
    Prepared,
    /// An API found a request too long.
    Overflow,
}

/// A text that was asked for as a summary.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SummaryText {
    /// What the model read.
    pub form: SummaryForm,
    /// Who was asked.
    pub vendor: SmolStr,
    /// Which model.
    pub model: SmolStr,
    /// What was tried.
    #[serde(skip)]
    pub attempts: Attempts,
    /// What it cost. None: unknown.
    #[serde(serialize_with = "parts")]
    pub spent: Option<Spent>,
    /// What that comes to in money, if the model's rates are known.
    #[serde(serialize_with = "decimal")]
    pub price: Option<Amount>,
    /// Why it was refused; empty, if it was taken.
    pub refused: Vec<Refusal>,
    /// Why there is no text.
    pub failure: Option<String>,
}

/// Why no model wrote a summary.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WithoutModel {
    /// What the model wrote broke the contract twice.
    Refused(Vec<Refusal>),
    /// The model gave no answer.
    Failed(String),
}

impl SummaryText {
    pub(super) fn of(form: SummaryForm, answer: Answer, refused: Vec<Refusal>) -> Self {
        let Answer { vendor, model, spent, price, attempts, .. } = answer;
        Self { form, vendor, model, attempts, spent, price, refused, failure: None }
    }

    /// What it cost, in words. None: there is no text.
    pub fn cost(&self) -> Option<String> {
        if self.failure.is_some() {
            return None;
        }
        let Some(spent) = self.spent else { return Some("nobody knows what".to_owned()) };
        let made = spent.output.saturating_add(spent.reasoning);
        let price = self.price.map_or("unknown".to_owned(), |price| price.to_string());
        Some(format!("{} sent, {made} made, price {price}", spent.sent()))
    }

    pub(super) fn failed(form: SummaryForm, error: &Error) -> Self {
        Self {
            form,
            vendor: error.vendor().into(),
            model: error.model().into(),
            attempts: error.attempts().clone(),
            spent: None,
            price: None,
            refused: Vec::new(),
            failure: Some(error.to_string()),
        }
    }
}

/// The parts of what was spent, by their names.
fn parts<S: Serializer>(spent: &Option<Spent>, serializer: S) -> Result<S::Ok, S::Error> {
    let parts = |spent: &Spent| {
        BTreeMap::from([
            ("uncached", spent.uncached),
            ("read", spent.read),
            ("written", spent.written),
            ("written_hour", spent.written_hour),
            ("output", spent.output),
            ("reasoning", spent.reasoning),
        ])
    };
    spent.as_ref().map(parts).serialize(serializer)
}

/// An amount as it is shown: no number of JSON has it exactly.
fn decimal<S: Serializer>(price: &Option<Amount>, serializer: S) -> Result<S::Ok, S::Error> {
    price.map(|price| price.to_string()).serialize(serializer)
}

/// What texts cost that are lost, as a clause. None: nothing was written.
pub(crate) fn lost(texts: &[SummaryText]) -> Option<String> {
    let costs: Vec<String> = texts.iter().filter_map(SummaryText::cost).collect();
    let are_any = !costs.is_empty();
    are_any.then(|| format!("the summary is lost; it cost {}", costs.join(", and ")))
}

/// The texts of a summary that was prepared for what has changed since.
pub(super) fn outdated(mut texts: Vec<SummaryText>) -> Vec<SummaryText> {
    if let Some(last) = texts.last_mut().filter(|last| last.failure.is_none()) {
        last.refused.push(Refusal::Outdated);
    }
    texts
}

impl CompactionDone {
    /// What all texts cost together. None: of one it is unknown.
    pub fn spent(&self) -> Option<Spent> {
        self.texts.iter().map(|text| text.spent).try_fold(Spent::default(), |sum, spent| {
            let (mut sum, spent) = (sum, spent?);
            sum.uncached += spent.uncached;
            sum.read += spent.read;
            sum.written += spent.written;
            sum.written_hour += spent.written_hour;
            sum.output += spent.output;
            sum.reasoning += spent.reasoning;
            Some(sum)
        })
    }
}

/// A line for a person.
impl fmt::Display for CompactionDone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CompactedReport { n_messages, before, after, .. } = self.report;
        let facts = self.report.facts();
        let who = match (&self.without_model, self.texts.last()) {
            (None, Some(text)) => format!("a summary by {} ({})", text.vendor, text.model),
            _ => "a digest, made without a model".to_owned(),
        };
        let because = match self.because {
            CompactedBecause::Asked => "",
            CompactedBecause::Due => ", for it was due",
            CompactedBecause::Prepared => ", prepared before it was due",
            CompactedBecause::Overflow => ", for the request was too long",
        };
        write!(
            f,
            "{n_messages} messages of {before} tokens gave way to {who}, of {after} tokens with \
             {facts}{because}"
        )
    }
}

impl fmt::Display for WithoutModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => {
                let refused: Vec<String> = refused.iter().map(Refusal::to_string).collect();
                write!(f, "the second text broke the contract: {}", refused.join("; "))
            }
            Self::Failed(why) => write!(f, "the model gave no answer: {why}"),
        }
    }
}

/// A line for a person.
impl fmt::Display for SummaryText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(failure) = &self.failure {
            return f.write_str(failure);
        }
        write!(f, "{} ({}): ", self.vendor, self.model)?;
        match self.refused.as_slice() {
            [] => f.write_str("the summary was taken"),
            refused => {
                let refused: Vec<String> = refused.iter().map(Refusal::to_string).collect();
                write!(f, "the summary was refused: {}", refused.join("; "))
            }
        }
    }
}
