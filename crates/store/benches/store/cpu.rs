//! What the processor does for a commit, beside the wait for the disk.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use interleaf_model::{Json, Timestamp};
use interleaf_store::{Commit, LastBody, NewEvent, NewRequest, SessionId, Store, StoredBody};

/// Turns at each length.
const TURNS: usize = 200;

/// How long all threads of this process have run so far; zero where the system does not
/// tell. A server that does the work elsewhere is not counted.
pub(crate) fn busy() -> Duration {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let run = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    Duration::from_nanos(threads.filter_map(run).sum())
}

pub(crate) fn compare(what: &str, n: usize, (ours, theirs): (Duration, Duration)) {
    let each = |busy: Duration| busy.as_secs_f64() * 1e6 / n as f64;
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!(
        "  {what}: processor {:.0} µs, the bare client {:.0} µs   ratio {ratio:.2}",
        each(ours),
        each(theirs)
    );
}

/// The two commits of a durable turn, for bodies of rising length: a pair of messages,
/// and the request that repeats all before it.
pub(crate) async fn turns(store: &Arc<dyn Store>, session: SessionId, events: &[NewEvent]) {
    let at = Timestamp::from_microseconds(1_795_000_000_000_000).unwrap();
    let pairs: Vec<&[NewEvent]> = events.chunks(2).take(TURNS).collect();
    let (mut seq, mut no) = (0, 0);
    let mut last: Option<LastBody> = None;
    for len in [1_500_000, 15_000_000, 150_000_000] {
        let start = Stopwatch::start();
        for pair in &pairs {
            let commit = Commit::new(session, at).append(seq, pair.to_vec());
            seq = store.commit(commit).await.unwrap().next_seq;
        }
        let append = start.each();

        let mut said = vec![Bytes::from(vec![b'x'; len])];
        // The first brings the long beginning, and is not counted.
        let mut start = Stopwatch::start();
        for (turn, pair) in pairs.iter().enumerate() {
            let new: String = pair.iter().map(NewEvent::body).collect();
            said.push(new.into());
            let context = format!("{turn} things are done. ").repeat(50);
            let (body, next) =
                LastBody::after(last.as_ref(), said.iter().cloned().chain([context.into()]));
            last = Some(next);
            let mut commit = Commit::new(session, at);
            commit.request = Some(request(no, body));
            no = store.commit(commit).await.unwrap().next_request;
            if turn == 0 {
                start = Stopwatch::start();
            }
        }
        let (note, mb) = (start.each(), len / 1_000_000);
        println!("  a turn after {mb:>3} MB: append {append}, note the request {note}");
    }
}

fn request(no: u64, body: StoredBody) -> NewRequest {
    let (model, vendor) = ("a-model".to_owned(), "a-vendor".to_owned());
    NewRequest { no, model, vendor, body, report: Json::parse("{}").unwrap() }
}

struct Stopwatch(Instant, Duration);

impl Stopwatch {
    fn start() -> Self {
        Self(Instant::now(), busy())
    }

    /// What each turn took.
    fn each(&self) -> String {
        let micros = |took: Duration| took.as_secs_f64() * 1e6 / TURNS as f64;
        let (took, ran) = (micros(self.0.elapsed()), micros(busy() - self.1));
        format!("{took:.0} µs (processor {ran:.0})")
    }
}
