//! One long session over all five APIs: thirty rounds with parallel calls, thinking and
//! pictures, every fault that an API can give, one interruption and one compaction.
//!
//! The five conversations are the same at the end, but for what is said in [`story`]. The API
//! refused nothing, and read from its cache what our rules say.

mod reads;
mod story;
mod world;

use std::collections::BTreeSet;

use interleaf::compaction::{Compacted, CompactionPolicy};
use interleaf::model::{Finish, Message, Status, ToolCall, Usage};
use interleaf::wire::{ApiErrorKind, Delta, Family};
use interleaf::{Session, Target, store};
use interleaf_doubles::{Double, Fault, Settings};
use interleaf_transport::{Answer, Call, ErrorKind, Limit, Transport};

use crate::families::FAMILIES;
use world::{N_ROUNDS, Trouble, has_picture, recipe, results, target, transport, trouble};

/// A session on its way through the script.
struct Play {
    family: Family,
    double: Double,
    session: Session,
    target: Target,
    /// The faults that were met, by their names.
    met: BTreeSet<&'static str>,
    /// What the engine said of the cache before each answer, and what the API told of it.
    foretold: Vec<Foretold>,
}

/// What the engine said of the cache before an answer, and what the API told of it.
#[derive(Debug)]
struct Foretold {
    round: usize,
    read: u64,
    step: u64,
    usage: Usage,
}

#[tokio::test]
async fn thirty_rounds_with_every_fault_end_in_the_same_conversation_on_every_api() {
    let plays = FAMILIES.map(|family| tokio::spawn(Play::to_its_end(family)));
    let mut stories = Vec::new();
    for play in plays {
        stories.push(play.await.unwrap());
    }
    for (family, told) in FAMILIES.iter().zip(&stories) {
        for (line, first) in told.lines().zip(stories[0].lines()) {
            assert_eq!(line, first, "{family}");
        }
        assert_eq!(told.lines().count(), stories[0].lines().count(), "{family}");
    }
    insta::assert_snapshot!("the_conversation_of_thirty_rounds", stories[0]);
}

impl Play {
    /// Plays all rounds, holds what came to what must hold, and tells the story.
    async fn to_its_end(family: Family) -> String {
        let mut play = Self::begin(family).await;
        for round in 1..=N_ROUNDS {
            play.round(round).await;
        }
        play.assert_nothing_was_refused();
        play.assert_reads_are_as_the_rules_say();
        let all: BTreeSet<&str> = world::TROUBLES.iter().map(|(_, name, _)| *name).collect();
        assert_eq!(play.met, all, "{family}");
        play.story()
    }

    fn story(&self) -> String {
        let visible: Vec<_> = self.session.conversation().visible().collect();
        // Half a call is answered with an error, and nothing else is.
        let results = visible.iter().filter_map(|message| message.as_result());
        let failed = results.filter(|result| result.status == Status::Error);
        story::of(&visible, &failed.map(|result| result.call.clone()).collect())
    }

    async fn begin(family: Family) -> Self {
        let settings = Settings::new().with_brain(world::Model);
        let double = Double::start(settings).await.unwrap();
        let session =
            Session::create(store::open("memory:").await.unwrap(), "thirty rounds").await.unwrap();
        let target = target(family, &double);
        let (met, foretold) = (BTreeSet::new(), Vec::new());
        Self { family, double, session, target, met, foretold }
    }

    /// The user asks, the model calls, the tools answer, the model sums up.
    async fn round(&mut self, round: usize) {
        self.session.append(world::question(round)).await.unwrap();
        let mut trouble = trouble(round);
        for _ in 0..6 {
            let is_over = self.step(round, trouble.take()).await;
            if is_over {
                return;
            }
        }
        panic!("{}: round {round} does not end", self.family);
    }

    /// One request and what comes of it. Says whether the round is over.
    async fn step(&mut self, round: usize, trouble: Option<Trouble>) -> bool {
        let Some(trouble) = trouble else {
            let answer = self.ask(round, &transport()).await.unwrap();
            return self.go_on(&answer).await;
        };
        let (name, fault) = trouble;
        if let Some(fault) = fault.clone() {
            self.double.fail_next(fault);
        }
        match name {
            "interrupt" => {
                self.interrupt().await;
                self.met.insert(name);
                self.session.append(Message::user("Go on.")).await.unwrap();
                return false;
            }
            "compaction" => {
                self.compact().await;
                self.met.insert(name);
                return false;
            }
            _ => {}
        }
        let hasty = world::hasty(name);
        match self.ask(round, &hasty).await {
            Ok(answer) => {
                let failed = answer.attempts.iter().filter_map(|attempt| attempt.failure.clone());
                let failed: Vec<ErrorKind> = failed.map(|(kind, _)| kind).collect();
                let is_met = match name {
                    "429" | "429 with retry-after" => {
                        failed.contains(&ErrorKind::Api(ApiErrorKind::RateLimited))
                    }
                    "500" | "529" => failed.iter().any(|kind| matches!(kind, ErrorKind::Api(_))),
                    "slow" => failed.contains(&ErrorKind::Timeout(Limit::FirstByte)),
                    "truncate" => answer.reply.finish == Finish::Length,
                    // It is read as what it is, whatever it says that it is.
                    "content-type" | "content-type of a stream" => failed.is_empty(),
                    _ => panic!("{}: {name} was not seen: {:?}", self.family, answer.attempts),
                };
                assert!(is_met, "{}: {name}: {failed:?}", self.family);
                self.met.insert(name);
                if name == "truncate" {
                    // Half a call is told apart, and answered without being carried out.
                    let mut whole = self.session.open_calls();
                    let is_whole = |call: &ToolCall| call.arguments.as_str().ends_with(" 19\"}");
                    let cut = answer.reply.cut_call().unwrap();
                    // Gemini sends no half: there the last whole one is taken for cut off, and
                    // who knows better may answer it.
                    if self.family == Family::Gemini {
                        whole.push(cut.clone());
                    }
                    assert!(whole.iter().all(is_whole), "{}: {whole:?}", self.family);
                    assert_eq!(whole.len(), 2, "{}", self.family);
                    let mut results = results(&whole);
                    if !is_whole(cut) {
                        results.push(cut.failure("It was not carried out."));
                    }
                    self.session.results(results).await.unwrap();
                    return false;
                }
                self.go_on(&answer).await
            }
            Err(error) => {
                let expected = match name {
                    "stall" => error.kind() == ErrorKind::Timeout(Limit::Idle),
                    "cut" => error.kind() == ErrorKind::Cut,
                    "malformed" => error.kind() == ErrorKind::Unreadable,
                    "overflow" => {
                        matches!(error.kind(), ErrorKind::Api(ApiErrorKind::TooLong { .. }))
                    }
                    _ => false,
                };
                assert!(expected, "{}: {name}: {error:?}", self.family);
                self.met.insert(name);
                if error.kept().is_some() {
                    self.session.append(Message::user("Go on.")).await.unwrap();
                }
                false
            }
        }
    }

