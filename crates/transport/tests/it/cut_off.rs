//! Answers that came to their limit in the middle of a call: it is never run (live row 4).

use interleaf::assemble::{Cause, OpenBlock, Recipe};
use interleaf::model::{Finish, Message, Reply, Tool};
use interleaf::wire::{AnswerHead, Delta, Family, StreamWriter, lint};
use interleaf::{Next, Session, Target};
use interleaf_doubles::{Answer, Asked, Double, Fault, Planned, Settings};
use interleaf_transport::ErrorKind;
use serde_json::json;

use crate::compact::at;
use crate::families::{FAMILIES, target, transport};
use crate::server::{Act, Server};
use crate::sessions::session;

fn recipe() -> Recipe {
    let path = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tools = ["ls", "rm"].map(|name| Tool::new(name, "", path.clone()));
    let mut recipe = Recipe::new().with_tools(tools);
    recipe.open_block = OpenBlock::Wait;
    recipe
}

async fn ask(session: &mut Session, target: &Target, streams: bool) -> Reply {
    let (recipe, targets) = (recipe(), std::slice::from_ref(target));
    let transport = transport();
    match streams {
        true => {
            let asking = transport.ask_streaming(session, &recipe, targets).await.unwrap();
            asking.finish().await.unwrap().reply
        }
        false => transport.ask(session, &recipe, target).await.unwrap().reply,
    }
}

/// The next request is one that the API takes, and tells the model that its call was not run.
async fn assert_told(session: &mut Session, target: &Target, what: &str) {
    let Next::Send(request) = session.preview(&recipe(), target).await.unwrap() else {
        panic!("{what}: it waits");
    };
    let body = String::from_utf8(request.body.to_bytes()).unwrap();
    let faults = lint::lint(&target.vendor, &body).unwrap();
    assert!(faults.is_empty(), "{what}: {faults:?} in {body}");
    assert!(body.contains("was cut off before its end"), "{what}: {body}");
    let made = request.report.findings().filter(|(_, found)| found.cause == Cause::CallCutOff);
    assert_eq!(made.count(), 1, "{what}");
}

#[tokio::test]
async fn live_row_4_a_call_that_was_cut_off_by_the_length_is_never_offered_and_the_model_is_told() {
    let brain = |_: &Asked| {
        let whole = Answer::text("I tidy up.").with_call("ls", &json!({"path": "src"}));
        whole.with_call("rm", &json!({"path": "/tmp/scratch/of/mine"}))
    };
    let mut settings = Settings::new().with_brain(brain);
    settings.faults.push(Planned { nth: None, fault: Fault::Truncate });
    let double = Double::start(settings).await.unwrap();
    for family in FAMILIES {
        for streams in [false, true] {
            let what = format!("{family}, streamed: {streams}");
            let (mut session, target) = (session().await, at(&double, family));
            let reply = ask(&mut session, &target, streams).await;
            assert_eq!(reply.finish, Finish::Length, "{what}");
            // Gemini sends no half of a call: there it is the last one that came.
            let calls: Vec<_> = reply.message.calls().collect();
            let (cut, whole) = calls.split_last().unwrap();
            assert_eq!(whole.len(), usize::from(family != Family::Gemini), "{what}");
            assert_eq!(reply.cut_call(), Some(*cut), "{what}");
            // The one before it came whole, and is waited for.
            let open = session.open_calls();
            assert_eq!(open.iter().collect::<Vec<_>>(), whole, "{what}");
            if !open.is_empty() {
                let error = transport().ask(&mut session, &recipe(), &target).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Waiting, "{what}: {error}");
                assert!(!error.to_string().contains(cut.id.as_str()), "{what}: {error}");
                session.results([open[0].result("a.rs")]).await.unwrap();
            }
            assert_told(&mut session, &target, &what).await;
        }
    }
}

/// A call `rm` whose arguments begin so, and the end of the answer.
fn stopped(family: Family, arguments: &str, finish: Finish) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::new(family, AnswerHead::default().id("answer_1"));
    let (id, name, text) = ("c1".to_owned(), "rm".to_owned(), arguments.to_owned());
    writer.push(&Delta::Call { part: 0, id, name }, &mut bytes);
    writer.push(&Delta::Arguments { part: 0, text }, &mut bytes);
    writer.push(&Delta::Finish(finish), &mut bytes);
    writer.finish(&mut bytes);
    bytes
}

