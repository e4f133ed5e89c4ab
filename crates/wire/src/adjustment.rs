//! What an API could not take as it was.

use std::fmt;

use interleaf_model::MessageId;
use serde::Serialize;

/// One thing that was changed for an API's sake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Adjustment {
    /// What.
    pub kind: AdjustmentKind,
    /// In which message, if in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// Particulars; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What was changed for an API's sake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AdjustmentKind {
    /// A call id that the API refuses was rewritten.
    CallIdRewritten,
    /// A tool name that the API refuses was rewritten; the reply is mapped back.
    ToolNameRewritten,
    /// Thinking that another producer made, or that its producer would refuse, was left out.
    ThinkingDropped,
    /// A signature that the API insists on was missing and a stand-in was put there.
    SignatureStandIn,
    /// A picture or file of a tool result follows in a user message.
    MediaMoved,
    /// A picture or file cannot travel; in a request, a note says so.
    MediaDropped,
    /// A part that only another vendor understands was left out.
    OpaqueDropped,
    /// Fields that another vendor attached were left out.
    FieldsDropped,
    /// A failed result is marked in its text.
    ErrorInText,
    /// A blank text was left out, or a placeholder put where something must stand.
    BlankText,
    /// Neighbouring messages of one role became one.
    TurnsMerged,
    /// A short turn was put in, because the API demands another order.
    TurnInserted,
    /// The system text went into a user message.
    SystemFolded,
    /// Arguments that are no JSON object were wrapped.
    ArgumentsWrapped,
    /// A tool's schema was changed to what the API understands.
    SchemaChanged,
    /// A setting that the API does not have was left out.
    OptionDropped,
    /// A setting was changed to what comes nearest to it.
    OptionChanged,
    /// Tools, calls and results are written as text: the model calls no functions.
    ToolsAsText,
    /// Tools were declared from the history, because the API demands it.
    ToolsDeclared,
    /// A file has a name that the API refuses, or has twice, and got another.
    FileRenamed,
    /// A file's name, for which the API has no field, was left out.
    FileNameDropped,
    /// The API's own id of an item, which it would refuse here, was left out.
    ItemIdDropped,
    /// The seal of a thought, for which an answer has no place, was left out.
    SealDropped,
    /// A refusal stands in an answer as text.
    RefusalInText,
    /// Parts of an answer that the API does not keep apart became one.
    PartsMerged,
    /// Parts of an answer stand in the only order that the API has.
    PartsReordered,
    /// A reason to stop that the API has no word for became another.
    FinishChanged,
    /// Counts that the API does not tell were left out, or zeros stand for unknown ones.
    UsageChanged,
    /// The id of an answer and its model, for which the API has no place, were left out.
    NamesDropped,
}

impl AdjustmentKind {
    /// The kind's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CallIdRewritten => "call id rewritten",
            Self::ToolNameRewritten => "tool name rewritten",
            Self::ThinkingDropped => "thinking left out",
            Self::SignatureStandIn => "stand-in signature",
            Self::MediaMoved => "media moved after the results",
            Self::MediaDropped => "media left out",
            Self::OpaqueDropped => "vendor part left out",
            Self::FieldsDropped => "vendor fields left out",
            Self::ErrorInText => "error stated in the text",
            Self::BlankText => "blank text",
            Self::TurnsMerged => "turns merged",
            Self::TurnInserted => "turn inserted",
            Self::SystemFolded => "system text folded",
            Self::ArgumentsWrapped => "arguments wrapped",
            Self::SchemaChanged => "schema changed",
            Self::OptionDropped => "setting left out",
            Self::OptionChanged => "setting changed",
            Self::ToolsAsText => "tools as text",
            Self::ToolsDeclared => "tools declared",
            Self::FileRenamed => "file renamed",
            Self::FileNameDropped => "file name left out",
            Self::ItemIdDropped => "item id left out",
            Self::SealDropped => "signature left out",
            Self::RefusalInText => "refusal stated in the text",
            Self::PartsMerged => "parts merged",
            Self::PartsReordered => "parts reordered",
            Self::FinishChanged => "finish reason changed",
            Self::UsageChanged => "usage changed",
            Self::NamesDropped => "id and model left out",
        }
    }
}

impl fmt::Display for AdjustmentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Where an encoder puts what it changed.
#[derive(Debug, Default)]
pub(crate) struct Adjustments(pub(crate) Vec<Adjustment>);

impl Adjustments {
    pub(crate) fn add(
        &mut self,
        kind: AdjustmentKind,
        message: &MessageId,
        detail: impl Into<String>,
    ) {
        self.0.push(Adjustment { kind, message: Some(message.clone()), detail: detail.into() });
    }

    /// Of the request as a whole.
    pub(crate) fn add_general(&mut self, kind: AdjustmentKind, detail: impl Into<String>) {
        self.0.push(Adjustment { kind, message: None, detail: detail.into() });
    }
}
