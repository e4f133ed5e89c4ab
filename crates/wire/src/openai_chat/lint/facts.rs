//! What the rest of a body says, where a rule needs to know.

use super::tools::hosted_tool;
use crate::adjustment::Adjustments;
use crate::encode::Context;
use crate::openai_chat::effort;
use crate::openai_chat::models::Model;
use crate::tree::Value;
use crate::{Quirks, Vendor};

/// What a rule for one field needs to know of the others.
pub(in crate::openai_chat) struct Facts {
    pub(super) quirks: Quirks,
    pub(super) model: Model,
    /// Type and name of each tool.
    pub(super) tools: Vec<(String, String)>,
    pub(super) is_stream: bool,
    /// Sampling can be set.
    pub(super) samples: bool,
    /// Thinking is not switched off.
    pub(super) thinks: bool,
}

impl Facts {
    /// Of a body that is being written.
    pub(in crate::openai_chat) fn of(cx: &Context<'_>) -> Self {
        let quirks = cx.vendor.quirks;
        let functions = cx.prompt.tools().iter().map(|tool| {
            let name = cx.wire_names().write(&tool.name);
            ("function".to_owned(), name.into_owned())
        });
        let hosted = &cx.options.hosted_tools;
        let hosted = hosted.iter().filter_map(|tool| hosted_tool(tool, &quirks).ok());
        let mut facts = Self {
            quirks,
            model: Model::named(&cx.options.model),
            tools: functions.chain(hosted).collect(),
            is_stream: cx.options.stream,
            samples: false,
            thinks: true,
        };
        let (mode, model) = (cx.options.thinking.unwrap_or_default(), &cx.options.model);
        let asked = effort::word(mode, model, &mut Adjustments::default());
        let effort = if facts.needs_no_effort() { Some("none") } else { asked };
        facts.samples = facts.model.samples(effort);
        facts
    }

    /// Of a body that is there.
    pub(super) fn read(body: &Value, vendor: &Vendor) -> Self {
        let tools = match &body["tools"] {
            Value::Array(tools) => tools.iter().filter_map(kind_and_name).collect(),
            _ => Vec::new(),
        };
        let model = Model::named(body["model"].as_str().unwrap_or_default());
        Self {
            quirks: vendor.quirks,
            model,
            tools,
            is_stream: body["stream"] == true,
            samples: model.samples(body["reasoning_effort"].as_str()),
            thinks: body["thinking"]["type"] != "disabled",
        }
    }

    pub(super) fn has_functions(&self) -> bool {
        self.tools.iter().any(|(kind, _)| kind == "function")
    }

    /// The model has no function tools on this API, and there are some.
    pub(in crate::openai_chat) fn refuses_tools(&self) -> bool {
        self.quirks.native && self.model.refuses_tools() && self.has_functions()
    }

    /// The effort must be said to be none.
    pub(in crate::openai_chat) fn needs_no_effort(&self) -> bool {
        self.quirks.native && self.model.tools_need_none() && self.has_functions()
    }
}

fn kind_and_name(tool: &Value) -> Option<(String, String)> {
    let kind = tool["type"].as_str()?;
    Some((kind.to_owned(), tool[kind]["name"].as_str().unwrap_or_default().to_owned()))
}
