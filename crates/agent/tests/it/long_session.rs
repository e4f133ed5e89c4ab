//! One long session of an agent on all five APIs: sixty rounds with parallel calls, two
//! sub-agents at once, a compaction that the model asks for, an interrupt and a resume.
//!
//! The five conversations are the same at the end. In each request the context block stands where
//! the rule says and says what held at that moment, by an oracle that knows the script. Nothing of
//! it is in the log or in a summary. The caches read what our rules say, token for token.

mod oracle;
mod script;
// What a cache read, and how a conversation is told, are the same for a session without an agent.
#[path = "../../../transport/tests/it/long_session/reads.rs"]
mod reads;
#[path = "../../../transport/tests/it/long_session/story.rs"]
mod story;

use std::collections::HashSet;
use std::sync::Arc;

use interleaf::assemble::Agent as Who;
use interleaf::compaction::CompactionPolicy;
use interleaf::model::{CallId, Message, Usage};
use interleaf::wire::{CacheMarks, Family, ThinkingMode};
use interleaf::{Impact, Session, Target, store};
use interleaf_agent::{Agent, End, Event};
use interleaf_doubles::Double;

use crate::world::{FAMILIES, double, target, transport};
use script::{Folder, N_TASKS};

/// What the engine said of the cache before an answer, and what the API told of it.
struct Foretold {
    expected: Option<u64>,
    usage: Usage,
    impact: Impact,
}

struct Play {
    family: Family,
    double: Double,
    folder: Folder,
    session: Option<Session>,
    agent: Agent,
    foretold: Vec<Foretold>,
    n_rounds: u32,
    n_compacted: usize,
    n_interrupted: usize,
}

async fn played(family: Family) -> String {
    let mut play = Play::begin(family).await;
    for task in 0..N_TASKS {
        play.task(task).await;
    }
    let name = family.to_string();
    assert_eq!((play.n_compacted, play.n_interrupted), (1, 1), "{name}");
    assert!(play.n_rounds >= 60, "{name}: {} rounds", play.n_rounds);
    let refused = play.double.requests().into_iter().find(|exchange| exchange.status != 200);
    assert!(refused.is_none(), "{name}: {}", refused.unwrap());
    oracle::check(&name, &play.double.requests(), &play.folder);
    play.assert_nothing_of_the_context_is_kept().await;
    play.assert_reads_are_as_foretold();
    play.story()
}

impl Play {
    async fn begin(family: Family) -> Self {
        let double = double(script::brain).await;
        let folder = Folder::new();
        let store = store::open("memory:").await.unwrap();
        let session = Some(Session::create(store, "sixty rounds").await.unwrap());
        let agent = script::agent(target_of(family, &double), &folder, policy());
        let (foretold, n_rounds, n_compacted, n_interrupted) = (Vec::new(), 0, 0, 0);
        Self {
            family,
            double,
            folder,
            session,
            agent,
            foretold,
            n_rounds,
            n_compacted,
            n_interrupted,
        }
    }

    /// A task, to its end. Where the script says so, the user interrupts and lets it go on.
    async fn task(&mut self, task: usize) {
        self.folder.before(task);
        let mut end = self.run(&script::question(task), script::is_interrupted(task)).await;
        if script::is_interrupted(task) {
            assert_eq!(end, End::Interrupted, "{}: task {task}", self.family);
            self.n_interrupted += 1;
            // As another process would: from the store.
            let session = self.session.take().unwrap();
            let (store, id) = (session.store().clone(), session.id());
            drop(session);
            self.session = Some(Session::open(store, id).await.unwrap());
            end = self.run("Go on.", false).await;
        }
        assert_eq!(end, End::Completed, "{}: task {task}", self.family);
    }

    async fn run(&mut self, said: &str, interrupts: bool) -> End {
        let mut session = self.session.take().unwrap();
        session.append(Message::user(said)).await.unwrap();
        let mut run = self.agent.start(&transport(), session).unwrap();
        let handle = run.handle();
        while let Some(event) = run.next().await {
            match event {
                Event::Answered(answer) => {
                    let usage = answer.reply.usage.unwrap();
                    let impact = answer.impact.clone().unwrap();
                    self.foretold.push(Foretold {
                        expected: answer.expected_read(),
                        usage,
                        impact,
                    });
                }
                Event::Compacted(done) => {
                    assert!(done.without_model.is_none(), "{}: {done:?}", self.family);
                    self.n_compacted += 1;
                }
                Event::NotCompacted(why) => panic!("{}: {why}", self.family),
                Event::Started(call) if interrupts && call.name.as_str() == "endless" => {
                    handle.interrupt();
                }
                _ => {}
            }
        }
        let ended = run.finish().await.unwrap();
        self.n_rounds += ended.used.rounds;
        self.session = Some(ended.session);
        ended.end
    }

