//! The tags that a call may begin with.
//!
//! | form | example |
//! |---|---|
//! | the protocol's own | `<invoke name="f"><parameter name="x">1</parameter></invoke>` |
//! | name after the tag | `<function=f><parameter=x>1</parameter></function>` |
//! | the tool is the tag | `<f><x>1</x></f>` |
//! | keys and values | `<tool_call>f<arg_key>x</arg_key><arg_value>1</arg_value></tool_call>` |

use super::tools::Tools;
use crate::xml::elements::{Patience, close_of};
use crate::xml::tag::{Tag, TagKind, Tags};
use crate::xml::text::plain;

pub(crate) const CALL_TAGS: [&str; 11] = [
    "invoke",
    "function",
    "tool_call",
    "function_call",
    "tool-call",
    "toolcall",
    "call",
    "tool",
    "tool_use",
    "use_tool",
    "longcat_tool_call",
];
const WRAPPERS: [&str; 6] =
    ["tools", "tool_calls", "tool-calls", "function_calls", "calls", "invokes"];

/// The start of a call.
pub(crate) struct Opening {
    /// The tool as it was named.
    pub(super) name: String,
    /// Where the body begins.
    pub(super) body: usize,
}

/// The call that a tag begins, if it begins one that is not written as JSON.
pub(crate) fn opening(
    tags: &Tags<'_>,
    tag: &Tag<'_>,
    tools: &Tools,
    patience: &Patience,
) -> Option<Opening> {
    if tag.kind == TagKind::Close {
        return None;
    }
    let of = |name: &str, body| Some(Opening { name: name.trim().to_owned(), body });
    if tag.is_one_of(&CALL_TAGS) {
        if let Some(name) = tag.subject() {
            return of(name, tag.span.end);
        }
        let body = &tags.text[tag.span.end..];
        let word = body.trim_start().split(['<', '\n']).next().unwrap_or_default().trim();
        if !word.is_empty() && tools.find(word).is_some() {
            let start = body.len() - body.trim_start().len();
            return of(word, tag.span.end + start + word.len());
        }
        let child = tags.next(tag.span.end)?;
        let names = ["name", "tool_name", "tool", "function_name"];
        let is_first = tags.text[tag.span.end..child.span.start].trim().is_empty();
        if is_first && child.is_one_of(&names) && child.subject().is_none() {
            let (end, after) = close_of(tags, child.span.end, child.name, patience)?;
            return of(&plain(&tags.text[child.span.end..end]), after);
        }
        // What stands before `<arg_key>` can only be the name of a tool.
        let is_keyed = child.is_one_of(&["arg_key", "longcat_arg_key"]);
        if is_keyed && !word.is_empty() && !word.contains(char::is_whitespace) {
            return of(word, child.span.start);
        }
        return None;
    }
    let is_tool = !is_wrapper(tag.name) && tools.get_cased(tag.name).is_some();
    is_tool.then(|| Opening { name: tag.name.to_owned(), body: tag.span.end })
}

/// Whether a tag of this name goes around calls.
pub(crate) fn is_wrapper(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WRAPPERS.contains(&name.as_str()) || name.ends_with("-tools") || name.ends_with("_tools")
}

/// Whether calls in JSON may stand in a tag. `<tools>` holds what a model may call.
pub(super) fn may_hold_json(tag: &Tag<'_>) -> bool {
    let is_bare = tag.kind == TagKind::Open && tag.subject().is_none();
    is_bare && (tag.is_one_of(&CALL_TAGS) || (tag.is_one_of(&WRAPPERS) && !tag.is("tools")))
}
