//! Messages of one role in a row become one, and nothing is lost.

use interleaf_model::notation::{parse, print_whole};
use interleaf_plan::merge_adjacent;

fn merged(before: &str) -> String {
    let messages = merge_adjacent(parse(before).unwrap());
    messages.iter().map(|message| print_whole(message) + "\n").collect()
}

#[test]
fn texts_meet_with_a_blank_line() {
    assert_eq!(merged("s one\nu a\nu b\na c\na d\n"), "s one\nu a\\n\\nb\na c\\n\\nd\n");
}

#[test]
fn calls_ids_and_images_stay() {
    let image = "[{\"type\":\"image\",\"url\":\"https://x.example/a.png\"}]";
    let found = merged(&format!(
        "u a\nu {image}\nu b\na I look.\na [call c1 ls] [call c2 pwd]\nt c1= x\nt c2= y\n"
    ));
    assert_eq!(
        found,
        format!("u a {image} b\na I look. [call c1 ls] [call c2 pwd]\nt c1= x\nt c2= y\n")
    );
}

#[test]
fn system_messages_go_to_the_head() {
    assert_eq!(merged("s one\nu a\ns two\nu b\n"), "s one\\n\\ntwo\nu a\\n\\nb\n");
}
