//! What happens to a session while an agent works on it.

use std::sync::Arc;

use interleaf::assemble::{Agent, Recipe};
use interleaf::compaction::Compacted;
use interleaf::conversation::{Clear, Operation, Truncate};
use interleaf::model::{ContextKind, Finish, Message, Reply, Usage, notation};
use interleaf::store::{Page, Store};
use interleaf::{ErrorKind, Request, Session, Target};

use crate::{block_on, memory};

fn target() -> Target {
    Target::new("anthropic", "claude-sonnet-4-5").unwrap().with_key("k")
}

async fn asked(session: &mut Session) -> Request {
    session.request(&Recipe::new(), &target()).await.unwrap().request().unwrap()
}

fn reply(text: &str, request: Option<u64>, prompt: u64) -> Reply {
    let mut reply = Reply::new(Message::assistant(text), Finish::Stop);
    reply.usage = Some(Usage { prompt, ..Usage::default() });
    reply.request = request;
    reply
}

/// A session on two nodes.
async fn two_nodes() -> (Session, Session) {
    let store: Arc<dyn Store> = memory().await;
    let mut one = Session::create(store.clone(), "").await.unwrap();
    one.append(Message::user("begin")).await.unwrap();
    let two = Session::open(store, one.id()).await.unwrap();
    (one, two)
}

#[test]
fn an_answer_is_taken_though_something_was_said_meanwhile_and_is_not_the_last_word() {
    block_on(async {
        let (mut one, mut two) = two_nodes().await;
        let request = asked(&mut one).await;
        two.refresh().await.unwrap();
        two.append(Message::user("hurry up")).await.unwrap();
        one.take(reply("Done.", request.number, 10)).await.unwrap();
        let said: Vec<String> =
            one.conversation().log().map(|message| message.text().into_owned()).collect();
        assert_eq!(said, ["begin", "hurry up", "Done."]);
        assert!(one.main_agent().answer().is_none(), "the model has not seen what was said");
        let request = asked(&mut one).await;
        one.take(reply("At once.", request.number, 20)).await.unwrap();
        assert_eq!(one.main_agent().answer().unwrap().text(), "At once.");
    });
}

#[test]
fn a_result_is_taken_though_something_was_said_while_its_tool_ran() {
    block_on(async {
        let (mut one, mut two) = two_nodes().await;
        let request = asked(&mut one).await;
        let call = notation::parse("a [call c1 ls] [call c2 pwd]").unwrap().remove(0);
        let mut answer = Reply::new(call.clone(), Finish::ToolCalls);
        answer.request = request.number;
        one.take(answer).await.unwrap();
        two.refresh().await.unwrap();
        two.append(Message::user("hurry up")).await.unwrap();
        let calls: Vec<_> = call.calls().cloned().collect();
        one.results([calls[0].result("src"), calls[1].result("/")]).await.unwrap();
        let again = one.results([calls[0].result("src")]).await.unwrap_err();
        assert_eq!(again.to_string(), "the result for c1 answers no open call");
        let body = String::from_utf8(asked(&mut one).await.body.to_bytes()).unwrap();
        let [src, hurry] = ["\"src\"", "hurry up"].map(|text| body.find(text).unwrap());
        assert!(src < hurry && !body.contains("No result was recorded"), "{body}");
    });
}

#[test]
fn f4_a_summary_is_taken_though_something_was_said_while_it_was_written() {
    block_on(async {
        let (mut one, mut two) = two_nodes().await;
        one.append_all(crate::compaction::talk(30).into_iter().map(Arc::new)).await.unwrap();
        let (policy, recipe) = (crate::compaction::small(), crate::compaction::recipe(4_000));
        let mut plan = one.compaction_now(&policy, &recipe, &target()).await.unwrap();
        two.refresh().await.unwrap();
        two.append(Message::user("hurry up")).await.unwrap();
        let text = "All parts get a cache.";
        let taken = one.take_summary(&mut plan, &policy, text).await.unwrap();
        assert!(matches!(taken, Compacted::Taken(_)), "{taken:?}");
        assert_eq!(one.conversation().log().last().unwrap().text(), "hurry up");
        two.refresh().await.unwrap();
        assert_eq!(&*two.active_summary().await.unwrap().unwrap().text, text);
        // The contract is held against what was said: what is hidden is not summarised.
        let mut plan = one.compaction_now(&policy, &recipe, &target()).await.unwrap();
        let cut = Truncate { keep_last: Some(1), ..Truncate::default() };
        two.operate(Operation::Truncate(cut)).await.unwrap();
        let late = one.take_summary(&mut plan, &policy, text).await.unwrap_err();
        assert!(late.to_string().contains("no longer visible"), "{late}");
    });
}

#[test]
fn a_request_is_made_again_with_what_others_said_unless_they_run_the_same_agent() {
    block_on(async {
        let (mut one, mut two) = two_nodes().await;
        two.append(Message::user("and this")).await.unwrap();
        let body = String::from_utf8(asked(&mut one).await.body.to_bytes()).unwrap();
        assert!(body.contains("and this"), "{body}");
        // The other node does not know of that request, and makes one of its own.
        let refused = two.request(&Recipe::new(), &target()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert_eq!(two.requests(Page::from(0, 9)).await.unwrap().len(), 1);
    });
}

#[test]
fn an_answer_is_not_put_on_top_of_another_runs() {
    block_on(async {
        let (mut one, mut two) = two_nodes().await;
        let first = asked(&mut one).await;
        two.refresh().await.unwrap();
        let second = asked(&mut two).await;
        one.take(reply("Mine.", first.number, 10)).await.unwrap();
        let refused = two.take(reply("Late.", second.number, 20)).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Overtaken);
        assert_eq!(two.conversation().log_len(), 2);
        // A sub-agent's answer is no business of the main agent's.
        let third = asked(&mut two).await;
        let mut scout = one.sub_agent("scout");
        scout.begin("Why does it leak?").await.unwrap();
        scout.take(reply("It is the spring.", None, 1)).await.unwrap();
        two.take(reply("Now.", third.number, 30)).await.unwrap();
    });
}