    async fn assert_nothing_of_the_context_is_kept(&mut self) {
        let family = self.family;
        let session = self.session.as_mut().unwrap();
        let summaries = session.summaries().await.unwrap();
        assert!(!summaries.is_empty(), "{family}");
        let summaries = summaries.iter().map(|kept| kept.text.to_string());
        let log = session.conversation().log().map(|message| message.text().into_owned());
        for text in log.chain(summaries) {
            for of_context in script::SHOWN_ONLY_IN_CONTEXT {
                assert!(!text.contains(of_context), "{family}: {of_context} is in {text}");
            }
        }
    }

    /// What the API read from its cache is what the rules say, token for token. What the engine
    /// foretold is that too, wherever the tokens are known.
    fn assert_reads_are_as_foretold(&self) {
        let family = self.family;
        let exchanges = self.double.requests();
        let target = target_of(family, &self.double);
        let mut n_read = 0;
        for row in reads::compared(&target, &exchanges) {
            assert_eq!(row.reported, row.by_rules, "{family}: request {}", row.number);
            n_read += row.reported;
        }
        assert!(n_read > 0, "{family}: nothing was read");
        let mut n_exact = 0;
        for (n, Foretold { expected, usage, impact }) in self.foretold.iter().enumerate() {
            let expected = expected.expect("somebody knows");
            let cost = impact.cost.as_ref().expect("the rules of the cache are known");
            // We know the tokens where we have counted as many as the API, and where the API has
            // told them: up to its last mark, or to the end of the request before. A read that ends
            // elsewhere, such as where the context moved or a summary begins, ends where nobody has
            // counted, and is told by what is around it.
            let counts_alike = impact.tokens == usage.prompt || impact.reported.is_some();
            // The double counts with OpenAI's vocabulary, as we do for its models: we are apart by
            // the word that says of a result that it failed, which may be a step of the cache.
            let is_openai = matches!(family, Family::OpenaiChat | Family::OpenaiResponses);
            let most = match (counts_alike, is_openai) {
                (true, _) => 0,
                (false, true) => cost.step,
                (false, false) => usage.prompt / 100,
            };
            let apart = expected.abs_diff(usage.cache_read);
            // Near the least that a cache keeps, nobody can tell whether it does.
            let is_near = cost.minimum > 0 && expected.abs_diff(cost.minimum) * 50 <= cost.minimum;
            let is_told = apart <= most || (is_near && usage.cache_read == 0);
            assert!(is_told, "{family}: answer {n}: {expected} {usage:?} {impact:?}");
            n_exact += usize::from(apart == 0);
        }
        let n_least = match family {
            // A failed result may move two of them by a step.
            Family::OpenaiChat | Family::OpenaiResponses => self.foretold.len() - 2,
            // The one after the compaction.
            Family::Anthropic | Family::Bedrock => self.foretold.len() - 1,
            Family::Gemini => self.foretold.len() / 2,
        };
        assert!(n_exact >= n_least, "{family}: {n_exact} of {}", self.foretold.len());
    }

    /// What was said, agent by agent.
    fn story(&self) -> String {
        let conversation = self.session.as_ref().unwrap().conversation();
        let main = by_call(conversation.visible().filter(|m| Who::Main.hears(m)));
        let mut told = vec![story::of(&main, &HashSet::new())];
        let mut scouts: Vec<String> = conversation
            .agents()
            .map(|(name, _)| {
                let who = Who::Sub(name.clone());
                let own = by_call(conversation.visible().filter(|m| who.hears(m)));
                story::of(&own, &HashSet::new())
            })
            .collect();
        scouts.sort();
        told.extend(scouts);
        // Each has a folder of its own.
        told.join("---\n").replace(&self.folder.path().display().to_string(), "FOLDER")
    }
}

/// What was said, with results in the order of the calls: they are stored as they come.
fn by_call<'a>(said: impl Iterator<Item = &'a Arc<Message>>) -> Vec<&'a Arc<Message>> {
    let mut told: Vec<&Arc<Message>> = said.collect();
    let calls: Vec<CallId> =
        told.iter().flat_map(|said| said.calls()).map(|call| call.id.clone()).collect();
    let is_result = |said: &Arc<Message>| said.as_result().is_some();
    for block in told.chunk_by_mut(|a, b| is_result(a) && is_result(b)) {
        block.sort_by_key(|said| {
            said.as_result().and_then(|own| calls.iter().position(|id| *id == own.call))
        });
    }
    told
}

fn target_of(family: Family, double: &Double) -> Target {
    let mut target = target(family, double);
    target.options = target.options.max_tokens(8_192).thinking(ThinkingMode::budget(2_048));
    target.options.cache = CacheMarks::On;
    target.options.cache_key = Some("sixty rounds".into());
    target
}

fn policy() -> CompactionPolicy {
    let mut policy = CompactionPolicy::default();
    policy.facts.clear();
    (policy.keep_turns, policy.summary_tokens) = (2, 1_200);
    policy
}

#[tokio::test]
async fn sixty_rounds_of_an_agent_end_in_the_same_conversation_on_every_api() {
    let plays = FAMILIES.map(|family| tokio::spawn(played(family)));
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
    insta::assert_snapshot!("the_conversation_of_sixty_rounds", stories[0]);
}
