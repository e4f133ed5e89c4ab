//! Where keys come from, and that nobody sees them.

use std::error::Error as _;
use std::time::Duration;

use interleaf::wire::{ApiErrorKind, Auth, Family, Options, Vendor};
use interleaf_transport::{Because, Call, ErrorKind, KeySource, Limit, Retries, Timeouts};

use crate::families::{FAMILIES, KEY, builder, saying, target, transport, vendor};
use crate::server::{Act, Piece, Server};

fn good() -> Act {
    Act::stream(&saying(Family::OpenaiChat, "yes"), 64)
}

/// A call whose key the transport has to find.
fn keyless(server: &Server) -> Call {
    let vendor = vendor(Family::OpenaiChat, server);
    Call::new(interleaf::Target::with_options(vendor, Options::model("gpt-5")), "{}")
}

fn sent_key(server: &Server, n: usize) -> String {
    let seen = server.seen();
    seen[n].headers["authorization"].to_str().unwrap().replace("Bearer ", "")
}

#[tokio::test]
async fn a_key_comes_from_a_file_and_is_read_again_when_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "old-key\n").unwrap();
    let refused = |key| Act::json(401, format!(r#"{{"error":{{"message":"wrong key {key}"}}}}"#));
    let server = Server::start([good(), refused("old-key"), good(), refused("new-key")]).await;
    let transport = builder().key("openai", KeySource::File(path.clone())).build().unwrap();
    transport.send(&keyless(&server)).await.unwrap();
    std::fs::write(&path, "new-key").unwrap();
    let answer = transport.send(&keyless(&server)).await.unwrap();
    let becauses: Vec<_> = answer.attempts.iter().map(|attempt| attempt.because).collect();
    assert_eq!(becauses, [Because::First, Because::NewKey]);
    let keys: Vec<_> = (0..3).map(|n| sent_key(&server, n)).collect();
    assert_eq!(keys, ["old-key", "old-key", "new-key"]);
    // Only once: a key that is refused twice is an error.
    let error = transport.send(&keyless(&server)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Api(ApiErrorKind::Authentication));
    assert_eq!(error.attempts().len(), 2);
    assert!(!format!("{error:?} {error}").contains("new-key"), "{error:?}");
}

#[tokio::test]
async fn a_command_is_run_once_for_as_long_as_its_key_is_good() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let line = format!("echo x >> {0}; echo key-$(wc -l < {0} | tr -d ' ')", count.display());
    let refused = Act::json(401, r#"{"error":{"message":"expired"}}"#);
    let server = Server::start([good(), good(), refused, good()]).await;
    let transport = builder().any_key(KeySource::Command(line)).build().unwrap();
    for _ in 0..3 {
        transport.send(&keyless(&server)).await.unwrap();
    }
    let keys: Vec<_> = (0..4).map(|n| sent_key(&server, n)).collect();
    assert_eq!(keys, ["key-1", "key-1", "key-1", "key-2"]);
}

#[tokio::test]
async fn a_source_without_a_key_is_an_error_that_names_it_and_nothing_is_sent() {
    let server = Server::start([good()]).await;
    let cases = [
        (KeySource::Variable("INTERLEAF_NO_SUCH_KEY".into()), "INTERLEAF_NO_SUCH_KEY"),
        (KeySource::File("/no/such/file".into()), "/no/such/file"),
        (KeySource::File("no-key.txt".into()), "the key file no-key.txt does not exist"),
        (KeySource::File("sk-secret-on-the-way".into()), "it may be a key) does not exist"),
        (KeySource::Command("echo a secret on the way >&2; exit 3".into()), "3"),
        (KeySource::Command("true".into()), "printed no key"),
        (KeySource::Command("yes a secret on the way".into()), "more than a key"),
    ];
    for (source, named) in cases {
        let transport = builder().any_key(source).build().unwrap();
        let error = transport.send(&keyless(&server)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Key, "{error}");
        assert!(error.to_string().contains(named), "{error}");
        assert!(!format!("{error:?}").contains("on the way"), "{error:?}");
        assert!(!format!("{error:?}").contains("on-the-way"), "{error:?}");
    }
    let mut unset = keyless(&server);
    unset.target.vendor = unset.target.vendor.key_variable("INTERLEAF_NO_SUCH_KEY");
    let error = transport().send(&unset).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert!(error.to_string().contains("INTERLEAF_NO_SUCH_KEY"), "{error}");
    assert!(server.seen().is_empty());
}

#[cfg(unix)]
#[tokio::test]
async fn a_key_file_that_is_none_or_never_ends_is_an_error_that_shows_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("large"), "secret ".repeat(1 << 20)).unwrap();
    std::fs::write(path("binary"), b"secret\xff\xfe").unwrap();
    std::fs::write(path("blank"), "\n \n").unwrap();
    std::fs::write(path("lines"), "secret one\nsecret two\n").unwrap();
    let table = [
        (path("large"), "more than 65536 bytes"),
        ("/dev/zero".into(), "more than 65536 bytes"),
        (path("binary"), "is no text"),
        (path("blank"), "is empty"),
        ("/dev/null".into(), "is empty"),
        (folder.path().into(), "cannot be read: is a directory"),
        // A file that is there is no key in the place of one, though no folder is named.
        ("src".into(), "the key file src cannot be read: is a directory"),
        (path("lines"), "characters that a header cannot hold"),
    ];
    let server = Server::start([good()]).await;
    for (path, told) in table {
        let transport = builder().any_key(KeySource::File(path.clone())).build().unwrap();
        let error = transport.send(&keyless(&server)).await.unwrap_err();
        assert!(error.to_string().contains(told), "{path:?}: {error}");
        assert!(!format!("{error:?}").contains("secret"), "{path:?}: {error:?}");
    }
    assert!(server.seen().is_empty());
}

