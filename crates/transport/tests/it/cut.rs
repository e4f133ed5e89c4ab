//! A stream that is cut at every byte, or ends with an error.

use std::time::Duration;

use interleaf::assemble::Recipe;
use interleaf::model::{Finish, Message};
use interleaf::store::Page;
use interleaf::wire::{
    AnswerHead, ApiError, ApiErrorKind, Decoder, Delta, Family, NameMap, StreamWriter,
};
use interleaf::{Session, store};
use interleaf_transport::{Call, ErrorKind, Limit, Retries, Timeouts};

use crate::families::{FAMILIES, builder, recorded, saying, target, transport};
use crate::server::{Act, Piece, Server};
use crate::sessions::{assert_goes_on, session};

/// Live row 15: text is kept, calls are never half, and the session goes on.
async fn cut_at_every_byte(family: Family) {
    let (_, stream) = recorded(family);
    let whole = Decoder::new(family, NameMap::default()).recorded(&stream).unwrap();
    let acts = (0..=stream.len()).map(|n| Act::stream(&stream[..n], stream.len()).then(Piece::Cut));
    let server = Server::start(acts).await;
    let target = target(family, &server);
    let transport = builder().retries(Retries::none()).build().unwrap();
    let (mut n_kept, mut n_whole, mut last) = (0, 0, 0);
    let mut known = None;
    for n in 0..=stream.len() {
        let mut session = session().await;
        let (recipe, targets) = (Recipe::new(), std::slice::from_ref(&target));
        let outcome = match transport.ask_streaming(&mut session, &recipe, targets).await {
            Ok(asking) => asking.finish().await,
            Err(error) => Err(error),
        };
        let kept = match outcome {
            Ok(answer) => {
                assert_eq!(answer.reply.message.text(), whole.message.text(), "{family} at {n}");
                n_whole += 1;
                answer.message
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Cut, "{family} at {n}: {error}");
                if let Some(partial) = error.partial() {
                    assert_eq!(partial.finish, Finish::Cut, "{family} at {n}");
                }
                error.kept().cloned()
            }
        };
        // What is kept changes with few of the cuts.
        let body = kept.as_ref().map(|kept| kept.body.clone());
        if known.as_ref() != Some(&body) {
            known = Some(body);
            assert_goes_on(&mut session, &target).await;
        }
        if let Some(kept) = kept {
            n_kept += 1;
            let text = kept.text();
            assert!(whole.message.text().starts_with(&*text), "{family} at {n}: {text}");
            assert!(text.len() >= last, "{family} at {n}: text that had come is gone");
            last = text.len();
            let name_and_arguments = |call: &interleaf::model::ToolCall| {
                (call.name.clone(), call.arguments.as_str().to_owned())
            };
            let all: Vec<_> = whole.message.calls().map(name_and_arguments).collect();
            let calls: Vec<_> = kept.calls().map(name_and_arguments).collect();
            assert!(all.starts_with(&calls), "{family} at {n}: {calls:?}");
        }
    }
    assert!(n_whole >= 1 && n_kept > stream.len() / 4, "{family}: {n_whole} {n_kept}");
}

#[tokio::test]
async fn live_row_15_a_chat_stream_is_cut_at_every_byte() {
    cut_at_every_byte(Family::OpenaiChat).await;
}

#[tokio::test]
async fn live_row_15_a_responses_stream_is_cut_at_every_byte() {
    cut_at_every_byte(Family::OpenaiResponses).await;
}

#[tokio::test]
async fn live_row_15_a_stream_of_anthropics_is_cut_at_every_byte() {
    cut_at_every_byte(Family::Anthropic).await;
}

#[tokio::test]
async fn live_row_15_a_gemini_stream_is_cut_at_every_byte() {
    cut_at_every_byte(Family::Gemini).await;
}

#[tokio::test]
async fn live_row_15_a_bedrock_stream_is_cut_at_every_byte() {
    cut_at_every_byte(Family::Bedrock).await;
}

