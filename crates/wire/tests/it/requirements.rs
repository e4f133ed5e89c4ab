//! A prompt that was made for another target: what this one asks beyond the laws, the encoder
//! mends and says so, or refuses. Assembly that knows the target leaves it nothing to mend.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use interleaf_model::{Entry, Message, Prompt, Provenance, Requirements};
use interleaf_wire::lint::lint;
use interleaf_wire::{
    AdjustmentKind, Encoded, Error, ErrorKind, Family, Options, SessionEncoder, Vendor, encode,
};

const CLAUDE: &str = "claude-opus-4-6";
const OLD_CLAUDE: &str = "claude-sonnet-4-5";

fn system(text: &str) -> (Message, Provenance) {
    let part = interleaf_model::SystemPart::Text(interleaf_model::Text::new(text));
    let body = interleaf_model::Body::System(interleaf_model::Parts::one(part));
    (Message::from(body), Provenance::System)
}

fn user(text: &str) -> (Message, Provenance) {
    (Message::user(text), Provenance::Original)
}

fn assistant(text: &str) -> (Message, Provenance) {
    (Message::assistant(text), Provenance::Original)
}

fn encoded(family: Family, model: &str, said: &[(Message, Provenance)]) -> Result<Encoded, Error> {
    let entry = |(message, provenance): &(Message, Provenance)| Entry {
        message: Arc::new(message.clone()),
        provenance: provenance.clone(),
    };
    let entries = said.iter().map(entry).collect();
    let prompt = Prompt::check_for(Requirements::NONE, entries, Arc::new([])).unwrap();
    let (vendor, options) = (Vendor::of(family), Options::model(model));
    let encoded = encode(&prompt, vendor, &options);
    let kept = SessionEncoder::new().encode(&prompt, vendor, &options);
    assert_eq!(kept.map(|it| it.to_bytes()), encoded.clone().map(|it| it.to_bytes()));
    encoded
}

#[test]
fn what_a_target_asks_beyond_the_laws_is_mended_or_refused_never_sent() {
    let cases = [
        ("assistant last", vec![user("go"), assistant("gone")]),
        ("assistant first", vec![assistant("hello"), user("go")]),
        ("nothing beside the system", vec![system("be brief")]),
        ("blank user", vec![user(" "), assistant("what?"), user("go")]),
    ];
    for family in Family::ALL {
        for (name, said) in &cases {
            let asked = Vendor::of(family).requirements(CLAUDE);
            let (is_asked, is_refused) = match *name {
                "assistant last" => (asked.no_trailing_assistant, false),
                "assistant first" => (asked.user_first, asked.user_first),
                "nothing beside the system" => (asked.beside_system, asked.beside_system),
                _ => (asked.no_blank_user, false),
            };
            let encoded = match encoded(family, CLAUDE, said) {
                Ok(encoded) => encoded,
                Err(error) => {
                    assert!(is_refused, "{family} {name}: {error}");
                    assert_eq!(error.kind(), ErrorKind::Rule, "{family} {name}: {error}");
                    continue;
                }
            };
            assert!(!is_refused, "{family} {name}");
            let body = String::from_utf8(encoded.to_bytes()).unwrap();
            let faults = lint(Vendor::of(family), &body).map_err(|error| error.to_string());
            assert_eq!(faults, Ok(vec![]), "{family} {name}: {body}");
            let is_told = !encoded.adjustments.is_empty();
            assert!(is_told || !is_asked, "{family} {name}: {body}");
        }
    }
}

#[test]
fn a_last_word_of_the_assistants_is_closed_where_the_model_takes_no_prefill() {
    let said = [user("go"), assistant("gone")];
    for family in [Family::Anthropic, Family::Bedrock] {
        let closed = encoded(family, CLAUDE, &said).unwrap();
        let kinds: Vec<AdjustmentKind> = closed.adjustments.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [AdjustmentKind::TurnInserted], "{family}");
        assert!(String::from_utf8(closed.to_bytes()).unwrap().contains("Continue."));
        let open = encoded(family, OLD_CLAUDE, &said).unwrap();
        assert_eq!(open.adjustments, [], "{family}");
        assert!(!String::from_utf8(open.to_bytes()).unwrap().contains("Continue."));
    }
}