/// A pipe gives a key as a file does; one that nobody writes to is waited for until the limit.
#[cfg(unix)]
#[tokio::test]
async fn a_key_may_come_through_a_pipe_and_one_that_never_comes_ends_with_the_time_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let server = Server::start([good()]).await;
    let source = || KeySource::File(path.clone());
    let limits = Timeouts::default().total(Duration::from_millis(50));
    let transport = builder().any_key(source()).timeouts(limits).build().unwrap();
    let error = transport.send(&keyless(&server)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(Limit::Total), "{error}");

    let other = folder.path().join("other");
    assert!(std::process::Command::new("mkfifo").arg(&other).status().unwrap().success());
    let writer = std::thread::spawn({
        let other = other.clone();
        move || std::fs::write(other, "the-key\n").unwrap()
    });
    let transport = builder().any_key(KeySource::File(other)).build().unwrap();
    transport.send(&keyless(&server)).await.unwrap();
    writer.join().unwrap();
    assert_eq!(sent_key(&server, 0), "the-key");
}

#[tokio::test]
async fn a_bedrock_key_goes_as_a_bearer() {
    let bytes = saying(Family::Bedrock, "yes");
    let server = Server::start([Act::stream(&bytes, 64)]).await;
    let bedrock = Vendor::named("bedrock").unwrap().clone().base_url(server.url.as_str());
    assert_eq!(bedrock.auth, Auth::AwsV4);
    let target = interleaf::Target::with_options(bedrock, Options::model("m")).with_key(KEY);
    transport().send(&Call::new(target, "{}")).await.unwrap();
    assert_eq!(sent_key(&server, 0), KEY);
}