/// A text, then the API's own error, as the stream of this family.
fn failing(family: Family, error: &ApiError) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::new(family, AnswerHead::default().id("answer_1"));
    writer.push(&Delta::Text { part: 0, text: "I look at it.".to_owned() }, &mut bytes);
    writer.fail(error, &mut bytes);
    bytes
}

/// Live row 15: a piece was said, so that nothing is tried again and it is kept.
#[tokio::test]
async fn live_row_15_what_came_before_an_error_in_the_stream_is_kept_however_the_bytes_come() {
    for family in FAMILIES {
        for kind in [ApiErrorKind::Overloaded, ApiErrorKind::ContentFiltered] {
            let stream = failing(family, &ApiError::new(kind, "no more"));
            for size in [1, 40, stream.len()] {
                let server = Server::start([Act::stream(&stream, size)]).await;
                let (mut session, target) = (session().await, target(family, &server));
                let (recipe, targets) = (Recipe::new(), std::slice::from_ref(&target));
                let transport = transport();
                let mut asking =
                    transport.ask_streaming(&mut session, &recipe, targets).await.unwrap();
                let (mut text, mut n_errors) = (String::new(), 0);
                while let Some(piece) = asking.next().await {
                    match piece {
                        Ok(Delta::Text { text: more, .. }) => text += &more,
                        Ok(_) => {}
                        Err(_) => n_errors += 1,
                    }
                }
                assert_eq!((text.as_str(), n_errors), ("I look at it.", 1), "{family} by {size}");
                let error = asking.finish().await.unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::Api(_)), "{family}: {error}");
                assert_eq!(error.partial().unwrap().finish, Finish::Cut, "{family} by {size}");
                assert_eq!(error.kept().unwrap().text(), text, "{family} by {size}");
                assert_eq!(server.seen().len(), 1, "{family} by {size}");
                assert_goes_on(&mut session, &target).await;
            }
        }
    }
}

/// Nothing is handed on before the end, so that it is tried again; what the last try said is
/// kept all the same.
#[tokio::test]
async fn live_row_15_who_waits_for_the_whole_answer_keeps_what_came_of_the_last_try() {
    for family in FAMILIES {
        let stream = failing(family, &ApiError::new(ApiErrorKind::Overloaded, "no more"));
        let server = Server::start([Act::stream(&stream, stream.len())]).await;
        let (mut session, target) = (session().await, target(family, &server));
        let transport = builder().retries(Retries::none()).build().unwrap();
        let error = transport.ask(&mut session, &Recipe::new(), &target).await.unwrap_err();
        assert_eq!(error.partial().unwrap().message.text(), "I look at it.", "{family}");
        assert_eq!(error.kept().unwrap().text(), "I look at it.", "{family}");
        assert_goes_on(&mut session, &target).await;
        let error = transport.send(&Call::new(target, "{}")).await.unwrap_err();
        assert_eq!(error.partial().unwrap().message.text(), "I look at it.", "{family}");
    }
}

/// The beginning of a stream that tells its usage before anything is said, on the APIs that do.
fn early_usage(family: Family) -> Option<&'static str> {
    match family {
        Family::OpenaiChat => Some(
            "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}],\
             \"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1,\"total_tokens\":4}}\n\n",
        ),
        Family::Anthropic => Some(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\
             \"type\":\"message\",\"role\":\"assistant\",\"model\":\"c\",\"content\":[],\
             \"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n",
        ),
        Family::Gemini => Some(
            "data: {\"candidates\":[],\"usageMetadata\":{\"promptTokenCount\":3,\
             \"candidatesTokenCount\":1,\"totalTokenCount\":4}}\n\n",
        ),
        // These tell it at the end.
        Family::OpenaiResponses | Family::Bedrock => None,
    }
}

