//! `interleaf send` in a session that is compacted on the way.

use super::send::{Server, good, ran, send};
use super::{interleaf, text};

#[test]
fn a_request_after_a_second_compaction_has_the_new_summary() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("s.db").display());
    let run = |arguments: &[&str]| {
        let output = interleaf(arguments).env("INTERLEAF_STORE", &store).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout).trim().to_owned()
    };
    let id = run(&["sessions", "new"]);
    for round in 0..2 {
        let server = Server::start(vec![good()]);
        for n in 0..6 {
            let said = format!("round {round}, question {n}: {}", "mend the clock ".repeat(200));
            run(&["sessions", "append", &id, "--user", &said]);
            run(&["sessions", "append", &id, "--assistant", "It is done."]);
        }
        run(&["sessions", "append", &id, "--user", "And now?"]);
        let arguments = ["--session", &id, "--window", "20000", "--compact-at", "0.1"];
        let mut sending = send(&arguments, &server.url);
        let (code, _, errors) = ran(sending.env("INTERLEAF_STORE", &store));
        assert_eq!(code, Some(0), "{errors}");
        assert!(errors.contains("compacted: "), "{errors}");
        let seen = server.seen();
        let last = seen.last().unwrap();
        let shown = last.matches("mend the clock").count();
        // One question is 200 of them: of those that are covered only a digest tells.
        assert!(shown < 300, "{round}: {shown} in a request of {} bytes", last.len());
    }
}
