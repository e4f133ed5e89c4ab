//! What must hold of a session after its process was killed.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use interleaf::Session;
use interleaf::model::{CallId, Origin, Status, Usage};
use interleaf::store::{LastBody, Page};
use interleaf_doubles::Double;

/// What became of the calls that change something.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// They were done, and said so.
    pub(super) done: usize,
    /// They were begun, and nobody knows how far they came.
    pub(super) unknown: usize,
}

type Pair = (Origin, CallId);

/// The calls and the results of each, by agent.
fn paired(session: &Session) -> BTreeMap<String, (usize, usize)> {
    let mut pairs: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let key = |(origin, call): Pair| format!("{origin:?} {call}");
    for message in session.conversation().log() {
        for call in message.calls() {
            pairs.entry(key((message.origin.clone(), call.id.clone()))).or_default().0 += 1;
        }
        if let Some(result) = message.as_result() {
            pairs.entry(key((message.origin.clone(), result.call.clone()))).or_default().1 += 1;
        }
    }
    pairs
}

/// No call has two results, and no result has no call.
pub(super) fn results_are_one_each(session: &Session) {
    for (call, (n_calls, n_results)) in paired(session) {
        assert!(n_calls == 1 && n_results <= 1, "{call}: {n_calls} calls, {n_results} results");
    }
}

/// Each call and each spawn has one result.
pub(super) fn every_call_has_its_result(session: &Session) {
    for (call, both) in paired(session) {
        assert_eq!(both, (1, 1), "{call}");
    }
}

pub(super) fn nothing_was_refused(double: &Double) {
    let refused = double.requests().into_iter().find(|exchange| exchange.refusal.is_some());
    assert!(refused.is_none(), "{}", refused.unwrap());
}

/// What was counted is what the results say.
pub(super) fn nothing_was_done_twice(session: &Session, counter: &Path, told: &mut Told) {
    let mut counted: HashMap<(String, String), usize> = HashMap::new();
    for line in std::fs::read_to_string(counter).unwrap().lines() {
        *counted.entry(split(line)).or_default() += 1;
    }
    let mut said: HashMap<(String, String), Vec<(Status, String)>> = HashMap::new();
    let log: Vec<_> = session.conversation().log().collect();
    for message in &log {
        for call in message.calls().filter(|call| call.name.as_str() == "count") {
            let result = log.iter().filter_map(|other| {
                let result = other.as_result()?;
                let is_its = result.call == call.id && other.origin == message.origin;
                is_its.then(|| (result.status, other.text().into_owned()))
            });
            let named: serde_json::Value = serde_json::from_str(call.arguments.as_str()).unwrap();
            let name = split(named["name"].as_str().unwrap());
            said.entry(name).or_default().extend(result);
        }
    }
    for (name, results) in &said {
        let n = counted.remove(name).unwrap_or(0);
        let n_done = results.iter().filter(|(status, _)| *status == Status::Ok).count();
        let is_unknown = |text: &String| text.contains("It may have taken effect");
        let n_unknown = results.iter().filter(|(_, text)| is_unknown(text)).count();
        assert!((n_done..=n_done + n_unknown).contains(&n), "{name:?}: {n} times, {results:?}");
        told.done += n_done;
        told.unknown += n_unknown;
    }
    assert!(counted.is_empty(), "counted, and nobody called for it: {counted:?}");
}

/// A round and what was counted in it.
fn split(name: &str) -> (String, String) {
    let (round, what) = name.split_once('-').unwrap();
    (round.to_owned(), what.to_owned())
}

/// What the session has of each request is what the double told, and its sums are theirs.
pub(super) async fn usage_is_whole(session: &Session, double: &Double, most_lost: usize) {
    let mut told: HashMap<String, Vec<interleaf_doubles::Usage>> = HashMap::new();
    let mut n_answered = 0;
    for exchange in double.requests() {
        if let Some(usage) = exchange.usage {
            n_answered += 1;
            told.entry(exchange.body.to_string()).or_default().push(usage);
        }
    }
    let (mut sum, mut n_known) = (0, 0);
    for request in session.requests(Page::newest(100_000)).await.unwrap() {
        let body = LastBody::read(&**session.store(), session.id(), request.no).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body.to_bytes()).unwrap();
        let Some(usage) = request.usage else { continue };
        let told = told.get(&body.to_string()).expect("what was sent is what came");
        assert!(told.iter().any(|told| agrees(usage, *told)), "{usage:?} {told:?}");
        (sum, n_known) = (sum + usage.prompt + usage.completion, n_known + 1);
    }
    let conversation = session.conversation();
    let agents = conversation.agents().map(|(_, counters)| counters.lifetime);
    let all = agents.chain([conversation.usage().lifetime]);
    assert_eq!(all.map(|usage| usage.prompt + usage.completion).sum::<u64>(), sum);
    assert!(n_answered - n_known <= most_lost, "{n_known} of {n_answered} are known");
}

/// Of an answer that broke off, all that was sent is known, and a part of what was made.
fn agrees(kept: Usage, told: interleaf_doubles::Usage) -> bool {
    kept.prompt == told.input() && kept.cache_read == told.read && kept.completion <= told.output
}
