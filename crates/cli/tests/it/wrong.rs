//! What is wrongly asked of the commands that talk to models is refused, by its name.

use super::{CHAT, interleaf, text};

const SEND: [&str; 6] = ["send", CHAT, "--vendor", "openai", "--model", "gpt-5"];

/// Runs a command that nobody answers, and gives its exit code and what it says.
fn said(arguments: &[&str]) -> (Option<i32>, String) {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = interleaf(arguments);
    command.env("INTERLEAF_STORE", format!("sqlite:{}", scratch.path().join("s.db").display()));
    for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_REGION", "AWS_DEFAULT_REGION"] {
        command.env_remove(name);
    }
    command.env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1").env("NO_PROXY", "127.0.0.1");
    command.env("HOME", scratch.path());
    let output = command.output().unwrap();
    (output.status.code(), text(&output.stderr))
}

#[test]
fn a_flag_of_sessions_is_refused_where_there_is_a_file() {
    for flags in [
        &["--compact"][..],
        &["--compact-at", "0.5"],
        &["--compact-policy", "p.json"],
        &["--compact-writer", "openai:gpt-5"],
        &["--store", "sqlite:x.db"],
        &["--at", "1"],
    ] {
        let (code, err) = said(&[&SEND[..], flags].concat());
        assert_eq!(code, Some(2), "{flags:?} {err}");
        assert!(err.contains(flags[0]) && err.contains("FILE"), "{flags:?} {err}");
    }
    for (command, flags) in [
        ("build", &["--record"][..]),
        ("build", &["--sent"]),
        ("build", &["--at", "1"]),
        ("explain", &["--sent"]),
        ("explain", &["--request", "1"]),
    ] {
        let (code, err) = said(&[&[command, CHAT], flags].concat());
        assert_eq!(code, Some(2), "{command} {flags:?} {err}");
        assert!(err.contains(flags[0]) && err.contains("FILE"), "{flags:?} {err}");
    }
}

#[test]
fn a_flag_that_would_do_nothing_is_refused_by_its_name() {
    let session = ["send", "--session", "0199", "--vendor", "openai", "--model", "gpt-5"];
    for flags in [&["--plain"][..], &["--pin", "m1"], &["--previous", CHAT]] {
        let (code, err) = said(&[&session[..], flags].concat());
        assert_eq!(code, Some(2), "{flags:?} {err}");
        assert!(err.contains(flags[0]), "{flags:?} {err}");
    }
    for (flag, arguments) in [
        ("--key-env", &["compact", "0199", "--without-model", "--key-env", "X"][..]),
        ("--store", &["replay", "fixtures/replay-session.jsonl", "--store", "x", "--out", "y"]),
        ("--stored", &["build", CHAT, "--to", "openai-responses", "--stored"]),
        ("--stored", &["convert", CHAT, "--to", "openai-responses", "--stored"]),
        ("--user", &["send", "--user", "x", CHAT]),
        ("--user", &["send", "--user", "x", "--session", "0199", "--agent", "a"]),
        ("--stored", &["switch", "--session", "0199", "--to", "openai", "--stored"]),
        ("--fault", &["double", "--fault", "429", "--fault", "2=500", "--", "true"]),
        ("--fault", &["double", "--fault", "2=429", "--fault", "2=500", "--", "true"]),
    ] {
        let (code, err) = said(arguments);
        assert_eq!(code, Some(2), "{arguments:?} {err}");
        assert!(err.contains(flag), "{arguments:?} {err}");
    }
}

