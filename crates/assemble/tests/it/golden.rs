//! B7: a conversation with a summary, a tool call and an empty last message, seen
//! after every step.

use interleaf_assemble::{Step, assemble_observed};

use crate::scene::{findings, input, lines, summary};

#[test]
fn the_worked_example_has_its_five_states() {
    let mut input = input(
        r#"
        u{id=1} Run ls.
        a{id=2} [call call_1 execute_command {"command":"ls"}]
        t{id=3} call_1= Cargo.toml  src
        a{id=4} The command is done.
        u{id=5} Now run pwd.
        a{id=6} [call call_2 execute_command {"command":"pwd"}]
        t{id=7} call_2= /home/ada/project
        a{id=8} [empty]
        "#,
    );
    input.summary = summary("The user ran ls and saw the folder.", &["1", "2", "3", "4"]);
    input.system = vec!["You are a helpful assistant.".into()];

    let mut states = Vec::new();
    let assembly =
        assemble_observed(&input.view, &input.recipe, input.requires, None, |step, entries| {
            states.push((step, lines(entries)))
        })
        .unwrap();
    let state = |wanted: Step| {
        let found = states.iter().find(|(step, _)| *step == wanted);
        found.map(|(_, lines)| lines.as_str()).unwrap()
    };

    insta::assert_snapshot!(state(Step::Compress), @r#"
    # s \[Previous conversation summary\] (4 messages)\n\n<conversation-summary>\nThe user ran ls and saw the folde…
      u Now run pwd.
      a [call call_2 execute_command {"command":"pwd"}]
      t call_2= /home/ada/project
      a [empty]
    "#);
    insta::assert_snapshot!(state(Step::Filter), @r#"
    # s \[Previous conversation summary\] (4 messages)\n\n<conversation-summary>\nThe user ran ls and saw the folde…
      u Now run pwd.
      a [call call_2 execute_command {"command":"pwd"}]
      t call_2= /home/ada/project
    "#);
    assert_eq!(state(Step::Repair), state(Step::Filter));
    assert_eq!(state(Step::Place), state(Step::Repair));
    insta::assert_snapshot!(state(Step::System), @r#"
    = s You are a helpful assistant.
    # s \[Previous conversation summary\] (4 messages)\n\n<conversation-summary>\nThe user ran ls and saw the folde…
      u Now run pwd.
      a [call call_2 execute_command {"command":"pwd"}]
      t call_2= /home/ada/project
    "#);
    assert_eq!(state(Step::Fit), state(Step::System));
    assert_eq!(state(Step::Validate), state(Step::System));

    insta::assert_snapshot!(findings(&assembly.report), @r"
    > compress dropped 1, 2, 3, 4: the summary stands for it
    > filter dropped 8: it says nothing
    ");
    let counts = assembly.report.steps.iter().map(|s| (s.step, s.before, s.after));
    assert_eq!(
        counts.collect::<Vec<_>>(),
        [
            (Step::Compress, 8, 5),
            (Step::Filter, 5, 4),
            (Step::Repair, 4, 4),
            (Step::Place, 4, 4),
            (Step::System, 4, 5),
            (Step::Fit, 5, 5),
            (Step::Validate, 5, 5),
        ]
    );
}