#[test]
fn sub_agents_run_side_by_side_in_tasks_of_their_own() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let store = memory().await;
        let session = Session::create(store.clone(), "").await.unwrap();
        let run = |n: u64, mut session: Session| async move {
            let name = format!("scout-{n}");
            let recipe = Recipe::new()
                .with_agent(Agent::Sub(name.as_str().into()))
                .with_context(ContextKind::Role, "You look for causes.");
            let mut scout = session.sub_agent(name);
            scout.begin("Why does it leak?").await.unwrap();
            for turn in 0..5 {
                let next = scout.request(&recipe, &target()).await.unwrap();
                let number = next.request().unwrap().number;
                scout.take(reply(&format!("{turn}"), number, 10 + n)).await.unwrap();
            }
            scout.answer().is_some()
        };
        let mut tasks = Vec::new();
        for n in 0..4 {
            let session = Session::open(store.clone(), session.id()).await.unwrap();
            tasks.push(tokio::spawn(run(n, session)));
        }
        for task in tasks {
            assert!(task.await.unwrap());
        }
        let session = Session::open(store, session.id()).await.unwrap();
        for (name, counters) in session.conversation().agents() {
            let n: u64 = name.as_str().strip_prefix("scout-").unwrap().parse().unwrap();
            assert_eq!(counters.lifetime.prompt, 5 * (10 + n), "{name}");
        }
    });
}

#[test]
fn answers_without_a_number_are_credited_to_requests_that_have_none_and_no_token_is_lost() {
    block_on(async {
        let (mut one, _) = two_nodes().await;
        asked(&mut one).await;
        asked(&mut one).await;
        let mut one = Session::open(one.store().clone(), one.id()).await.unwrap();
        one.take(reply("a", None, 20)).await.unwrap();
        one.take(reply("b", None, 30)).await.unwrap();
        // There is no request left that it could answer.
        one.take(reply("c", None, 7)).await.unwrap();
        let requests = one.requests(Page::from(0, 9)).await.unwrap();
        let spent: Vec<u64> =
            requests.iter().map(|request| request.usage.unwrap().prompt).collect();
        assert_eq!(spent, [30, 20]);
        let credited: Vec<Option<u64>> = one
            .conversation()
            .log()
            .filter_map(|message| Some(message.answered()?.request))
            .collect();
        assert_eq!(credited, [Some(1), Some(0), None]);
        assert_eq!(one.conversation().usage().lifetime.prompt, 57);
        assert_eq!(one.conversation().usage().current.prompt, 7);
    });
}

#[test]
fn a_late_answer_of_an_earlier_request_adds_its_tokens_and_leaves_the_current_count() {
    block_on(async {
        let (mut one, _) = two_nodes().await;
        let first = asked(&mut one).await.number;
        let second = asked(&mut one).await.number;
        one.take(reply("two", second, 30)).await.unwrap();
        one.take(reply("one", first, 20)).await.unwrap();
        let usage = one.conversation().usage();
        assert_eq!((usage.current.prompt, usage.lifetime.prompt), (30, 50));
        // Each may be taken again, in any order.
        for (text, number, prompt) in [("two", second, 30), ("one", first, 20)] {
            one.take(reply(text, number, prompt)).await.unwrap();
        }
        assert_eq!(one.conversation().log_len(), 3);
    });
}

#[test]
fn a12_an_answer_that_comes_after_a_rollback_is_the_current_request() {
    block_on(async {
        let (mut one, two) = two_nodes().await;
        let first = asked(&mut one).await.number;
        one.take(reply("one", first, 20)).await.unwrap();
        one.operate(Operation::Clear(Clear::default())).await.unwrap();
        one.append(Message::user("again")).await.unwrap();
        let second = asked(&mut one).await.number;
        one.roll_back(0).await.unwrap();
        let mut elsewhere = Session::open(two.store().clone(), two.id()).await.unwrap();
        let taken = reply("two", second, 30);
        elsewhere.take(taken.clone()).await.unwrap();
        one.take(taken).await.unwrap();
        for session in [one, elsewhere] {
            let usage = session.conversation().usage();
            let counted = [usage.current, usage.cumulative, usage.lifetime].map(|it| it.prompt);
            assert_eq!(counted, [30, 50, 50]);
        }
    });
}

#[test]
fn a_paused_answer_goes_back_as_it_is_and_is_not_the_last_word() {
    block_on(async {
        let (mut one, _) = two_nodes().await;
        let number = asked(&mut one).await.number;
        let mut paused = Reply::new(Message::assistant("Let me look."), Finish::Paused);
        paused.request = number;
        one.take(paused).await.unwrap();
        assert!(one.main_agent().answer().is_none());
        let body: String = String::from_utf8(asked(&mut one).await.body.to_bytes()).unwrap();
        assert!(body.contains("Let me look."), "{body}");
    });
}
