//! Connections: kept, bounded, and sent nowhere else.

use interleaf::wire::Family;
use interleaf_transport::{Call, ErrorKind};

use crate::families::{builder, saying, target, transport};
use crate::server::{Act, Server};

fn good() -> Act {
    Act::stream(&saying(Family::OpenaiChat, "yes"), 64)
}

#[tokio::test]
async fn calls_one_after_the_other_use_one_connection() {
    let server = Server::start([good()]).await;
    let transport = transport();
    for _ in 0..10 {
        let call = Call::new(target(Family::OpenaiChat, &server), "{}");
        transport.clone().send(&call).await.unwrap();
    }
    assert_eq!((server.n_connections(), server.seen().len()), (1, 10));
}

#[tokio::test]
async fn an_answer_over_the_bound_is_refused_whole_or_streamed() {
    let text = "word ".repeat(2000);
    let whole = format!(r#"{{"choices":[{{"message":{{"content":"{text}"}}}}]}}"#);
    for act in [Act::json(200, whole), Act::stream(&saying(Family::OpenaiChat, &text), 512)] {
        let server = Server::start([act]).await;
        let call = Call::new(target(Family::OpenaiChat, &server), "{}");
        let bounded = builder().most_bytes(4096).build().unwrap();
        let error = bounded.send(&call).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
        assert!(error.to_string().contains("4096"), "{error}");
        assert_eq!(transport().send(&call).await.unwrap().reply.message.text().trim(), text.trim());
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_its_query_is_not_shown() {
    let elsewhere = Server::start([good()]).await;
    let place = format!("{}/v1/x?token=abc", elsewhere.url);
    for status in [301, 302, 303, 307, 308] {
        let server = Server::start([Act::json(status, "").header("location", &place)]).await;
        let call = Call::new(target(Family::OpenaiChat, &server), "{}");
        let error = transport().send(&call).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (ErrorKind::Redirect, Some(status)));
        assert!(error.to_string().contains(&elsewhere.url), "{error}");
        assert!(!error.to_string().contains("token"), "{error}");
    }
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn a_proxy_gets_the_request_in_place_of_the_host() {
    let proxy = Server::start([good()]).await;
    let mut target = target(Family::OpenaiChat, &proxy);
    target.vendor = target.vendor.base_url("http://models.invalid/v1");
    let transport = builder().proxy(proxy.url.clone()).build().unwrap();
    transport.send(&Call::new(target, "{}")).await.unwrap();
    assert_eq!(proxy.seen()[0].headers["host"], "models.invalid");
    let error = builder().proxy("http://user:secret@[").build().unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"));
}
