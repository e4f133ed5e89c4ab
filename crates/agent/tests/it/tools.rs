//! The tools that come with the crate.

use std::path::Path;

use interleaf::model::Message;
use interleaf_agent::{Agent, Event, tools};
use interleaf_doubles::{Answer, Asked};
use serde_json::{Value, json};

use crate::world::{agent, double, events, n_said, session, transport};

/// Has the model make these calls, one after the other, and gives their results.
async fn results(folder: &Path, calls: Vec<(&'static str, Value)>) -> Vec<String> {
    let double = double(move |asked: &Asked| match calls.get(n_said(asked)) {
        Some((name, arguments)) => Answer::new().with_call(*name, arguments),
        None => Answer::text("Done."),
    })
    .await;
    let mut agent: Agent = agent(&double).in_folder(folder);
    for tool in [tools::reading(), tools::writing(), tools::remembering()].concat() {
        agent = agent.with_shared_tool(tool);
    }
    let mut session = session().await;
    session.append(Message::user("Find the blue key.")).await.unwrap();
    let mut run = agent.start(&transport(), session).unwrap();
    let told = events(&mut run).await;
    let results = told.into_iter().filter_map(|event| match event {
        Event::Result(result) => Some(result.text().into_owned()),
        _ => None,
    });
    results.collect()
}

#[tokio::test]
async fn what_is_not_looked_at_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{}needle\n", "hay\n".repeat(2 * 1024 * 1024));
    std::fs::write(folder.path().join("long.txt"), long).unwrap();
    let said = results(
        folder.path(),
        vec![
            ("search", json!({"pattern": "needle"})),
            ("search", json!({"pattern": "needle", "path": "gone"})),
        ],
    )
    .await;
    assert_eq!(said[0], "[… long.txt: only its first 8 MiB are searched …]");
    assert!(said[1].starts_with("[… gone: cannot be read: entity not found"), "{}", said[1]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_may_not_be_read_is_not_told_as_an_empty_one() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read_dir(&closed).is_ok() {
        eprintln!("skipped: this user may read all");
        return;
    }
    let calls = vec![
        ("list", json!({"path": "closed"})),
        ("search", json!({"pattern": "a", "path": "closed"})),
    ];
    for said in results(folder.path(), calls).await {
        assert!(said.starts_with("[… closed: cannot be read: permission denied"), "{said}");
    }
}

#[tokio::test]
async fn files_are_read_listed_searched_written_and_edited() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
    std::fs::write(folder.path().join(".gitignore"), "secret\n").unwrap();
    std::fs::write(folder.path().join("secret"), "two").unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    let said = results(
        folder.path(),
        vec![
            ("read", json!({"path": "a.txt", "first": 2, "last": 2})),
            ("list", json!({})),
            ("search", json!({"pattern": "t[wh]"})),
            ("edit", json!({"path": "a.txt", "old": "two", "new": "2"})),
            ("edit", json!({"path": "a.txt", "old": "e", "new": "E"})),
            ("write", json!({"path": "b/c.txt", "text": "new"})),
            ("read", json!({"path": "b/c.txt"})),
            ("read", json!({"path": "b"})),
            ("read", json!({"path": "a.txt", "first": 9})),
            ("run", json!({"command": "cat a.txt; echo oh >&2; exit 3"})),
            ("run", json!({"command": "sleep 60 & sleep 60", "seconds": 1})),
        ],
    )
    .await;
    insta::assert_snapshot!(said.join("\n---\n"), @r#"
    two

    ---
    .gitignore
    a.txt
    ---
    a.txt:2: two
    a.txt:3: three
    ---
    a.txt: replaced once
    ---
    the old text stands there 3 times: give more of what is around it
    ---
    b/c.txt: 3 bytes written
    ---
    new
    ---
    "b" is no file
    ---
    there are no lines 9 to the end: the file has 3
    ---
    [exit code 3]
    one
    2
    three

    [standard error]
    oh
    ---
    the command took more than 1 s and was ended
    "#);
}

#[tokio::test]
async fn no_tool_leaves_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("key"), "the secret").unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("new"), folder.path().join("file")).unwrap();
    let absolute = outside.path().join("key").display().to_string();
    let said = results(
        folder.path(),
        vec![
            ("read", json!({"path": "../key"})),
            ("read", json!({"path": absolute})),
            ("read", json!({"path": "link/key"})),
            ("read", json!({"path": "a/../../key"})),
            ("list", json!({"path": "link"})),
            ("search", json!({"pattern": "secret"})),
            ("write", json!({"path": "file", "text": "x"})),
            ("write", json!({"path": "link/new", "text": "x"})),
            ("write", json!({"path": "/tmp/interleaf-never", "text": "x"})),
        ],
    )
    .await;
    assert!(said.iter().all(|text| !text.contains("the secret")), "{said:?}");
    for (n, text) in said.iter().enumerate().filter(|(n, _)| *n != 5) {
        assert!(text.contains("is outside of the folder"), "{n}: {text}");
    }
    assert!(!outside.path().join("new").exists() && !Path::new("/tmp/interleaf-never").exists());
}

