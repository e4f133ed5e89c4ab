//! What was done to make a request, for programs and in one line.

use interleaf_assemble::{Outcome, Report, counts};
use interleaf_model::CallId;
use interleaf_wire::{Adjustment, Encoded};
use serde::Serialize;

use super::{Preview, Rewritten};
use crate::{Impact, Request, SessionWarmth};

/// A report in JSON.
#[derive(Serialize)]
struct ReportForm<'a> {
    #[serde(flatten)]
    report: &'a Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<Vec<&'a CallId>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<&'a Adjustment>,
    #[serde(skip_serializing_if = "<[Rewritten]>::is_empty")]
    rewritten: &'a [Rewritten],
    #[serde(skip_serializing_if = "Option::is_none")]
    impact: Option<&'a Impact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warmth: Option<&'a SessionWarmth>,
}

impl Preview {
    /// What the API could not take as it was.
    pub fn changes(&self) -> Vec<&Adjustment> {
        self.body.iter().flat_map(Encoded::all_adjustments).collect()
    }

    /// The report as JSON, with what the API could not take as it was.
    pub fn report_json(&self) -> String {
        // Our own types have string keys and no failing Serialize.
        let mut text = serde_json::to_string_pretty(&self.report()).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The body, as it was written, in an object with the report beside it if anything was
    /// changed: `{"body": …, "report": …}`.
    pub fn with_report(&self, body: &str) -> String {
        if self.changes_line().is_none() && self.rewritten.is_empty() {
            return format!(r#"{{"body":{body}}}"#);
        }
        let report = serde_json::to_string(&self.report()).unwrap_or_default();
        format!(r#"{{"body":{body},"report":{report}}}"#)
    }

    fn report(&self) -> ReportForm<'_> {
        ReportForm {
            report: &self.assembly.report,
            waiting: match &self.assembly.outcome {
                Outcome::Ready(_) => None,
                Outcome::Waiting(calls) => Some(calls.iter().map(|open| &open.call.id).collect()),
            },
            changes: self.changes(),
            rewritten: &self.rewritten,
            impact: self.impact.as_ref(),
            warmth: self.warmth.as_ref(),
        }
    }

    /// The first places where the body is another than the one that it was read from, and how
    /// many there are beside them.
    pub fn rewritten_line(&self) -> Option<String> {
        const MOST: usize = 8;
        let mut places: Vec<String> =
            self.rewritten.iter().take(MOST).map(ToString::to_string).collect();
        if let n @ 1.. = self.rewritten.len().saturating_sub(MOST) {
            places.push(format!("{n} more places"));
        }
        (!places.is_empty()).then(|| places.join(", "))
    }

    /// What was changed, in one line: `2 dropped, 1 made; 1 changed for the API`. Nothing, if
    /// all of it is as it was said.
    pub fn changes_line(&self) -> Option<String> {
        changes_line(&self.assembly.report, self.changes().len())
    }
}

impl Request {
    /// What was changed to make it, in one line, as [`Preview::changes_line`] tells it.
    pub fn changes_line(&self) -> Option<String> {
        changes_line(&self.report, self.adjustments().count())
    }
}

fn changes_line(report: &Report, n_changes: usize) -> Option<String> {
    let counts = counts(report.findings().map(|(_, finding)| finding));
    let changes = (n_changes > 0).then(|| format!("{n_changes} changed for the API"));
    let mended = (!counts.is_empty()).then(|| counts.join(", "));
    let told: Vec<String> = mended.into_iter().chain(changes).collect();
    (!told.is_empty()).then(|| told.join("; "))
}
