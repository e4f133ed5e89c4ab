use interleaf_model::notation::{parse, print_line};

/// A session in which a flaky test is found and mended.
const STORY: &str = include_str!("reading/flaky_test.txt");

#[test]
fn forty_messages_fit_on_forty_lines_of_a_hundred_characters() {
    let messages = parse(STORY).unwrap();
    assert_eq!(messages.len(), 40);
    let lines: Vec<String> = messages.iter().map(|message| print_line(message, 100)).collect();
    assert!(lines.iter().all(|line| line.chars().count() <= 100 && !line.contains('\n')));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn short_pieces_stay_whole_and_long_ones_share_the_rest() {
    let line = r#"a I look. [call c1 ls {"path":"a/very/long/path/to/some/folder/of/tests"}] [call c2 pwd]"#;
    let message = parse(line).unwrap().remove(0);
    insta::assert_snapshot!(
        [88, 70, 60, 40, 20, 5, 1].map(|width| print_line(&message, width)).join("\n")
    );
}