#[tokio::test]
async fn hostile_files_are_bounded_and_told_as_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("large.txt"), "word ".repeat(10_000_000)).unwrap();
    std::fs::write(folder.path().join("binary"), [0, 1, 2, 3]).unwrap();
    let said = results(
        folder.path(),
        vec![
            ("read", json!({"path": "large.txt"})),
            ("read", json!({"path": "binary"})),
            ("search", json!({"pattern": "(a{1000}){1000}"})),
            (
                "run",
                json!({"command": "head -c 20000000 /dev/zero | tr '\\0' 'a'; echo; echo THE-END"}),
            ),
        ],
    )
    .await;
    assert!(said[0].len() < 200_000 && said[0].contains("left out here"), "{}", said[0].len());
    assert!(said[0].contains("the file goes on: it has 50000000 bytes"));
    assert!(said[1].contains("is no text"), "{}", said[1]);
    assert!(said[2].len() < 2_000, "{}", said[2]);
    assert!(said[3].len() < 100_000 && said[3].contains("left out here"), "{}", said[3].len());
}

#[tokio::test]
async fn an_edit_that_would_grow_a_file_beyond_its_bound_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    std::fs::write(&path, "a".repeat(1_000_000)).unwrap();
    let new = "b".repeat(100);
    let said = results(
        folder.path(),
        vec![
            ("edit", json!({"path": "a.txt", "old": "a", "new": new, "all": true})),
            ("edit", json!({"path": "a.txt", "old": "a", "new": "cc", "all": true})),
        ],
    )
    .await;
    let rule = "\"a.txt\" would have 100000000 bytes, and 33554432 may be: nothing is written";
    assert_eq!(said, [rule, "a.txt: replaced 1000000 times"]);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 2_000_000);
}

#[tokio::test]
async fn what_a_command_printed_before_its_time_was_over_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let call = ("run", json!({"command": "echo begun; sleep 60", "seconds": 1}));
    let said = results(folder.path(), vec![call]).await;
    assert_eq!(said, ["the command took more than 1 s and was ended\nbegun"]);
}

#[tokio::test]
async fn what_is_no_longer_shown_can_be_recalled_by_its_id_by_its_words_or_from_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let said = results(
        folder.path(),
        vec![
            ("recall", json!({"words": "BLUE key"})),
            ("recall", json!({"message": "m0"})),
            ("recall", json!({"message": "nobody"})),
            ("recall", json!({})),
            ("recall", json!({"words": "zebrafish"})),
            ("recall", json!({"message": "m0", "upto": "m1"})),
            ("recall", json!({"message": "m1", "upto": "m0"})),
        ],
    )
    .await;
    assert!(said[0].contains("Find the blue key."), "{}", said[0]);
    // It does not find itself.
    assert_eq!(said[0].lines().count(), 1, "{}", said[0]);
    assert_eq!(said[4], "(Nothing was found.)");
    assert!(said[1].contains("characters 0 to 18 of 18]\nFind the blue key."), "{}", said[1]);
    assert!(said[2].contains("there is no message nobody"), "{}", said[2]);
    let listed = said[3].lines().nth(1).unwrap_or_default();
    assert_eq!(listed, "[m0, user, 18 characters] Find the blue key.", "{}", said[3]);
    let range: Vec<&str> = said[5].lines().collect();
    assert!(range[0].starts_with("[2 messages, characters 0 to "), "{}", said[5]);
    assert_eq!(range[1..5], ["[m0, user]", "Find the blue key.", "", "[m1, assistant]"]);
    assert!(said[6].contains("message m1 comes after the other one"), "{}", said[6]);
}

