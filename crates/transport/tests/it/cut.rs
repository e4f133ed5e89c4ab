//! A stream that is cut at every byte.

use interleaf::assemble::Recipe;
use interleaf::model::Finish;
use interleaf::wire::{Decoder, Family, NameMap};
use interleaf_transport::{ErrorKind, Retries};

use crate::families::{builder, recorded, target};
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
