use interleaf_model::{ErrorKind, Transcript};

/// A transcript that must be refused.
pub(crate) struct Bad {
    /// The text, with `‸` before the character that the error must point at.
    marked: &'static str,
    kind: ErrorKind,
    path: &'static str,
    message: &'static str,
    breaks: Breaks,
}

/// What a bad transcript breaks, as far as a JSON Schema can tell.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Breaks {
    /// It is no JSON at all.
    Json,
    /// The shape: the schema refuses it too.
    Shape,
    /// Something between one field and another, which no schema can say.
    Meaning,
}

impl Bad {
    pub(crate) fn text(&self) -> String {
        self.marked.replace('‸', "")
    }

    pub(crate) fn breaks(&self) -> Breaks {
        self.breaks
    }

    /// Line and column of the character after the mark.
    fn place(&self) -> Option<(usize, usize)> {
        let before = self.marked.split_once('‸')?.0;
        let last_line = before.rsplit('\n').next()?;
        Some((before.matches('\n').count() + 1, last_line.chars().count() + 1))
    }
}

#[test]
fn a_bad_transcript_is_refused_with_its_kind_place_and_rule() {
    let mut faults = String::new();
    for bad in ALL {
        let text = bad.text();
        let found = match Transcript::read(&text) {
            Ok(_) => "nothing".to_owned(),
            Err(e) => format!(
                "{:?} at {:?} in {:?}: {}",
                e.kind(),
                e.place().line_column,
                e.place().path,
                e.message()
            ),
        };
        let expected =
            format!("{:?} at {:?} in {:?}: {}", bad.kind, bad.place(), bad.path, bad.message);
        if found != expected {
            faults += &format!("{text}\n  expected {expected}\n  found    {found}\n\n");
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
}

macro_rules! bad {
    ($breaks:ident $kind:ident, $marked:expr, $path:expr, $message:expr) => {
        Bad {
            marked: $marked,
            kind: ErrorKind::$kind,
            path: $path,
            message: $message,
            breaks: Breaks::$breaks,
        }
    };
}

pub(crate) const ALL: &[Bad] = &[
    // No JSON.
    bad!(Json Syntax, "‸", "", "EOF while parsing a value"),
    bad!(Json Syntax, "{\n‸", "", "EOF while parsing an object"),
    bad!(Json Syntax, "{\"漢字‸", "", "EOF while parsing a string"),
    bad!(Json Syntax, "‸interleaf", "", "expected value"),
    bad!(Json Syntax, r#"{"interleaf": 1, "messages": [‸}"#, "", "expected value"),
    bad!(Json Syntax, "{\"interleaf\": 1,\n\"messages\": []}\n‸x", "", "trailing characters"),
    bad!(
        Json Syntax,
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [{"type": "text", "text": "漢字" ‸"extra"}]}]}"#,
        "",
        "expected `,` or `}`"
    ),
    bad!(
        Json Syntax,
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [{"type": "text", "text": "\ud800‸"}]}]}"#,
        "messages[0].parts[0]",
        "unexpected end of hex escape"
    ),
    // The transcript as a whole.
    bad!(Shape Form, " ‸[]", "", "invalid type: sequence, expected an object"),
    bad!(Shape Form, "{\"interleaf\": 1, \"messages\":\n ‸{}}", "messages", "invalid type: map, expected a sequence"),
    bad!(Shape Form, r#"{"interleaf": 1‸}"#, "", "missing field `messages`"),
    bad!(Shape Form, r#"{"messages": []‸}"#, "", "missing field `interleaf`"),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [], "title‸": "x"}"#,
        "title",
        "unknown field `title`, expected one of `interleaf`, `messages`, `view`, `marks`, `batches`, `usage`"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": "1‸", "messages": []}"#,
        "interleaf",
        "invalid type: string \"1\", expected a whole number, 0 or more"
    ),
    bad!(
        Shape Version,
        "{\n  \"interleaf\": ‸2,\n  \"messages\": [],\n  \"future\": true\n}",
        "interleaf",
        "this is transcript version 2, but this program reads up to version 1"
    ),
    bad!(
        Shape Version,
        r#"{"interleaf": ‸0, "messages": []}"#,
        "interleaf",
        "this is transcript version 0, but this program reads up to version 1"
    ),
    // The envelope of a message.
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [‸["m0", "user"]]}"#,
        "messages[0]",
        "invalid type: sequence, expected an object"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [{"role": "owner‸", "parts": []}]}"#,
        "messages[0].role",
        "unknown variant `owner`, expected one of `system`, `user`, `assistant`, `tool`"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [{"role": ‸7, "parts": []}]}"#,
        "messages[0].role",
        "expected value"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [{"parts": [{"type": "text", "text": "x"}]‸}]}"#,
        "messages[0]",
        "missing field `role`"
    ),
    bad!(
        Shape Rule,
        "{\"interleaf\": 1, \"messages\": [\n{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"text\": \"x\"}]},\n‸{\"role\": \"user\", \"parts\": []}\n]}",
        "messages[1]",
        "a message needs at least one part"
    ),
    bad!(
        Shape Form,
        "{\"interleaf\": 1, \"messages\": [\n{\"role\": \"user\",\n \"content‸\": \"x\"}\n]}",
        "messages[0].content",
        "unknown field `content`, expected one of `id`, `role`, `at`, `agent`, `internal`, `call`, `name`, `error`, `parts`, `extra`"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [{"role": "user", "at": "yesterday‸", "parts": []}]}"#,
        "messages[0].at",
        "\"yesterday\" is not an instant: RFC 3339 with an offset is expected, such as 2026-11-15T10:00:00Z"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [‸{"role": "user", "agent": "scout", "internal": true, "parts": [{"type": "text", "text": "x"}]}]}"#,
        "messages[0]",
        "`agent` and `internal` exclude each other"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [‸{"role": "tool", "parts": [{"type": "text", "text": "x"}]}]}"#,
        "messages[0]",
        "a tool message needs `call`, the id of the call that it answers"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [{"role": "tool", "call": "‸", "parts": []}]}"#,
        "messages[0].call",
        "a call id must not be empty: it is what ties a tool result to its call"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [‸{"role": "user", "call": "c1", "parts": [{"type": "text", "text": "x"}]}]}"#,
        "messages[0]",
        "`call` belongs to tool messages only, not to role user"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [‸{"role": "assistant", "error": true, "parts": [{"type": "text", "text": "x"}]}]}"#,
        "messages[0]",
        "`error` belongs to tool messages only, not to role assistant"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [‸{"role": "user", "parts": [{"type": "text", "text": "x"}], "extra": {"openai": 1}}]}"#,
        "messages[0]",
        "the extra fields of \"openai\" must be an object"
    ),
    // Parts.
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": ["x‸"]}]}"#,
        "messages[0].parts[0]",
        "invalid type: string \"x\", expected an object"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [{"text": "漢字"‸}]}]}"#,
        "messages[0].parts[0]",
        "missing field `type`"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [{"type": "video‸"}]}]}"#,
        "messages[0].parts[0].type",
        "unknown variant `video`, expected one of `text`, `image`, `file`, `thinking`, `call`, `opaque`"
    ),
    bad!(
        Shape Form,
        "{\"interleaf\": 1, \"messages\": [{\"role\": \"user\", \"parts\": [\n  {\"type\": \"text\", \"text\": \"漢字\", \"lang‸\": \"zh\"}\n]}]}",
        "messages[0].parts[0].lang",
        "unknown field `lang`, expected one of `type`, `text`, `extra`"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [{"type": "text", "text": "漢字"}, ‸{"type": "thinking", "text": "hm"}]}]}"#,
        "messages[0].parts[1]",
        "a message of role user cannot hold a part of type thinking; it may hold: text, image, file, opaque"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [{"role": "system", "parts": [‸{"type": "image", "url": "https://example.org/a.png"}]}]}"#,
        "messages[0].parts[0]",
        "a message of role system cannot hold a part of type image; it may hold: text, opaque"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [{"role": "tool", "call": "c1", "parts": [‸{"type": "call", "id": "c2", "name": "ls"}]}]}"#,
        "messages[0].parts[0]",
        "a message of role tool cannot hold a part of type call; it may hold: text, image, file, opaque"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [‸{"type": "image", "url": "https://example.org/a.png", "base64": "aGk="}]}]}"#,
        "messages[0].parts[0]",
        "an image or file needs exactly one source: `base64`, `url`, or `owner` with `id`"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [‸{"type": "file", "id": "file-1"}]}]}"#,
        "messages[0].parts[0]",
        "an image or file needs exactly one source: `base64`, `url`, or `owner` with `id`"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [‸{"type": "image", "base64": "aGk=", "name": "a.png"}]}]}"#,
        "messages[0].parts[0]",
        "`name` belongs to files, not to images"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [{"role": "assistant", "parts": [‸{"type": "thinking", "signature": "s", "encrypted": "e"}]}]}"#,
        "messages[0].parts[0]",
        "`signature` and `encrypted` exclude each other"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [{"role": "assistant", "parts": [‸{"type": "thinking", "model": "m"}]}]}"#,
        "messages[0].parts[0]",
        "`model` needs `vendor` beside it"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [{"role": "assistant", "parts": [‸{"type": "call", "id": "c1", "name": "ls", "arguments": [1]}]}]}"#,
        "messages[0].parts[0]",
        "`arguments` must be an object; what a model wrote that is not an object goes into `arguments_text`"
    ),
    bad!(
        Shape Rule,
        r#"{"interleaf": 1, "messages": [{"role": "assistant", "parts": [‸{"type": "call", "id": "c1", "name": "ls", "arguments": {}, "arguments_text": "{"}]}]}"#,
        "messages[0].parts[0]",
        "`arguments` and `arguments_text` exclude each other"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [{"role": "assistant", "parts": [{"type": "call", "id": " ‸", "name": "ls"}]}]}"#,
        "messages[0].parts[0].id",
        "a call id must not be empty: it is what ties a tool result to its call"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [{"role": "assistant", "parts": [{"type": "opaque", "owner": "openai"‸}]}]}"#,
        "messages[0].parts[0]",
        "missing field `value`"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [{"type": "text", "text": 1‸2}]}]}"#,
        "messages[0].parts[0].text",
        "invalid type: integer `12`, expected a string"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [{"type": "text", "text":‸["x"]}]}]}"#,
        "messages[0].parts[0].text",
        "invalid type: sequence, expected a string"
    ),
    // View, marks, batches and counters.
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [], "view": [[0, 1, ‸2]]}"#,
        "view[0][2]",
        "trailing characters"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [], "view": [[0, -‸1]]}"#,
        "view[0][1]",
        "invalid value: integer `-1`, expected a whole number, 0 or more"
    ),
    bad!(
        Meaning Rule,
        "{\"interleaf\": 1, \"messages\": [\n{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"text\": \"x\"}]}\n],\n\"view\": ‸[[0, 2]]}",
        "view",
        "index 1 is outside the log, whose length is 1"
    ),
    bad!(
        Meaning Rule,
        r#"{"interleaf": 1, "messages": [], "view": ‸[[0, 4294967295]]}"#,
        "view",
        "index 4294967294 is outside the log, whose length is 0"
    ),
    bad!(
        Meaning Rule,
        r#"{"interleaf": 1, "messages": [{"role": "user", "parts": [{"type": "text", "text": "x"}]}], "view": ‸[[0, 1], [0, 1]]}"#,
        "view",
        "index 0 appears twice"
    ),
    bad!(
        Meaning Rule,
        r#"{"interleaf": 1, "messages": [], "marks": {"gone": [], "pinned": ‸[3]}}"#,
        "marks.pinned",
        "index 3 is outside the log, whose length is 0"
    ),
    bad!(
        Meaning Rule,
        r#"{"interleaf": 1, "messages": [], "batches": [‸{"cause": "clear"}, {"cause": "clear"}]}"#,
        "batches[0]",
        "a batch that another one followed needs its `end`"
    ),
    bad!(
        Meaning Rule,
        r#"{"interleaf": 1, "messages": [], "batches": [‸{"cause": "clear", "end": []}]}"#,
        "batches[0]",
        "the last batch is the current one and has no `end`"
    ),
    bad!(
        Meaning Rule,
        r#"{"interleaf": 1, "messages": [], "batches": [{"cause": "clear", "end": []}, ‸{"cause": "truncate", "boundary": 0}]}"#,
        "batches[1].boundary",
        "index 0 is outside the log, whose length is 0"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [], "batches": [‸["clear"]]}"#,
        "batches[0]",
        "invalid type: sequence, expected an object"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [], "batches": [{"boundary": 0‸}]}"#,
        "batches[0]",
        "missing field `cause`"
    ),
    bad!(
        Shape Form,
        r#"{"interleaf": 1, "messages": [], "usage": {"current": {"input‸": 3}, "cumulative": {}, "lifetime": {}}}"#,
        "usage.current.input",
        "unknown field `input`, expected one of `prompt`, `cache_read`, `cache_write`, `cache_write_hour`, `completion`, `reasoning`"
    ),
    bad!(
        Meaning Rule,
        r#"{"interleaf": 1, "messages": [], "usage": ‸{"current": {}, "cumulative": {}, "lifetime": {}, "request_log_len": 4}}"#,
        "usage.request_log_len",
        "the log has 0 messages, so it cannot have had 4 at the last request"
    ),
];
