//! A process that is killed while it compacts a session.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use interleaf::model::Message;
use interleaf::store::SessionId;
use interleaf::wire::{Family, lint};
use interleaf::{KeptSummary, Next, Session, SummaryState, store};
use interleaf_doubles::{Double, Said, Settings, Summariser};

use crate::compact::{at, policy, recipe, turn};
use crate::families::transport;

const STORE: &str = "INTERLEAF_TEST_KILLED_STORE";
const SESSION: &str = "INTERLEAF_TEST_KILLED_SESSION";
const PORT: &str = "INTERLEAF_TEST_KILLED_PORT";

/// How many times a process is killed while it compacts.
const KILLS: usize = 100;

/// What is said in the nth turn of a session.
fn said(n: usize) -> [Message; 2] {
    turn(n, n).0
}

fn say(what: &str, n: usize) {
    let mut out = std::io::stderr().lock();
    writeln!(out, "{what} {n}").unwrap();
}

/// The process that is killed: it speaks and compacts without end.
#[tokio::test]
#[ignore = "it is started by the test below, and never ends"]
async fn works_until_it_is_killed() {
    let Ok(store) = std::env::var(STORE) else { return };
    let id: SessionId = std::env::var(SESSION).unwrap().parse().unwrap();
    let port: u16 = std::env::var(PORT).unwrap().parse().unwrap();
    let mut session = Session::open(store::open(&store).await.unwrap(), id).await.unwrap();
    let vendor = interleaf::wire::Vendor::of(Family::Anthropic).clone();
    let vendor = vendor.base_url(format!("http://127.0.0.1:{port}").as_str());
    let target = interleaf::Target::of(vendor, "claude-sonnet-4-5").with_key("key");
    let (transport, mut policy, recipe) = (transport(), policy(), recipe(2_000));
    policy.summary_tokens = 800;
    // Facts of all turns ever would outgrow any summary.
    policy.facts.clear();
    loop {
        let n = session.conversation().log_len() / 2;
        for n in n..n + 12 {
            session.append_all(said(n).map(Arc::new)).await.unwrap();
        }
        say("said", session.conversation().log_len());
        say("compacting", 0);
        transport.compact(&mut session, &policy, (&recipe, &target), &target).await.unwrap();
        say("compacted", session.summaries().await.unwrap().len());
    }
}

/// What the process said, line by line.
fn lines(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    let out = BufReader::new(child.stderr.take().unwrap());
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn f4_after_a_kill_at_100_moments_of_a_compaction_nothing_is_lost_and_one_summary_is_active()
{
    let scratch = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", scratch.path().join("s.db").display());
    let double = Double::start(Settings::new().with_brain(Summariser::new())).await.unwrap();
    let target = at(&double, Family::Anthropic);
    let mut id = Session::create(store::open(&url).await.unwrap(), "").await.unwrap().id();
    let (mut n_kills, mut n_rounds, mut n_taken) = (0, 0, 0);
    // The summaries of the session, as they were after the kill before.
    let mut known = Vec::new();
    // How long the first and the second compaction of a process take, from those that are seen.
    let mut lasts = [Duration::from_millis(200); 2];
    while n_kills < KILLS {
        n_rounds += 1;
        assert!(n_rounds < 20 * KILLS, "of {n_rounds} kills {n_kills} hit a compaction");
        if n_rounds % 10 == 0 {
            id = Session::create(store::open(&url).await.unwrap(), "").await.unwrap().id();
            known.clear();
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::works_until_it_is_killed", "--ignored", "--nocapture"])
            .envs([(STORE, &*url), (SESSION, &*id.to_string())])
            .env(PORT, double.address().port().to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let heard = lines(&mut child);
        let (mut last, mut n_said, mut n_done) = (String::new(), 0, 0);
        let which = n_rounds % 2;
        let mut began = Instant::now();
        for line in heard.iter() {
            match line.split_once(' ') {
                Some(("said", n)) => n_said = n.parse().unwrap(),
                Some(("compacting", _)) if n_done == which => {
                    last = line;
                    break;
                }
                Some(("compacting", _)) => began = Instant::now(),
                Some(("compacted", _)) => {
                    lasts[n_done] = began.elapsed();
                    n_done += 1;
                }
                _ => {}
            }
            last = line;
        }
        // Anywhere from its beginning to a little after its end.
        let most = lasts[which].as_micros() as u64 * 5 / 4;
        tokio::time::sleep(Duration::from_micros(fastrand::u64(0..most.max(1)))).await;
        child.kill().unwrap();
        child.wait().unwrap();
        for line in heard.iter() {
            if let Some(n) = line.strip_prefix("said ") {
                n_said = n.parse().unwrap();
            }
            last = line;
        }
        assert!(n_said > 0, "the process did not come to work: {last}");
        n_kills += usize::from(last.starts_with("compacting"));

        let mut session = Session::open(store::open(&url).await.unwrap(), id).await.unwrap();
        let log: Vec<_> = session.conversation().log().cloned().collect();
        assert!(log.len() >= n_said, "{} of {n_said} messages are there", log.len());
        // Every message is there as it was said, and no turn is half there.
        let bodies = (0..log.len() / 2).flat_map(said).map(|message| message.body);
        assert!(log.iter().map(|message| &message.body).eq(&bodies.collect::<Vec<_>>()));
        let summaries = session.summaries().await.unwrap();
        // None of those before is gone or changed, other than that it is not sent any more.
        let before = known.iter().map(|kept: &KeptSummary| (&kept.text, &kept.covers));
        let same = summaries.iter().map(|kept| (&kept.text, &kept.covers)).take(known.len());
        assert!(before.eq(same), "{known:?} {summaries:?}");
        known.clone_from(&summaries);
        let active: Vec<_> = summaries.iter().filter(|s| s.state == SummaryState::Active).collect();
        assert!(active.len() <= 1, "{active:?}");
        assert_eq!(active.is_empty(), summaries.is_empty(), "the last one stays active");
        n_taken += usize::from(!active.is_empty());
        let n_covered = active.first().map_or(0, |summary| summary.covers.len());
        let texts: Vec<String> = active.iter().map(|summary| summary.text.to_string()).collect();
        for text in &texts {
            // Whole, as the model wrote it, or as it is made without one.
            let answers = double.requests().into_iter().filter_map(|exchange| exchange.answer);
            let is_same = |said: &Said| matches!(said, Said::Text(said) if said.trim() == *text);
            let is_written = answers.flat_map(|answer| answer.parts).any(|said| is_same(&said));
            assert!(is_written || text.contains("put together without a model"), "{text}");
        }
        // What is covered is the beginning of what was said; all else is sent, word for word.
        let is_covered = |message: &Message| active[0].covers.contains(&message.id);
        assert!(log.iter().take(n_covered).all(|message| is_covered(message)));
        let Next::Send(next) = session.preview(&recipe(1_000_000), &target).await.unwrap() else {
            panic!("it waits");
        };
        let body = String::from_utf8(next.body.to_bytes()).unwrap();
        let texts = texts.iter().cloned();
        for text in texts.chain(log[n_covered..].iter().map(|message| message.text().into())) {
            let written = serde_json::to_string(text.trim()).unwrap();
            assert!(body.contains(written.trim_matches('"')), "{text} is not in {body}");
        }
        let faults = lint::lint(&target.vendor, &body).unwrap();
        assert!(faults.is_empty(), "{faults:?}");
    }
    assert!(n_taken > 0, "no compaction ever came to its end");
}
