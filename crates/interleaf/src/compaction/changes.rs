//! The files that a call writes, as far as its name and its arguments say so.

use interleaf_model::ToolCall;
use serde_json::{Map, Value};

/// A tool with one of these words in its name changes files.
const CHANGES: [&str; 16] = [
    "append", "apply", "copy", "create", "delete", "edit", "insert", "modify", "move", "patch",
    "remove", "rename", "replace", "save", "update", "write",
];
/// A tool that does many things does one of these and changes nothing.
const LOOKS: [&str; 6] = ["get", "list", "read", "search", "show", "view"];
/// An argument with one of these words in its name says what a tool is to do.
const DOES: [&str; 3] = ["action", "command", "operation"];
/// An argument with one of these words in its name has the name of a file.
const NAMES: [&str; 6] = ["file", "filename", "filepath", "files", "path", "paths"];
/// Of these tools, those with one of `ENDS` have too.
const MOVES: [&str; 3] = ["copy", "move", "rename"];
const ENDS: [&str; 6] = ["destination", "from", "new", "old", "source", "to"];
/// What stands before the name of a file in a patch.
const IN_PATCH: [&str; 6] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ b/", "+++ "];

/// The files that a call writes, moves or deletes. None, if its name does not say that it does.
pub(super) fn changed(call: &ToolCall) -> Vec<String> {
    if !has_word(call.name.as_str(), &CHANGES) {
        return Vec::new();
    }
    let whole = call.arguments.as_str();
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(whole) else {
        return in_patch(whole).collect();
    };
    let looks = |(name, value): (&String, &Value)| {
        has_word(name, &DOES) && value.as_str().is_some_and(|does| has_word(does, &LOOKS))
    };
    if fields.iter().any(looks) {
        return Vec::new();
    }
    let (moves, mut files) = (has_word(call.name.as_str(), &MOVES), Vec::new());
    named(&fields, moves, &mut files);
    files
}

fn named(fields: &Map<String, Value>, moves: bool, files: &mut Vec<String>) {
    for (name, value) in fields {
        let is_name = has_word(name, &NAMES) || moves && has_word(name, &ENDS);
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) if is_name && !text.contains('\n') => files.push(text.clone()),
                Value::String(text) => files.extend(in_patch(text)),
                Value::Array(some) => open.extend(some.iter().rev()),
                Value::Object(fields) => named(fields, moves, files),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }
}

/// The files that a patch changes.
fn in_patch(text: &str) -> impl Iterator<Item = String> {
    let named = |line| IN_PATCH.iter().find_map(|start| str::strip_prefix(line, start));
    let files = text.lines().filter_map(named).map(|file| file.trim().to_owned());
    files.filter(|file| file != "/dev/null")
}

/// Whether a name has one of these words: `write_file`, `writeFile` and `file.write` have `write`.
fn has_word(name: &str, words: &[&str]) -> bool {
    let mut spaced = String::with_capacity(name.len() + 4);
    let mut was_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && was_lower {
            spaced.push(' ');
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
        spaced.extend(c.to_lowercase());
    }
    spaced.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word))
}

#[cfg(test)]
mod tests {
    use interleaf_model::{Arguments, CallId, Extra, ToolCall};

    use super::changed;

    #[test]
    fn the_files_that_a_call_writes_are_known_and_those_that_it_reads_are_none() {
        let rows: [(&str, &str, &[&str]); 13] = [
            ("write_file", r#"{"path": "src/a.rs", "content": "see src/b.rs"}"#, &["src/a.rs"]),
            ("Write", r#"{"file_path": "Makefile"}"#, &["Makefile"]),
            ("editFile", r#"{"targetFile": "a.txt", "old": "b.txt"}"#, &["a.txt"]),
            ("fs.move", r#"{"source": "a", "destination": "b"}"#, &["a", "b"]),
            ("create_ticket", r#"{"source": "mail", "title": "a.rs is slow"}"#, &[]),
            ("MultiEdit", r#"{"edits": [{"file_path": "a"}, {"file_path": "b"}]}"#, &["a", "b"]),
            ("str_replace_based_edit_tool", r#"{"command": "view", "path": "a"}"#, &[]),
            ("str_replace_based_edit_tool", r#"{"command": "create", "path": "a"}"#, &["a"]),
            (
                "apply_patch",
                "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y",
                &["src/a.rs"],
            ),
            (
                "apply_patch",
                r#"{"input": "*** Add File: a.py\n+x\n*** Delete File: b.py"}"#,
                &["a.py", "b.py"],
            ),
            ("git_apply", r#"{"diff": "--- a/x.c\n+++ b/x.c\n@@\n"}"#, &["x.c"]),
            ("read_file", r#"{"path": "src/a.rs"}"#, &[]),
            ("list_files", r#"{"path": "src"}"#, &[]),
        ];
        for (name, arguments, files) in rows {
            let call = ToolCall {
                id: CallId::new("c").unwrap(),
                name: name.into(),
                arguments: Arguments::from_text(arguments),
                extra: Extra::NONE,
            };
            assert_eq!(changed(&call), files, "{name} {arguments}");
        }
    }
}
