//! A process that runs an agent and is killed, and an upstream that is cut off, at 100 moments
//! each.

mod judge;
mod upstream;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use interleaf::model::{Message, Role};
use interleaf::store::SessionId;
use interleaf::wire::{Family, Vendor};
use interleaf::{Session, Target, store};
use interleaf_agent::{Agent, End, tool};
use interleaf_doubles::{Answer, Asked, Double};
use serde_json::json;

use crate::world::{Named, double, results, says, transport};
use upstream::Upstream;

const STORE: &str = "INTERLEAF_TEST_KILLED_STORE";
const SESSION: &str = "INTERLEAF_TEST_KILLED_SESSION";
const PORT: &str = "INTERLEAF_TEST_KILLED_PORT";
const COUNTER: &str = "INTERLEAF_TEST_KILLED_COUNTER";

/// How many times the process is killed, and the upstream with it or by itself.
const KILLS: usize = 100;

/// As many kills a session lives through.
const KILLS_OF_A_SESSION: usize = 10;

/// The moments of a kill are drawn from the time of this many rounds.
const WITHIN: u32 = 2;

/// Each round: two calls that change something, one that looks, and two scouts, who change
/// something too.
fn brain(asked: &Asked) -> Answer {
    let task = asked.user_texts().rfind(|text| text.starts_with("Round ")).unwrap_or_default();
    let round = task.trim_start_matches("Round ").trim_end_matches('.');
    let name = |what: &str| json!({"name": format!("{round}-{what}")});
    let has_called = asked.rounds() > 0;
    if says(asked, "You look for causes.") {
        return match has_called {
            false => Answer::new().with_call("count", &name("s")),
            true => Answer::text(format!("I counted {round}: {}", results(asked).join(" "))),
        };
    }
    match has_called {
        false => Answer::text(format!("I do round {round}."))
            .with_call("count", &name("a"))
            .with_call("look", &name("l"))
            .with_call("scout", &json!({"task": format!("Round {round}.left.")}))
            .with_call("count", &name("b"))
            .with_call("scout", &json!({"task": format!("Round {round}.right.")})),
        true => Answer::text(format!("Round {round} is done. {}", "It went well. ".repeat(20))),
    }
}

fn agent(port: u16, counter: &Path) -> Agent {
    let counter = counter.to_owned();
    let count = move |named: Named, _| {
        let counter = counter.clone();
        async move {
            let pause = || tokio::time::sleep(Duration::from_millis(5));
            pause().await;
            let mut file = std::fs::OpenOptions::new().append(true).create(true).open(counter)?;
            file.write_all(format!("{}\n", named.name).as_bytes())?;
            pause().await;
            Ok(format!("{} is counted", named.name).into())
        }
    };
    let count = std::sync::Arc::new(tool("count", "Counts something, which lasts.", count));
    let look = tool("look", "Looks.", |named: Named, _| async move {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(format!("{} is there", named.name).into())
    });
    let vendor = Vendor::of(Family::Anthropic).clone();
    let vendor = vendor.base_url(format!("http://127.0.0.1:{port}/v1").as_str());
    let scout = Agent::new("scout")
        .with_role("You look for causes.")
        .without_instructions()
        .with_shared_tool(count.clone());
    Agent::new("counter")
        .with_target(Target::of(vendor, "claude-sonnet-4-5").with_key("any"))
        .with_role("You count.")
        .without_instructions()
        .with_shared_tool(count)
        .with_tool(look.reads())
        .with_sub_agent(scout)
}

/// The process that is killed: it does round after round without end.
#[tokio::test]
#[ignore = "it is started by the test below, and never ends"]
async fn works_until_it_is_killed() {
    let Ok(url) = std::env::var(STORE) else { return };
    let id: SessionId = std::env::var(SESSION).unwrap().parse().unwrap();
    let port: u16 = std::env::var(PORT).unwrap().parse().unwrap();
    let agent = agent(port, Path::new(&std::env::var(COUNTER).unwrap()));
    let store = store::open(&url).await.unwrap();
    let transport = transport();
    loop {
        let mut session = Session::open(store.clone(), id).await.unwrap();
        let n_rounds = asked(&session).count();
        if n_rounds == 0 || session.main_agent().answer().is_some() {
            session.append(Message::user(&format!("Round {n_rounds}."))).await.unwrap();
        }
        writeln!(std::io::stderr(), "at work").unwrap();
        agent.start(&transport, session).unwrap().finish().await.unwrap();
    }
}

