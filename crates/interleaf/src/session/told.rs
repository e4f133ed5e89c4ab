//! What is stored of how a request was made, and what is read of it again.

use interleaf_assemble::{Placement, Report, Tokens};
use interleaf_store::SentRequest;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// What is written.
#[derive(Serialize)]
pub(super) struct Telling<'a> {
    #[serde(flatten)]
    pub(super) report: &'a Report,
    /// The hash of what the answer is made after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prefix: Option<&'a SmolStr>,
}

/// What whoever makes the next request or takes the answer reads of it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    pub(super) placement: Option<Placement>,
    pub(super) prefix: Option<SmolStr>,
    pub(super) tokens: Option<Tokens>,
}

impl Told {
    /// Nothing, if the report is of another form.
    pub(super) fn by(request: &SentRequest) -> Self {
        serde_json::from_str(request.report.as_str()).unwrap_or_default()
    }
}
