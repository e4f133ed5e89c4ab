//! Objects of a body that have two fields of one name: which of them counts is anyone's
//! guess.
//!
//! Values that are carried as they came (arguments, schemas, unknown fields) are not looked
//! into.

use std::borrow::Cow;
use std::collections::HashSet;

use memchr::memchr2;

/// Fields whose objects, or lists of objects, are taken apart, of all families. Gemini's are
/// here in both spellings.
const TAKEN_APART: [&str; 64] = [
    "messages",
    "contents",
    "content",
    "parts",
    "system",
    "instructions",
    "systemInstruction",
    "system_instruction",
    "output",
    "summary",
    "tool_calls",
    "function_call",
    "function",
    "custom",
    "toolUse",
    "toolResult",
    "functionCall",
    "functionResponse",
    "function_response",
    "reasoningContent",
    "reasoningText",
    "image_url",
    "input_audio",
    "file",
    "source",
    "image",
    "document",
    "video",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "s3Location",
    "tools",
    "functionDeclarations",
    "function_declarations",
    "toolSpec",
    "inputSchema",
    "toolConfig",
    "tool_config",
    "functionCallingConfig",
    "function_calling_config",
    "toolChoice",
    "tool_choice",
    "tool",
    "any",
    "auto",
    "generationConfig",
    "generation_config",
    "thinkingConfig",
    "thinking_config",
    "inferenceConfig",
    "outputConfig",
    "textFormat",
    "structure",
    "jsonSchema",
    "output_config",
    "thinking",
    "reasoning",
    "text",
    "format",
    "response_format",
    "json_schema",
    "stream_options",
];

/// The first field of a body whose name its object has already: where it begins, and the
/// name. The text must be JSON; of any other nothing is known.
pub(crate) fn find(text: &str) -> Option<(usize, Cow<'_, str>)> {
    let bytes = text.as_bytes();
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => {
                let is_object = byte == b'{';
                let is_checked = open.last().is_none_or(|outer| outer.leads_to(is_object));
                open.push(Open {
                    is_object,
                    is_checked,
                    expects_name: is_object,
                    ..Open::default()
                });
            }
            b'}' | b']' => {
                open.pop();
            }
            b',' => {
                if let Some(inner) = open.last_mut() {
                    inner.expects_name = inner.is_object;
                }
            }
            b'"' => {
                let end = end_of_string(bytes, at + 1)?;
                if let Some(inner) = open.last_mut().filter(|inner| inner.expects_name) {
                    inner.expects_name = false;
                    inner.name =
                        if inner.is_checked { name(text.get(at..=end)?) } else { "".into() };
                    if inner.is_checked && !inner.insert() {
                        return Some((at, inner.name.clone()));
                    }
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The quote that ends a string, from its first byte on.
fn end_of_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        match bytes.get(at)? {
            b'"' => return Some(at),
            _ => at += 2,
        }
    }
}

/// What a string in quotes says.
fn name(quoted: &str) -> Cow<'_, str> {
    let plain = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    match plain.contains('\\') {
        true => serde_json::from_str(quoted).map_or(Cow::Borrowed(plain), Cow::Owned),
        false => Cow::Borrowed(plain),
    }
}

/// An object or a list that has not ended yet.
#[derive(Default)]
struct Open<'a> {
    is_object: bool,
    is_checked: bool,
    expects_name: bool,
    /// The name of the field that came last.
    name: Cow<'a, str>,
    few: Vec<Cow<'a, str>>,
    many: HashSet<Cow<'a, str>>,
}

impl Open<'_> {
    /// Whether an object or list that begins here is taken apart.
    fn leads_to(&self, is_object: bool) -> bool {
        let is_known = || match &*self.name {
            // A list of items, or the arguments of a call.
            "input" => !is_object,
            name => TAKEN_APART.contains(&name),
        };
        self.is_checked && (!self.is_object || is_known())
    }

    /// Adds the name that came last; says whether it is new.
    fn insert(&mut self) -> bool {
        const FEW: usize = 16;
        if self.few.len() < FEW {
            let is_new = !self.few.contains(&self.name);
            self.few.push(self.name.clone());
            return is_new;
        }
        if self.many.is_empty() {
            self.many.extend(self.few.iter().cloned());
        }
        self.many.insert(self.name.clone())
    }
}