#[tokio::test]
async fn live_row_4_a_call_is_cut_off_also_where_its_arguments_read_well_and_nothing_is_waited_for()
{
    for family in FAMILIES {
        for arguments in ["", "{}", r#"{"path": "/tm"#, r#"{"path": "/tmp"}"#] {
            let what = format!("{family}: {arguments}");
            let stream = stopped(family, arguments, Finish::Length);
            let server = Server::start([Act::stream(&stream, 9)]).await;
            let (mut session, target) = (session().await, target(family, &server));
            let reply = ask(&mut session, &target, true).await;
            assert_eq!(reply.finish, Finish::Length, "{what}");
            assert!(session.open_calls().is_empty(), "{what}");
            assert_told(&mut session, &target, &what).await;
            // Nobody has to say anything of it, but may.
            let own = reply.cut_call().unwrap().failure("too long, write it in two steps");
            session.results([own]).await.unwrap();
            let Next::Send(request) = session.preview(&recipe(), &target).await.unwrap() else {
                panic!("{what}: it waits");
            };
            let body = String::from_utf8(request.body.to_bytes()).unwrap();
            assert!(body.contains("write it in two steps"), "{what}: {body}");
        }
    }
}

#[tokio::test]
async fn a_call_that_a_filter_stopped_is_cut_off_too_and_one_before_words_is_not() {
    let stream = stopped(Family::OpenaiChat, r#"{"path": "/tm"#, Finish::ContentFilter);
    let server = Server::start([Act::stream(&stream, 9)]).await;
    let (mut session, target) = (session().await, target(Family::OpenaiChat, &server));
    ask(&mut session, &target, true).await;
    assert!(session.open_calls().is_empty());
    // Words came after the call, so that it had come to its end.
    let whole = json!({"id": "m", "type": "message", "role": "assistant", "stop_reason": "max_tokens",
        "content": [{"type": "tool_use", "id": "c1", "name": "rm", "input": {"path": "/tmp"}},
            {"type": "text", "text": "And then I"}], "usage": {"input_tokens": 1, "output_tokens": 9}});
    let server = Server::start([Act::json(200, whole.to_string())]).await;
    let (mut session, target) = (self::session().await, self::target(Family::Anthropic, &server));
    let reply = ask(&mut session, &target, false).await;
    assert_eq!((reply.finish.clone(), reply.cut_call()), (Finish::Length, None));
    assert_eq!(session.open_calls().len(), 1);
}

#[tokio::test]
async fn live_row_4_a_call_in_words_that_was_cut_off_by_the_length_is_never_offered() {
    let call = |path: &str| format!("<invoke name=\"rm\"><parameter name=\"path\">{path}");
    let whole = format!("I tidy up.\n<tools>{}</parameter></invoke>", call("/tmp/scratch"));
    for (text, n_open) in [
        (format!("I tidy up.\n<tools>{}", call("/tm")), 0),
        (format!("I tidy up.\n<tools>{}</parameter>", call("/tm")), 0),
        (whole.clone(), 0),
        (format!("{whole}{}", call("/ho")), 1),
    ] {
        for family in FAMILIES {
            let mut bytes = Vec::new();
            let mut writer = StreamWriter::new(family, AnswerHead::default().id("answer_1"));
            writer.push(&Delta::Text { part: 0, text: text.clone() }, &mut bytes);
            writer.push(&Delta::Finish(Finish::Length), &mut bytes);
            writer.finish(&mut bytes);
            let server = Server::start([Act::stream(&bytes, 9)]).await;
            let (mut session, mut target) = (session().await, target(family, &server));
            target.text_tools = Some(true);
            let reply = ask(&mut session, &target, true).await;
            assert_eq!(reply.finish, Finish::Length, "{family}: {text}");
            let open = session.open_calls();
            assert_eq!(open.len(), n_open, "{family}: {text}: {open:?}");
            let results: Vec<Message> = open.iter().map(|call| call.result("done")).collect();
            session.results(results).await.unwrap();
            assert_told(&mut session, &target, &text).await;
        }
    }
}
