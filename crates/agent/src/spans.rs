//! Spans, by OpenTelemetry's conventions for generative AI.
//!
//! | span | of | kind |
//! |---|---|---|
//! | `invoke_agent NAME` | a run, or that of a sub-agent inside its call | internal |
//! | `chat MODEL` | a request and its answer, tries and compactions included | client |
//! | `execute_tool NAME` | a call | internal |
//!
//! What was said is in none of them, unless the agent is asked to
//! ([`Agent::with_content_in_spans`]): arguments and results of calls, and what models answer.
//! `otel.name` and `otel.kind` are the fields by which bridges such as `tracing-opentelemetry`
//! know a span's name and kind.

use interleaf::Target;
use interleaf::model::{PartRef, Reply, Spent, ToolCall};
use interleaf_transport::{Answer, Error, ErrorKind};
use serde_json::json;
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::result::shortened;
use crate::{Agent, End, Output, Tool};

pub(crate) fn invoke_agent(agent: &Agent, target: Option<&Target>, session: &str) -> Span {
    let span = info_span!(
        "invoke_agent",
        "otel.name" = format!("invoke_agent {}", agent.name),
        "otel.kind" = "internal",
        "gen_ai.operation.name" = "invoke_agent",
        "gen_ai.agent.name" = agent.name,
        "gen_ai.agent.description" = Empty,
        "gen_ai.conversation.id" = session,
        "gen_ai.provider.name" = target.map(provider),
        "gen_ai.request.model" = target.map(|target| target.options.model.as_str()),
        "error.type" = Empty,
    );
    if !agent.description.is_empty() {
        span.record("gen_ai.agent.description", &agent.description);
    }
    span
}

/// Notes how a run ended.
pub(crate) fn ended(span: &Span, end: &End) {
    if *end != End::Completed {
        span.record("error.type", end.as_str());
    }
}

pub(crate) fn chat(target: Option<&Target>, session: &str) -> Span {
    let model = target.map_or("", |target| target.options.model.as_str());
    info_span!(
        "chat",
        "otel.name" = format!("chat {model}"),
        "otel.kind" = "client",
        "gen_ai.operation.name" = "chat",
        "gen_ai.conversation.id" = session,
        "gen_ai.provider.name" = target.map(provider),
        "gen_ai.request.model" = model,
        "gen_ai.response.id" = Empty,
        "gen_ai.response.model" = Empty,
        "gen_ai.response.finish_reasons" = Empty,
        "gen_ai.usage.input_tokens" = Empty,
        "gen_ai.usage.output_tokens" = Empty,
        "gen_ai.usage.cache_read.input_tokens" = Empty,
        "gen_ai.usage.cache_creation.input_tokens" = Empty,
        "gen_ai.output.messages" = Empty,
        "error.type" = Empty,
    )
}

/// Notes an answer.
pub(crate) fn answered(span: &Span, answer: &Answer, with_content: bool) {
    let reply = &answer.reply;
    if let Some(id) = &reply.id {
        span.record("gen_ai.response.id", id.as_str());
    }
    let model = reply.model.as_ref().unwrap_or(&answer.model);
    span.record("gen_ai.response.model", model.as_str());
    span.record("gen_ai.response.finish_reasons", reply.finish.as_str());
    if let Some(spent) = reply.usage.map(Spent::from) {
        span.record("gen_ai.usage.input_tokens", spent.sent());
        span.record("gen_ai.usage.output_tokens", spent.output.saturating_add(spent.reasoning));
        span.record("gen_ai.usage.cache_read.input_tokens", spent.read);
        let written = spent.written.saturating_add(spent.written_hour);
        span.record("gen_ai.usage.cache_creation.input_tokens", written);
    }
    if with_content {
        span.record("gen_ai.output.messages", output(reply).to_string());
    }
}

/// What a model said, in the form of the conventions.
fn output(reply: &Reply) -> serde_json::Value {
    let parts = reply.message.parts().filter_map(|part| match part {
        PartRef::Text(text) => Some(json!({"type": "text", "content": *text.text})),
        PartRef::Call(call) => Some(json!({
            "type": "tool_call",
            "id": call.id.as_str(),
            "name": call.name.as_str(),
            "arguments": call.arguments.as_str(),
        })),
        _ => None,
    });
    let parts: Vec<_> = parts.collect();
    json!([{"role": "assistant", "parts": parts, "finish_reason": reply.finish.as_str()}])
}

/// Notes that there is no answer.
pub(crate) fn unanswered(span: &Span, error: &Error) {
    let kind = match error.kind() {
        ErrorKind::Timeout(_) => "timeout".to_owned(),
        ErrorKind::Api(_) => error.status().map_or("api".to_owned(), |status| status.to_string()),
        kind => format!("{kind:?}").to_lowercase(),
    };
    span.record("error.type", kind);
}

pub(crate) fn execute_tool(tool: &dyn Tool, call: &ToolCall, with_content: bool) -> Span {
    let span = info_span!(
        "execute_tool",
        "otel.name" = format!("execute_tool {}", call.name),
        "otel.kind" = "internal",
        "gen_ai.operation.name" = "execute_tool",
        "gen_ai.tool.name" = call.name.as_str(),
        "gen_ai.tool.description" = Empty,
        "gen_ai.tool.type" = "function",
        "gen_ai.tool.call.id" = call.id.as_str(),
        "gen_ai.tool.call.arguments" = Empty,
        "gen_ai.tool.call.result" = Empty,
        "error.type" = Empty,
    );
    if let Some(description) = tool.spec().description {
        span.record("gen_ai.tool.description", &*description);
    }
    if with_content {
        span.record("gen_ai.tool.call.arguments", call.arguments.as_str());
    }
    span
}

/// Notes what a call gave.
pub(crate) fn gave(span: &Span, output: &Output, with_content: bool) {
    if output.is_error {
        span.record("error.type", "tool_error");
    }
    if with_content {
        let most = output.most_shown.unwrap_or(usize::MAX);
        span.record("gen_ai.tool.call.result", shortened(&output.text, most, "").as_str());
    }
}

/// The convention's name for a vendor; its own, where that has none.
fn provider(target: &Target) -> &str {
    match target.vendor.name.as_str() {
        "openai-chat" | "openai-responses" => "openai",
        "azure" | "azure-responses" => "azure.ai.openai",
        "google" => "gcp.gemini",
        "vertex" => "gcp.vertex_ai",
        "bedrock" => "aws.bedrock",
        "mistral" => "mistral_ai",
        "xai" => "x_ai",
        name => name,
    }
}