/// What the user asked of the main agent.
fn asked(session: &Session) -> impl Iterator<Item = String> {
    let who = interleaf::assemble::Agent::Main;
    let log = session.conversation().log();
    let own = log.filter(move |message| who.hears(message) && message.role() == Role::User);
    own.map(|message| message.text().into_owned())
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the process says, line by line.
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

fn start(url: &str, id: SessionId, port: u16, counter: &Path) -> (Killed, Receiver<String>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::works_until_it_is_killed", "--ignored", "--nocapture"])
        .envs([(STORE, url), (SESSION, &*id.to_string()), (PORT, &*port.to_string())])
        .env(COUNTER, counter)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let heard = lines(&mut child);
    let child = Killed(child);
    let is_at_work = heard.iter().any(|line| line == "at work");
    assert!(is_at_work, "the process did not come to work");
    (child, heard)
}

/// How long a round takes on this machine.
async fn round_time(url: &str, port: u16, counter: &Path) -> Duration {
    let session = Session::create(store::open(url).await.unwrap(), "").await.unwrap();
    let (_child, heard) = start(url, session.id(), port, counter);
    let began = Instant::now();
    let n_rounds = heard.iter().filter(|line| line == "at work").take(3).count();
    assert_eq!(n_rounds, 3, "the process does not go on");
    began.elapsed() / 3
}

fn moment(within: Duration) -> Duration {
    Duration::from_micros(fastrand::u64(0..within.as_micros() as u64))
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn live_row_25_after_a_kill_of_the_process_or_the_upstream_at_100_moments_nothing_is_lost_and_nothing_done_twice()
 {
    let scratch = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", scratch.path().join("s.db").display());
    let counter = scratch.path().join("counter");
    let double: Double = double(brain).await;
    let upstream = Upstream::start(double.address()).await;
    let within = round_time(&url, upstream.port(), &counter).await * WITHIN;
    let mut told = judge::Told::default();
    let (mut n_kills, mut n_cuts) = (0, 0);
    while n_kills < KILLS {
        std::fs::write(&counter, "").unwrap();
        double.forget();
        let session = Session::create(store::open(&url).await.unwrap(), "").await.unwrap();
        let id = session.id();
        let n_cuts_before = n_cuts;
        for _ in 0..KILLS_OF_A_SESSION {
            let (child, _) = start(&url, id, upstream.port(), &counter);
            // The upstream goes away too, before the process does or after.
            for _ in 0..fastrand::usize(0..3) {
                tokio::time::sleep(moment(within) / 2).await;
                upstream.cut().await;
                n_cuts += 1;
            }
            tokio::time::sleep(moment(within)).await;
            drop(child);
            n_kills += 1;
            let session = Session::open(store::open(&url).await.unwrap(), id).await.unwrap();
            judge::results_are_one_each(&session);
            judge::nothing_was_refused(&double);
        }
        // It goes on to the end of what it was asked.
        let session = Session::open(store::open(&url).await.unwrap(), id).await.unwrap();
        let agent = agent(double.address().port(), &counter);
        let ended = agent.start(&transport(), session).unwrap().finish().await.unwrap();
        assert_eq!(ended.end, End::Completed);
        judge::nothing_was_refused(&double);
        judge::every_call_has_its_result(&ended.session);
        judge::nothing_was_done_twice(&ended.session, &counter, &mut told);
        let most_lost = 2 * (KILLS_OF_A_SESSION + n_cuts - n_cuts_before);
        judge::usage_is_whole(&ended.session, &double, most_lost).await;
    }
    println!("{n_kills} kills, {n_cuts} cuts: {told:?}");
    assert!(told.done > 0 && told.unknown > 0, "no kill hit a call: {told:?}");
}