#[tokio::test]
async fn what_says_what_an_agent_may_do_is_written_by_its_own_name_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
    std::fs::write(folder.path().join(".git/config"), "[core]").unwrap();
    std::os::unix::fs::symlink(".git/config", folder.path().join("cfg")).unwrap();
    std::os::unix::fs::symlink(".git/hooks", folder.path().join("docs")).unwrap();
    let said = results(
        folder.path(),
        vec![
            ("write", json!({"path": "cfg", "text": "x"})),
            ("edit", json!({"path": "cfg", "old": "core", "new": "x"})),
            ("write", json!({"path": "docs/pre-commit", "text": "x"})),
            ("edit", json!({"path": ".git/config", "old": "core", "new": "user"})),
        ],
    )
    .await;
    let rule = "\"cfg\" leads to .git/config, which is written by its own name alone: name that";
    assert_eq!(said[..2], [rule, rule]);
    assert!(said[2].contains("leads to .git/hooks/pre-commit"), "{}", said[2]);
    assert_eq!(said[3], ".git/config: replaced once");
    assert_eq!(std::fs::read_to_string(folder.path().join(".git/config")).unwrap(), "[user]");
}

#[tokio::test]
async fn a_file_is_replaced_whole_and_keeps_its_permissions_and_its_links() {
    use std::io::Read as _;
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("tool.sh"), "the old text").unwrap();
    std::fs::set_permissions(at("tool.sh"), std::fs::Permissions::from_mode(0o750)).unwrap();
    std::os::unix::fs::symlink("tool.sh", at("link")).unwrap();
    std::fs::hard_link(at("tool.sh"), at("other")).unwrap();
    // Whoever has it open, such as a disk that is full, never sees a part.
    let mut open = std::fs::File::open(at("tool.sh")).unwrap();
    let said = results(
        folder.path(),
        vec![
            ("edit", json!({"path": "link", "old": "old", "new": "new"})),
            ("write", json!({"path": "new.txt", "text": "x"})),
        ],
    )
    .await;
    assert_eq!(said, ["tool.sh: replaced once", "new.txt: 1 byte written"]);
    let mut old = String::new();
    open.read_to_string(&mut old).unwrap();
    assert_eq!(old, "the old text");
    assert_eq!(std::fs::read_to_string(at("other")).unwrap(), "the old text");
    assert_eq!(std::fs::read_to_string(at("tool.sh")).unwrap(), "the new text");
    assert!(std::fs::symlink_metadata(at("link")).unwrap().is_symlink());
    let mode = |name: &str| std::fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("tool.sh"), 0o750);
    // A new file has the permissions that any new file has.
    std::fs::write(at("usual"), "").unwrap();
    assert_eq!(mode("new.txt"), mode("usual"));
    let entries = std::fs::read_dir(folder.path()).unwrap();
    assert_eq!(entries.count(), 5, "nothing else is left there");
}

#[tokio::test]
async fn of_a_long_list_the_upper_levels_stand_first_and_it_says_that_it_is_not_all() {
    let folder = tempfile::tempdir().unwrap();
    for (inside, n) in [("a", 1_500), ("b/c", 3)] {
        std::fs::create_dir_all(folder.path().join(inside)).unwrap();
        for n in 0..n {
            std::fs::write(folder.path().join(format!("{inside}/{n:04}")), "").unwrap();
        }
    }
    std::fs::write(folder.path().join("z"), "").unwrap();
    let said = results(folder.path(), vec![("list", json!({"depth": 9}))]).await;
    let lines: Vec<&str> = said[0].lines().collect();
    assert_eq!(lines[..5], ["a/", "b/", "z", "a/0000", "a/0001"]);
    assert_eq!(lines.len(), 1_001);
    assert_eq!(lines[999], "a/0996");
    assert!(
        lines[1_000].starts_with("[… this is not all: there are more than 1000"),
        "{}",
        lines[1_000]
    );
    // What is all told stands as a tree.
    let said = results(folder.path(), vec![("list", json!({"path": "b", "depth": 9}))]).await;
    assert_eq!(said[0], "b/c/\nb/c/0000\nb/c/0001\nb/c/0002");
}