#[tokio::test]
async fn live_row_15_an_answer_that_fails_before_anything_was_said_leaves_its_usage_and_no_message()
{
    let early = FAMILIES.into_iter().filter_map(|family| Some((family, early_usage(family)?)));
    for (family, head) in early {
        let server = Server::start([Act::stream(head.as_bytes(), 1000).then(Piece::Cut)]).await;
        let (mut session, target) = (session().await, target(family, &server));
        let transport = builder().retries(Retries::none()).build().unwrap();
        for (no, streams) in [(0, false), (1, true)] {
            let (recipe, targets) = (Recipe::new(), std::slice::from_ref(&target));
            let error = match streams {
                false => transport.ask(&mut session, &recipe, &target).await.unwrap_err(),
                true => match transport.ask_streaming(&mut session, &recipe, targets).await {
                    Ok(asking) => asking.finish().await.unwrap_err(),
                    Err(error) => error,
                },
            };
            assert!(error.kept().is_none(), "{family}: {:?}", error.kept());
            assert_eq!(session.conversation().log_len(), 1, "an empty message was kept");
            let sent = &session.requests(Page::from(no, 1)).await.unwrap()[0];
            let usage = sent.usage.unwrap_or_else(|| panic!("{family}: its usage is lost"));
            assert_eq!((usage.prompt, usage.completion), (3, 1), "{family}");
        }
    }
}

/// Each target's request has its own usage, also if another one answers in the end.
#[tokio::test]
async fn live_row_15_what_a_target_used_that_gave_way_to_the_next_is_noted() {
    for text in ["", "I look at it."] {
        let mut half = early_usage(Family::Anthropic).unwrap().as_bytes().to_vec();
        if !text.is_empty() {
            half.extend_from_slice(
                b"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
                  \"content_block\":{\"type\":\"text\",\"text\":\"I look at it.\"}}\n\n",
            );
        }
        let cut = Server::start([Act::stream(&half, 1000).then(Piece::Cut)]).await;
        let good = Server::start([Act::stream(&saying(Family::Anthropic, "Yes."), 64)]).await;
        let targets = [target(Family::Anthropic, &cut), target(Family::Anthropic, &good)];
        let mut session = session().await;
        let transport = builder().retries(Retries::none()).build().unwrap();
        let answer = transport.ask_any(&mut session, &Recipe::new(), &targets).await.unwrap();
        assert_eq!(answer.message.unwrap().text(), "Yes.");
        let sent = session.requests(Page::from(0, 2)).await.unwrap();
        assert_eq!(sent[0].usage.map(|usage| usage.prompt), Some(3), "{text:?}");
        assert_eq!(sent.len(), 2);
        assert_eq!(session.conversation().log_len(), 2);
    }
}

/// It is paid for, as an answer is.
#[tokio::test]
async fn the_usage_of_an_answer_that_said_nothing_waits_for_others_who_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("held.db");
    let store = store::open(&format!("sqlite:{}", path.display())).await.unwrap();
    let mut session = Session::create(store.clone(), "").await.unwrap();
    session.append(Message::user("Is it done?")).await.unwrap();
    let mut other = Session::open(store, session.id()).await.unwrap();
    let head = early_usage(Family::Anthropic).unwrap();
    let server = Server::start([Act::stream(head.as_bytes(), 1000).then(Piece::Stall)]).await;
    let limits = Timeouts::default().idle(Duration::from_secs(1));
    let transport = builder().timeouts(limits).retries(Retries::none()).build().unwrap();
    let (recipe, target) = (Recipe::new(), target(Family::Anthropic, &server));
    let meanwhile = async {
        server.has_seen(1).await;
        // One was first, and then one holds the store for longer than that waits by itself.
        other.refresh().await.unwrap();
        other.append(Message::user("Hurry up.")).await.unwrap();
        let holder = rusqlite::Connection::open(path).unwrap();
        holder.execute_batch("begin immediate").unwrap();
        tokio::time::sleep(Duration::from_secs(8)).await;
        holder.execute_batch("rollback").unwrap();
    };
    let (asked, ()) = tokio::join!(transport.ask(&mut session, &recipe, &target), meanwhile);
    let error = asked.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(Limit::Idle), "{error}");
    assert!(error.session().is_none(), "{error}");
    let sent = &session.requests(Page::from(0, 1)).await.unwrap()[0];
    assert_eq!(sent.usage.map(|usage| usage.prompt), Some(3));
}
