use interleaf_model::notation::{parse, print_line, print_whole};
use interleaf_model::{Message, Transcript};
use interleaf_samples::strategy::{conversation, message, text, transcript};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// One change to a text.
#[derive(Debug, Clone)]
enum Edit {
    Delete(Index),
    Duplicate(Index),
    Replace(Index, &'static str),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let piece = select(
        &["\"", "{", "}", "[", "]", ",", ":", "1", "-", "null", "\\", "\n", "é", "type", "\u{0}"][..],
    );
    let edit = prop_oneof![
        any::<Index>().prop_map(Edit::Delete),
        any::<Index>().prop_map(Edit::Duplicate),
        (any::<Index>(), piece).prop_map(|(at, piece)| Edit::Replace(at, piece)),
    ];
    vec(edit, 1..6)
}

fn edited(text: &str, edits: Vec<Edit>) -> String {
    let mut pieces: Vec<String> = text.chars().map(String::from).collect();
    for edit in edits {
        if pieces.is_empty() {
            break;
        }
        match edit {
            Edit::Delete(at) => drop(pieces.remove(at.index(pieces.len()))),
            Edit::Duplicate(at) => {
                let at = at.index(pieces.len());
                pieces.insert(at, pieces[at].clone());
            }
            Edit::Replace(at, piece) => {
                let at = at.index(pieces.len());
                pieces[at] = piece.to_owned();
            }
        }
    }
    pieces.concat()
}

/// Whether a value that is kept as raw JSON has a line break between its tokens.
/// In the JSON form of a message these are the only line breaks.
fn has_broken_raw_json(message: &Message) -> bool {
    serde_json::to_string(message).unwrap_or_default().contains(['\n', '\r'])
}

proptest! {
    #[test]
    fn reading_a_written_transcript_gives_it_back(transcript in transcript(0..8)) {
        prop_assert_eq!(Transcript::read(&transcript.write()), Ok(transcript));
    }

    #[test]
    fn writing_a_read_transcript_gives_the_same_bytes(transcript in transcript(0..8)) {
        let written = transcript.write();
        let read = Transcript::read(&written).map(|read| read.write());
        prop_assert_eq!(read, Ok(written));
    }

    #[test]
    fn the_length_of_a_message_is_that_of_its_json(message in message()) {
        let json = serde_json::to_string(&message).unwrap();
        prop_assert_eq!(message.neutral_len(), json.len(), "{}", json);
    }

    #[test]
    fn messages_without_an_id_are_named_by_their_place(messages in conversation(0..20)) {
        let read = Transcript::read(&Transcript::of(messages).write()).unwrap();
        for (i, message) in read.messages.iter().enumerate() {
            prop_assert_eq!(message.id.as_str(), format!("m{i}"));
        }
    }

    #[test]
    fn a_message_survives_any_serde_value(message in message()) {
        // A parsed value has no raw bytes: numbers and white space are its own.
        if let Ok(value) = serde_json::to_value(&message) {
            let read: Message = serde_json::from_value(value.clone()).unwrap();
            prop_assert_eq!(serde_json::to_value(&read).unwrap(), value);
        }
    }

    #[test]
    fn parsing_a_whole_line_gives_the_message_back(message in message()) {
        prop_assume!(!has_broken_raw_json(&message));
        prop_assert_eq!(parse(&print_whole(&message)), Ok(vec![message]));
    }

    #[test]
    fn a_whole_line_is_one_line(message in message()) {
        prop_assert!(!print_whole(&message).contains(['\n', '\r']));
    }

    #[test]
    fn a_printed_line_fits_its_width(message in message(), width in 0_usize..130) {
        let line = print_line(&message, width);
        prop_assert!(line.chars().count() <= width);
        prop_assert!(!line.contains(char::is_control));
    }

    #[test]
    fn a_line_that_fits_is_not_cut(message in message()) {
        let whole = print_line(&message, usize::MAX);
        prop_assert_eq!(print_line(&message, whole.chars().count()), whole);
    }

    #[test]
    fn parsing_notation_never_panics(text in text(), head in select(&["", "u ", "a [", "t c1= ", "a{"][..])) {
        drop(parse(&format!("{head}{text}")));
    }

    #[test]
    fn parsing_edited_notation_never_panics(message in message(), edits in edits()) {
        drop(parse(&edited(&print_whole(&message), edits)));
    }

    #[test]
    fn reading_any_text_never_panics(text in any::<String>()) {
        drop(Transcript::read(&text));
    }

    #[test]
    fn an_edited_transcript_is_read_or_refused_inside_its_text(
        transcript in transcript(0..4),
        edits in edits(),
    ) {
        let text = edited(&transcript.write(), edits);
        match Transcript::read(&text) {
            Ok(read) => {
                prop_assert_eq!(read.check(), Ok(()));
                prop_assert_eq!(Transcript::read(&read.write()), Ok(read));
            }
            Err(e) => {
                let (line, column) = e.place().line_column.unwrap();
                let line = text.split('\n').nth(line - 1);
                // One column after the end stands for what is missing there.
                prop_assert!((1..=line.unwrap().chars().count() + 1).contains(&column));
            }
        }
    }

    /// White space before a message sends it the exact way, which is the oracle here.
    #[test]
    fn the_quick_way_reads_what_the_exact_way_reads_and_takes_nothing_else(
        message in message(),
        fields in vec((any::<Index>(), odd_field()), 0..3),
        edits in prop_oneof![3 => Just(vec![]), 1 => edits()],
    ) {
        let whole = serde_json::to_string(&message).unwrap();
        prop_assert_eq!(Message::from_json(&whole), Ok(message));
        let mut odd = whole;
        for (place, field) in fields {
            let starts: Vec<usize> = odd.match_indices('{').map(|(at, _)| at + 1).collect();
            odd.insert_str(starts[place.index(starts.len())], &field);
        }
        let odd = edited(&odd, edits);
        let exactly = Message::from_json(&format!(" {odd}"));
        prop_assert_eq!(Message::from_json(&odd).ok(), exactly.ok());
    }
}

/// A field that belongs to some part or message, with a value that may fit.
fn odd_field() -> impl Strategy<Value = String> {
    let names = [
        "text",
        "signature",
        "encrypted",
        "vendor",
        "model",
        "id",
        "name",
        "arguments",
        "arguments_text",
        "extra",
        "call",
        "error",
        "agent",
        "internal",
        "base64",
        "other",
    ];
    let values = ["null", "\"x\"", "\" \"", "{}", "[]", "{\"v\":{}}", "true", "1"];
    (select(names.to_vec()), select(values.to_vec()))
        .prop_map(|(name, value)| format!("\"{name}\":{value},"))
}