#[test]
fn a_value_that_means_nothing_is_refused_by_its_flag_and_the_rule() {
    for (flag, value, rule) in [
        ("--price", "1/2/3", "INPUT/READ/WRITE/OUTPUT"),
        ("--timeout", "0", "seconds"),
        ("--base-url", "", "a value is required"),
        ("--key-env", "", "a value is required"),
        ("--key-command", "", "a value is required"),
        ("--cache-key", "", "a value is required"),
        ("--fallback", "openai", "VENDOR:MODEL"),
        ("--to", "neutral", "no API takes the neutral form"),
    ] {
        let mut arguments = SEND.to_vec();
        if flag == "--to" {
            arguments.drain(2..4);
        }
        let (code, err) = said(&[&arguments[..], &[flag, value]].concat());
        assert_eq!(code, Some(2), "{flag} {err}");
        assert!(err.contains(flag) && err.contains(rule), "{flag} {err}");
    }
    for (flag, value, rule) in [
        ("--fault", "0=429", "requests are counted from 1"),
        ("--fault", "200", "a fault is one of"),
        ("--chunk", "0", "at least 1"),
        ("--window", "0", "at least 1"),
    ] {
        let (code, err) = said(&["double", flag, value, "--", "true"]);
        assert_eq!(code, Some(2), "{flag} {err}");
        assert!(err.contains(flag) && err.contains(rule), "{flag} {err}");
    }
    let replay = ["replay", "fixtures/replay-session.jsonl", "--out", "y", "--vendors", "openai/"];
    assert_eq!(said(&replay).0, Some(2));
}

#[test]
fn a_slip_of_a_new_user_is_told_what_to_do_next() {
    for (arguments, exit, words) in [
        (&["send"][..], 2, &["--user TEXT"][..]),
        (&["send", "What is 2+2?", "--vendor", "openai"], 2, &["no such file", "hint: --user"]),
        (&["send", "--user", "x"], 2, &["--vendor: name who is to be asked", "hint: such as"]),
        (&["send", "fixtures/orphan-result.json"], 2, &["hint: such as --vendor anthropic\n"]),
        (
            &["send", "--user", "x", "--vendor", "openai"],
            2,
            &["--model: ", "asks for a model", "hint: --model NAME names it"],
        ),
        (&["send", "--user", "x", "--vendor", "claude"], 2, &["tip: use --vendor anthropic"]),
        (&["send", "--user", "x", "--vendor", "gemini"], 2, &["hint: --model NAME names it"]),
        (&["lint", "--api", "antropic"], 2, &["tip: did you mean --api anthropic?"]),
        (&["send", "--user", "x", "--vendor", "antropic"], 2, &["'anthropic'"]),
        (&["send", "--user", "x", "--vendor", "openai", "--model", "m"], 2, &["OPENAI_API_KEY"]),
        (
            &["send", "--user", "x", "--vendor", "azure", "--model", "m"],
            2,
            &["hint: --base-url sets the address, or the variable AZURE_BASE_URL"],
        ),
        (&["send", "--user", "x", "--vendor", "bedrock", "--model", "m"], 2, &["AWS_REGION"]),
        (
            &["send", "--user", "x", "--vendor", "openai", "--model", "m", "--key-file", "/no/key"],
            2,
            &["the key file /no/key does not exist"],
        ),
        (&["send", "--session", "0199", "--user", "x"], 2, &["there is no store", "hint: "]),
        (
            &["send", "--user", "x", "--vendor", "llama-cpp", "--retries", "0"],
            8,
            &["no connection to http://localhost:8080", "hint: ", "--base-url"],
        ),
    ] {
        let (code, err) = said(arguments);
        assert_eq!(code, Some(exit), "{arguments:?} {err}");
        for word in words {
            assert!(err.contains(word), "{arguments:?} {word} {err}");
        }
    }
}

#[test]
fn the_program_alone_helps_and_finds_no_error() {
    let (code, err) = said(&[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("Usage: interleaf") && !err.contains("error"), "{err}");
}

#[test]
fn an_answer_of_an_api_that_refuses_comes_with_the_flag_that_may_help() {
    for (fault, words) in [
        ("401", &["HTTP 401", "check the key", "--key-file"][..]),
        ("404", &["HTTP 404", "check the model's name", "--model"]),
        ("429", &["HTTP 429", "--retries"]),
        ("529", &["--fallback"]),
        ("overflow", &["--window", "--compact"]),
    ] {
        let send = [super::PROGRAM, "send", CHAT, "--vendor", "anthropic", "--model", "m-1"];
        let double = ["double", "--fault", fault, "--"];
        let (code, err) = said(&[&double, &send[..], &["--retries", "0"]].concat());
        assert_eq!(code, Some(8), "{fault} {err}");
        assert!(words.iter().all(|word| err.contains(word)), "{fault} {words:?} {err}");
    }
}