/// The law: whatever fails, and whatever the server repeats, the key is in no error.
#[tokio::test]
async fn no_error_of_any_kind_holds_the_key() {
    let echo = |status| {
        let body = format!(r#"{{"error":{{"type":"t","code":"c","message":"bad key {KEY}"}}}}"#);
        Act::json(status, body).header("x-request-id", KEY)
    };
    let acts = || {
        let mut acts: Vec<Act> =
            [400, 401, 403, 404, 408, 413, 429, 500, 503, 529].map(echo).into();
        acts.push(
            Act::json(302, KEY).header("location", &format!("https://x.example/{KEY}?k={KEY}")),
        );
        acts.push(Act::json(200, format!("{{\"{KEY}\"")));
        acts.push(Act::json(200, format!("<html>{KEY}</html>")));
        acts.push(Act::stream(
            format!("data: {{\"error\":{{\"message\":\"{KEY}\"}}}}\n\n").as_bytes(),
            9,
        ));
        acts.push(Act::stream(format!("data: {{{KEY}\n\n").as_bytes(), 1000));
        acts.push(Act::stream(format!("event: {KEY}\ndata: {KEY}\n\n").as_bytes(), 1000));
        acts.push(Act::stream(b"data: ", 9).then(Piece::Cut));
        acts.push(Act::stream(b"data: ", 9).then(Piece::Stall));
        acts.push(Act::Silence);
        acts
    };
    let limit = Duration::from_millis(100);
    let limits = Timeouts::default().first_byte(limit).idle(limit);
    let transport = builder().timeouts(limits).retries(Retries::at_most(1)).build().unwrap();
    for family in FAMILIES {
        for act in acts() {
            let server = Server::start([act.clone()]).await;
            let mut target = target(family, &server);
            for streams in [true, false] {
                target.options.stream = streams;
                let call = Call::new(target.clone(), "{}");
                let outcome = match transport.stream(&call).await {
                    Ok(streaming) => streaming.finish().await,
                    Err(error) => Err(error),
                };
                let shown = match outcome {
                    Err(error) => format!(
                        "{error} {error:?} {:#?} {:?} {:?} {:?} {:?}",
                        error.attempts(),
                        error.source(),
                        error.advice(),
                        error.api_error(),
                        error.message(),
                    ),
                    Ok(answer) => format!("{:?}", answer.attempts),
                };
                assert!(!shown.contains(KEY), "{family} {act:?}: {shown}");
                assert!(!format!("{call:?} {transport:?}").contains(KEY));
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_key_command_ends_with_the_call_and_so_does_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("started");
    let line = format!("sleep 1000 & echo $! > {}; wait", file.display());
    let mut timeouts = Timeouts::default();
    timeouts.total = Some(Duration::from_secs(5));
    let built = builder().any_key(KeySource::Command(line)).timeouts(timeouts).build();
    let server = Server::start([good()]).await;
    built.unwrap().send(&keyless(&server)).await.unwrap_err();
    let started = std::fs::read_to_string(file).unwrap();
    // Whoever takes it over may not have noticed yet that it ended.
    let runs = || {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", started.trim()));
        status.is_ok_and(|status| !status.contains(") Z "))
    };
    let ends = async {
        while runs() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let ended = tokio::time::timeout(crate::server::PATIENCE, ends).await;
    assert!(ended.is_ok(), "{started} still runs");
}

/// A proxy that repeats what it was sent, in the words of its error and in its headers.
#[tokio::test]
async fn no_error_holds_what_a_proxy_is_asked_with() {
    for (user, password, sent) in [
        ("aladdin", "open%2Fsesame", "YWxhZGRpbjpvcGVuL3Nlc2FtZQ=="),
        ("aladdin", "hunter22", "YWxhZGRpbjpodW50ZXIyMg=="),
    ] {
        let plain = password.replace("%2F", "/");
        let words = format!("{user}:{plain} | {password} | Basic {sent} | {sent}");
        let body = format!(r#"{{"error":{{"message":"denied to {words}"}}}}"#);
        let place = format!("http://{user}:{password}@proxy.test/{sent}");
        let acts = [
            Act::json(407, body.clone()).header("x-request-id", &words),
            Act::json(502, format!("<html>{words}</html>")),
            Act::json(302, "").header("location", &place),
            Act::json(200, format!("{{\"{words}\"")),
            Act::stream(format!("data: {body}\n\n").as_bytes(), 9),
        ];
        for act in acts {
            let server = Server::start([act.clone()]).await;
            let proxy = server.url.replace("://", &format!("://{user}:{password}@"));
            let transport = builder().proxy(proxy).retries(Retries::none()).build().unwrap();
            let call = Call::new(target(Family::OpenaiChat, &server), "{}");
            let error = transport.send(&call).await.unwrap_err();
            let shown = format!("{error} {error:?} {:?} {transport:?}", error.api_error());
            for secret in [user, password, &plain, sent] {
                assert!(!shown.contains(secret), "{act:?}: {shown}");
            }
            let headers = &server.seen()[0].headers;
            assert_eq!(headers["proxy-authorization"], format!("Basic {sent}"));
        }
    }
}
