//! The bytes of schemas and arguments as they were sent: a space in them is a token too.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::Api;
use crate::asked::{Asked, Part};

/// Puts what was sent in place of what JSON would be written anew.
pub(crate) fn restore(asked: &mut Asked, body: &str) {
    let schemas: &[&str] = match asked.api {
        Api::OpenAiChat => &["tools", "*", "function", "parameters"],
        Api::OpenAiResponses => &["tools", "*", "parameters"],
        Api::Anthropic => &["tools", "*", "input_schema"],
        Api::Gemini => {
            &["tools", "*", "functionDeclarations", "*", "parametersJsonSchema|parameters"]
        }
        Api::Bedrock => &["toolConfig", "tools", "*", "toolSpec", "inputSchema", "json"],
    };
    let schemas = found(body, schemas);
    let tools = asked.tools.iter_mut().filter(|tool| tool.parameters.is_some());
    let tools: Vec<_> = tools.collect();
    if tools.len() == schemas.len() {
        for (tool, schema) in tools.into_iter().zip(schemas) {
            tool.schema = schema.to_owned();
        }
    }
    // OpenAI's arguments are texts, which stay as they are.
    let arguments: &[&str] = match asked.api {
        Api::OpenAiChat | Api::OpenAiResponses => return,
        Api::Anthropic => &["messages", "*", "content", "*", "input"],
        Api::Gemini => &["contents", "*", "parts", "*", "functionCall", "args"],
        Api::Bedrock => &["messages", "*", "content", "*", "toolUse", "input"],
    };
    let sent = found(body, arguments);
    let pieces = asked.turns.iter_mut().flat_map(|turn| &mut turn.pieces);
    let calls = pieces.filter_map(|piece| match &mut piece.part {
        Part::Call { arguments, .. } => Some(arguments),
        _ => None,
    });
    let calls: Vec<&mut String> = calls.collect();
    // A call without arguments, or a tool that the API runs, makes them hard to match: then
    // they are counted as they would be written.
    if calls.len() == sent.len() {
        for (call, sent) in calls.into_iter().zip(sent) {
            *call = sent.to_owned();
        }
    }
}

/// All texts at a path; `*` is every element of a list, `a|b` the first of two fields.
fn found<'a>(json: &'a str, path: &[&str]) -> Vec<&'a str> {
    let Some((step, rest)) = path.split_first() else { return vec![json] };
    if *step == "*" {
        let list: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
        return list.into_iter().flat_map(|inner| found(inner.get(), rest)).collect();
    }
    let fields: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(json).unwrap_or_default();
    let inner = step.split('|').find_map(|name| fields.get(name));
    inner.map(|inner| found(inner.get(), rest)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_finds_the_bytes_that_were_sent() {
        let body = r#"{"tools": [{"x": {"a":  1}}, {"y": 2}, {"x": [ ]}]}"#;
        assert_eq!(found(body, &["tools", "*", "x"]), [r#"{"a":  1}"#, "[ ]"]);
        assert_eq!(found(body, &["tools", "*", "x|y"]).len(), 3);
        assert!(found(body, &["none", "*"]).is_empty());
    }
}
