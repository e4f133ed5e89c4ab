//! Random commands: every store answers as the one in memory does.

use interleaf_model::{Json, Usage};
use interleaf_store::{
    Commit, Error, Expect, ForkPoint, LastBody, ListSessions, NewRequest, NewSession, Page,
    RecordChange, RecordFilter, RecordKind, RequestUsage, Search, SessionId, Store,
};

use crate::fixture::{self, Backend, at, said};

const STEPS: u64 = 400;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % sides
    }
}

#[tokio::test]
async fn sqlite_answers_as_memory_does() {
    check(fixture::sqlite().await).await;
}

#[tokio::test]
async fn postgres_answers_as_memory_does() {
    check(fixture::postgres().await).await;
}

async fn check(backend: Option<Backend>) {
    let Some(backend) = backend else { return };
    let memory = fixture::memory().await.unwrap();
    let mut dice = Dice(5);
    let mut ids: Vec<SessionId> = vec![];
    for step in 0..STEPS {
        let commands = commands(&mut dice, &mut ids, step);
        for command in commands {
            let expected = answer(&*memory.store, &command).await;
            let given = answer(&*backend.store, &command).await;
            assert_eq!(given, expected, "at step {step}: {command:?}");
        }
    }
}

#[derive(Debug)]
enum Command {
    Create(NewSession),
    Commit(Box<Commit>),
    Remove(SessionId),
    Events(SessionId, Page),
    RecordFilter(SessionId, RecordFilter),
    Requests(SessionId, Page),
    Search(Search),
    List(ListSessions),
}

/// What a store answers, with errors as what a caller sees of them.
async fn answer(store: &dyn Store, command: &Command) -> String {
    fn shown<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
        match result {
            Ok(value) => format!("{value:?}"),
            Err(e) => format!("{:?} {:?} {e}", e.kind(), e.current()),
        }
    }
    match command {
        Command::Create(new) => shown(store.create(new.clone()).await),
        Command::Commit(commit) => shown(store.commit((**commit).clone()).await),
        Command::Remove(id) => shown(store.remove(*id).await),
        Command::Events(id, page) => shown(store.events(*id, *page).await),
        Command::RecordFilter(id, which) => shown(store.records(*id, *which).await),
        Command::Requests(id, page) => shown(store.requests(*id, *page).await),
        Command::Search(search) => shown(store.search(search.clone()).await),
        Command::List(list) => shown(store.list(*list).await),
    }
}

/// A change, and a question about what it changed.
fn commands(dice: &mut Dice, ids: &mut Vec<SessionId>, step: u64) -> Vec<Command> {
    let at = at(step as i64);
    let mut some = |dice: &mut Dice| match ids.is_empty() || dice.roll(8) == 0 {
        true => {
            let new = NewSession::new(format!("session {step}"), at);
            ids.push(new.id);
            (new.id, Some(new))
        }
        false => (ids[dice.roll(ids.len() as u64) as usize], None),
    };
    let (id, new) = some(dice);
    if let Some(mut new) = new {
        let parent = dice.roll(2) == 0 && ids.len() > 1;
        let parent = parent.then(|| ids[dice.roll(ids.len() as u64 - 1) as usize]);
        new.parent = parent.map(|session| ForkPoint { session, seq: dice.roll(12) });
        return vec![Command::Create(new), Command::Events(id, Page::from(0, 99))];
    }
    let page = match dice.roll(3) {
        0 => Page::newest(dice.roll(9) as usize),
        1 => Page::before(dice.roll(20), 5),
        _ => Page::from(dice.roll(20), dice.roll(30) as usize),
    };
    let as_of = (dice.roll(2) == 0).then(|| dice.roll(20));
    let question = match dice.roll(5) {
        0 => Command::Events(id, page),
        1 => Command::RecordFilter(id, RecordFilter { kind: None, as_of }),
        2 => Command::Requests(id, page),
        3 => {
            let session = (dice.roll(2) == 0).then_some(id);
            let query = format!("word{} word{}", dice.roll(4), dice.roll(4));
            Command::Search(Search { session, limit: 5, query })
        }
        _ => Command::List(ListSessions { limit: dice.roll(20) as usize, after: None }),
    };
    let change = match dice.roll(20) {
        0 => Command::Remove(id),
        _ => Command::Commit(Box::new(commit(dice, id, step))),
    };
    vec![change, question]
}

fn commit(dice: &mut Dice, id: SessionId, step: u64) -> Commit {
    let mut commit = Commit::new(id, at(step as i64));
    if dice.roll(4) > 0 {
        let n = dice.roll(4);
        let text = |dice: &mut Dice| format!("word{} word{} x{step}", dice.roll(4), dice.roll(4));
        let events = (0..n).map(|_| said(&text(dice))).collect();
        commit = commit.append(dice.roll(10), events);
    }
    for _ in 0..dice.roll(3) {
        let body = Json::parse(format!("{{\"step\": {step}}}")).unwrap();
        let (kind, key) = (RecordKind::ALL[dice.roll(7) as usize], format!("k{}", dice.roll(2)));
        let change = match dice.roll(4) {
            0 => RecordChange::remove(kind, key),
            _ => RecordChange::put(kind, key, body),
        };
        commit = commit.record(change.expecting(match dice.roll(4) {
            0 => Expect::Absent,
            1 => Expect::No(dice.roll(6)),
            _ => Expect::Any,
        }));
    }
    if dice.roll(3) == 0 {
        commit.request = Some(NewRequest {
            no: dice.roll(3),
            model: "m".to_owned(),
            vendor: "v".to_owned(),
            body: LastBody::after(None, [format!("body {step}")]).0,
            report: Json::parse("[ ]").unwrap(),
        });
    }
    if dice.roll(6) == 0 {
        let usage = Usage { prompt: step, ..Usage::default() };
        commit.usage = Some(RequestUsage { no: dice.roll(2), usage });
    }
    if dice.roll(9) == 0 {
        commit.title = Some(format!("title {step}"));
    }
    commit
}
