//! What is stored of how a request was made, and what is read of it again.

use std::sync::Arc;

use interleaf_assemble::{Element, Elements, Placement, Report, Tokens, ToolOrder};
use interleaf_store::SentRequest;
use interleaf_wire::NameMap;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::terms::Terms;
use super::trail::StoredWith;
use crate::Impact;
use crate::impact::Trace;
use crate::stored::StoredAt;

/// What is written.
#[derive(Serialize)]
pub(super) struct Telling<'a> {
    #[serde(flatten)]
    pub(super) report: &'a Report,
    /// The hash of what the answer is made after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prefix: Option<&'a SmolStr>,
    /// The tool names that were rewritten for the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) names: Option<&'a NameMap>,
    /// The request before it that showed context which stays shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) earlier: Option<Earlier>,
    /// All that is shown of the context and stays, so that nothing earlier need be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) all_elements: Option<Vec<Arc<Element>>>,
    /// The order of the session's tools, if this request made it another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<ToolOrder>,
    /// The request before it that did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools_at: Option<Earlier>,
    /// How the recipe had it made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) terms: Option<Terms>,
    /// What it has in common with the request before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) impact: Option<&'a Impact>,
    /// What the next request is held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trace: Option<&'a Trace>,
    /// Where it was cut, if its answer was to be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stored: Option<&'a StoredAt>,
}

impl<'a> Telling<'a> {
    /// The report alone.
    pub(super) fn of(report: &'a Report) -> Self {
        let (prefix, names, terms, impact, trace, stored) = (None, None, None, None, None, None);
        let (earlier, all_elements, tools, tools_at) = (None, None, None, None);
        Self {
            report,
            prefix,
            names,
            earlier,
            all_elements,
            tools,
            tools_at,
            terms,
            impact,
            trace,
            stored,
        }
    }

    /// The report, and what the session remembers with it.
    pub(super) fn after(report: &'a Report, stored: StoredWith) -> Self {
        let StoredWith { earlier, all_elements, tools, tools_at } = stored;
        Self { earlier, all_elements, tools, tools_at, ..Self::of(report) }
    }
}

/// A request of the session, or of one that it is a fork of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Earlier {
    /// The event that it began with.
    pub(super) event: u64,
    /// Its number.
    pub(super) no: u64,
}

/// What whoever makes the next request or takes the answer reads of it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    pub(super) placement: Option<Placement>,
    pub(super) prefix: Option<SmolStr>,
    pub(super) names: NameMap,
    pub(super) tokens: Option<Tokens>,
    pub(super) elements: Option<Elements>,
    pub(super) earlier: Option<Earlier>,
    pub(super) all_elements: Option<Vec<Arc<Element>>>,
    pub(super) tools: Option<ToolOrder>,
    pub(super) tools_at: Option<Earlier>,
    pub(super) terms: Option<Terms>,
    pub(super) impact: Option<Impact>,
    pub(super) trace: Option<Trace>,
    pub(super) stored: Option<StoredAt>,
}

impl Told {
    /// Nothing, if the report is of another form.
    pub(super) fn by(request: &SentRequest) -> Self {
        serde_json::from_str(request.report.as_str()).unwrap_or_default()
    }
}
