//! Sessions on their way between stores.

use interleaf::assemble::Recipe;
use interleaf::model::Message;
use interleaf::{Next, Session, Target, copy, store};

#[tokio::test]
async fn a_flipped_bit_of_an_exported_event_or_request_is_never_taken_in() {
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store.clone(), "a title").await.unwrap();
    session.append(Message::user("What is é?")).await.unwrap();
    let target = Target::new("anthropic", "a-model").unwrap().with_key("k");
    let made = session.request(&Recipe::new(), &target).await.unwrap();
    assert!(matches!(made, Next::Send(_)));
    let mut reader = copy::Reader::whole(store, session.id()).await.unwrap();
    let items = reader.page().await.unwrap();
    assert_eq!(items.len(), 3, "two events and a request");
    for item in items {
        let line = copy::write_item(item.clone()).unwrap();
        assert_eq!(copy::read_item(&line).unwrap(), item);
        for bit in 0..8 * line.len() {
            let mut bytes = line.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(flipped) = String::from_utf8(bytes) else { continue };
            // Some letters may be large or small: that says the same.
            if let Ok(read) = copy::read_item(&flipped) {
                assert_eq!(read, item, "{flipped}");
            }
        }
    }
}

#[test]
fn a_line_of_an_earlier_program_has_no_checksum_and_is_taken_in() {
    let line = r#"{"event":{"seq":0,"at":"2026-11-15T10:00:00Z","body":{"reset":{}}}}"#;
    copy::read_item(line).unwrap();
    let summed = line.replace(r#""body""#, r#""sum":"0123456789abcdef","body""#);
    let refused = copy::read_item(&summed).unwrap_err().to_string();
    let rule = "event 0: it does not have the checksum that was written with it: it is damaged";
    assert_eq!(refused, rule);
}
