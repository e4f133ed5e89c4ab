//! Calls that were made side by side.

use interleaf::Single;
use interleaf::assemble::Recipe;
use interleaf::conversation::Conversation;
use interleaf::model::notation;
use interleaf::wire::{Family, Vendor};

use crate::target_of;

#[test]
fn calls_of_two_messages_are_as_parallel_as_those_of_one_on_every_api() {
    for family in Family::ALL {
        let target = target_of(Vendor::of(family), "a-model");
        let body = |calls: &str| {
            let mut conversation = Conversation::new();
            let said = format!("u go\n{calls}\nt c1= 1\nt c2= 2\n");
            for message in notation::parse(&said).unwrap() {
                conversation.append(message).unwrap();
            }
            let preview = Single::of(&conversation, &Recipe::new()).preview(Some(&target)).unwrap();
            String::from_utf8(preview.body.unwrap().to_bytes()).unwrap()
        };
        let (two, one) = ("a [call c1 ls]\na [call c2 pwd]", "a [call c1 ls] [call c2 pwd]");
        assert_eq!(body(two), body(one), "{family}");
    }
}