    /// Asks; every second round in a stream.
    async fn ask(
        &mut self,
        round: usize,
        transport: &Transport,
    ) -> Result<Answer, interleaf_transport::Error> {
        let (recipe, target) = (recipe(), self.target.clone());
        let answer = match round.is_multiple_of(2) {
            true => {
                let targets = std::slice::from_ref(&target);
                let asking = transport.ask_streaming(&mut self.session, &recipe, targets).await?;
                asking.finish().await?
            }
            false => transport.ask(&mut self.session, &recipe, &target).await?,
        };
        if let (Some(impact), Some(usage)) = (&answer.impact, answer.reply.usage) {
            let cost = impact.cost.as_ref().unwrap();
            self.foretold.push(Foretold { round, read: cost.read, step: cost.step, usage });
        }
        Ok(answer)
    }

    /// Gives the results of all calls; without calls the round is over.
    async fn go_on(&mut self, _answer: &Answer) -> bool {
        let calls = self.session.open_calls();
        if calls.is_empty() {
            return true;
        }
        self.session.results(results(&calls)).await.unwrap();
        false
    }

    /// The user stops the model while it speaks.
    async fn interrupt(&mut self) {
        let targets = [self.target.clone()];
        let transport = transport();
        let mut asking =
            transport.ask_streaming(&mut self.session, &recipe(), &targets).await.unwrap();
        loop {
            let piece = asking.next().await.unwrap().unwrap();
            if matches!(piece, Delta::Text { .. }) {
                break;
            }
        }
        let kept = asking.cancel().await.unwrap().unwrap();
        assert_eq!(kept.reply.finish, Finish::Cut, "{}", self.family);
    }

    /// The oldest rounds give way to a summary that the model writes.
    async fn compact(&mut self) {
        let mut policy = CompactionPolicy::default();
        policy.facts.clear();
        policy.keep_turns = 2;
        let recipe = recipe();
        let mut compaction =
            self.session.compaction_now(&policy, &recipe, &self.target).await.unwrap();
        let request = self
            .session
            .compaction_request(&compaction, &policy, (&recipe, &self.target), &self.target)
            .await
            .unwrap();
        let call = Call::of(&request.request, &self.target);
        let answer = transport().send(&call).await.unwrap();
        let text = answer.reply.message.text();
        let taken = self.session.take_summary(&mut compaction, &policy, &text).await;
        assert!(matches!(taken.unwrap(), Compacted::Taken(_)), "{}: {text}", self.family);
    }

    /// No request broke a rule: the errors are those that were asked for.
    fn assert_nothing_was_refused(&self) {
        for exchange in self.double.requests() {
            let is_wanted = match &exchange.fault {
                Some(Fault::Status { status, .. }) => exchange.status == *status,
                Some(Fault::Overflow) => exchange.status == 400,
                Some(Fault::Slow(_)) => exchange.status == 0 || exchange.status == 200,
                _ => exchange.status == 200,
            };
            assert!(is_wanted, "{}: {exchange}", self.family);
        }
    }

    /// What the API read from its cache is what the rules say, token for token; and what the
    /// engine foretold with its own count is that too, as near as two counts can be.
    fn assert_reads_are_as_the_rules_say(&self) {
        let exchanges = self.double.requests();
        let rows = reads::compared(&self.target, &exchanges);
        assert!(rows.iter().any(|row| row.reported > 0), "{}: nothing was read", self.family);
        for row in &rows {
            assert_eq!(row.reported, row.by_rules, "{}: request {}", self.family, row.number);
        }
        for told in &self.foretold {
            let Foretold { round, read, step, usage } = told;
            // What the engine does not know: that a request which was refused as too long is not
            // cached, and that the first picture of a request costs the turns on Claude. After a compaction
            // only the head is left to read, whose tokens it estimates.
            let by_marks = matches!(self.family, Family::Anthropic | Family::Bedrock);
            let name = trouble(*round).map_or("", |(name, _)| name);
            if ["overflow", "compaction"].contains(&name) || by_marks && has_picture(*round) {
                continue;
            }
            // It counts in its own way: a picture, borders and tools are not what they are there.
            let tolerance = (*step).max(usage.prompt * 3 / 100);
            let apart = read.abs_diff(usage.cache_read);
            assert!(apart <= tolerance, "{}: {told:?}", self.family);
        }
    }
}
