//! Streams: the same answer as a whole one, however it is cut.

use interleaf_doubles::{Answer, Api, Asked, Double, Settings};
use proptest::prelude::*;
use serde_json::json;

use crate::client::{get, post, send};
use crate::exchanges::{question, settings};
use crate::reassembled::{of_stream, of_whole};

/// Without what differs between two requests: ids are made of the request.
fn without_ids(value: &serde_json::Value) -> serde_json::Value {
    let text = value.to_string();
    let mut parts = text.split("\"id\":\"");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept += &part[part.find('"').unwrap_or_default()..];
    }
    let keep =
        ["toolUseId\":\"", "encrypted_content\":\"", "call_id\":\"", "thoughtSignature\":\""];
    for name in keep {
        let mut parts = kept.split(name);
        let mut next = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            next += &part[part.find('"').unwrap_or_default()..];
        }
        kept = next;
    }
    serde_json::Value::from(kept)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_stream_adds_up_to_the_whole_answer_for_every_size_of_chunks() {
    for api in Api::ALL {
        let double = Double::start(settings()).await.unwrap();
        let whole = of_whole(api, &send(&double, api, &question(api)).await.json());
        for size in 1..=64 {
            let double = Double::start(settings().with_chunk(size)).await.unwrap();
            let mut body = question(api);
            body["stream"] = json!(true);
            if api == Api::OpenAiChat {
                body["stream_options"] = json!({"include_usage": true});
            }
            let got = send(&double, api, &body).await;
            assert!(got.is_whole, "{api} {size}");
            assert!(got.chunks.iter().rev().skip(1).all(|chunk| *chunk == size), "{api} {size}");
            let streamed = of_stream(api, &got.body);
            assert_eq!(without_ids(&streamed), without_ids(&whole), "{api} {size}");
        }
    }
}

#[tokio::test]
async fn googles_stream_without_events_is_one_list() {
    let double = Double::start(settings()).await.unwrap();
    let mut body = question(Api::Gemini);
    body.as_object_mut().unwrap().shift_remove("model");
    let path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent";
    let got = post(&double, path, &[("x-goog-api-key", "k")], &body.to_string()).await;
    let list = got.json();
    assert!(list.as_array().unwrap().len() > 2);
    assert!(got.headers.contains("content-type: application/json"));
}

#[tokio::test]
async fn each_vendors_client_gets_its_own_list_of_models() {
    let double = Double::start(Settings::new()).await.unwrap();
    let openai = get(&double, "/v1/models", &[("authorization", "Bearer k")]).await.json();
    assert_eq!(openai["object"], "list");
    let anthropic = [("x-api-key", "k"), ("anthropic-version", "2023-06-01")];
    let anthropic = get(&double, "/v1/models", &anthropic).await.json();
    assert_eq!(anthropic["has_more"], false);
    for path in ["/v1beta/models", "/v1/models"] {
        let gemini = get(&double, path, &[("x-goog-api-key", "k")]).await.json();
        assert_eq!(gemini["models"][0]["name"], "models/gemini-2.5-pro");
    }
    let none = get(&double, "/v2/nothing", &[("authorization", "Bearer k")]).await;
    assert_eq!(none.status, 404);
}

#[tokio::test]
async fn a_double_that_is_stopped_or_dropped_closes_idle_connections_and_its_port() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    for is_dropped in [false, true] {
        let double = Double::start(Settings::new()).await.unwrap();
        let address = double.address();
        let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
        let head = "GET /v1/models HTTP/1.1\r\nhost: d\r\nauthorization: Bearer k\r\n\r\n";
        socket.write_all(head.as_bytes()).await.unwrap();
        double.ended(1).await;
        if is_dropped {
            drop(double);
        } else {
            double.stop().await;
        }
        // What was answered comes, and then the end.
        let mut bytes = Vec::new();
        let read = socket.read_to_end(&mut bytes);
        tokio::time::timeout(std::time::Duration::from_secs(60), read).await.unwrap().unwrap();
        assert!(bytes.starts_with(b"HTTP/1.1 200 OK"));
        assert!(tokio::net::TcpStream::connect(address).await.is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any text survives every API, in pieces of any size.
    #[test]
    fn any_text_and_arguments_come_through_every_stream(text in "\\PC{1,80}", key in "\\PC{0,12}", size in 1usize..50) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let arguments = json!({key.clone(): text.clone()});
        for api in Api::ALL {
            let (text, arguments) = (text.clone(), arguments.clone());
            let answer = move |_: &Asked| Answer::text(&text).with_call("ls", &arguments);
            let double = Settings::new().with_brain(answer).with_chunk(size);
            let (whole, streamed) = runtime.block_on(async {
                let double = Double::start(double).await.unwrap();
                let whole = send(&double, api, &question(api)).await;
                let mut body = question(api);
                body["stream"] = json!(true);
                if api == Api::OpenAiChat {
                    body["stream_options"] = json!({"include_usage": true});
                }
                (whole.json(), send(&double, api, &body).await)
            });
            let (whole, streamed) = (of_whole(api, &whole), of_stream(api, &streamed.body));
            // A second request may read from the cache, so that only the parts are compared.
            prop_assert_eq!(without_ids(&streamed["parts"]), without_ids(&whole["parts"]));
        }
    }
}
