//! Faults on demand.

use std::time::{Duration, Instant};

use interleaf_doubles::{Answer, Api, Asked, Double, End, Fault, Finish, Planned, Settings};
use serde_json::{Value, json};

use crate::client::{Got, send, send_with};
use crate::exchanges::{question, settings};

/// What an API says, and of which kind it is.
fn said(api: Api, got: &Got) -> (String, String) {
    let body = got.json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match api {
        Api::OpenAiChat | Api::OpenAiResponses => {
            let error = &body["error"];
            (text(&error["code"]), text(&error["message"]))
        }
        Api::Anthropic => (text(&body["error"]["type"]), text(&body["error"]["message"])),
        Api::Gemini => (text(&body["error"]["status"]), text(&body["error"]["message"])),
        Api::Bedrock => {
            let kind = got.headers.lines().find_map(|line| line.strip_prefix("x-amzn-errortype: "));
            (kind.unwrap_or_default().to_owned(), text(&body["message"]))
        }
    }
}

fn streamed(api: Api) -> Value {
    let mut body = question(api);
    body["stream"] = json!(true);
    body
}

#[tokio::test]
async fn each_status_comes_in_the_apis_own_shape() {
    let mut table = String::new();
    for api in Api::ALL {
        let double = Double::start(settings()).await.unwrap();
        for fault in ["408", "429", "429:retry-after=7", "500", "529", "overflow"] {
            let header = [("x-double-fault", fault)];
            let got = send_with(&double, api, &question(api), &header).await;
            let retry = got.headers.lines().find(|line| line.starts_with("retry-after"));
            let (kind, message) = said(api, &got);
            let retry = retry.map(|line| format!(" [{line}]")).unwrap_or_default();
            table += &format!("{api} {fault}: {} {kind}{retry} {message}\n", got.status);
        }
    }
    insta::assert_snapshot!(table);
}

#[tokio::test]
async fn a_plan_says_which_request_fails() {
    let planned: Planned = "2=500".parse().unwrap();
    let mut settings = settings();
    settings.faults.push(planned);
    let double = Double::start(settings).await.unwrap();
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(send(&double, Api::OpenAiChat, &question(Api::OpenAiChat)).await.status);
    }
    assert_eq!(statuses, [200, 500, 200]);
    assert_eq!(double.requests()[1].fault, Some(Fault::status(500)));
}

#[tokio::test]
async fn a_cut_ends_the_connection_after_exactly_so_many_bytes() {
    for api in Api::ALL {
        for body in [question(api), streamed(api)] {
            let double = Double::start(settings()).await.unwrap();
            let whole = send(&double, api, &body).await.body;
            for at in [0, 1, 33, whole.len() / 2, whole.len() - 1] {
                let fault = format!("cut:at={at}");
                let got = send_with(&double, api, &body, &[("x-double-fault", &fault)]).await;
                assert!(!got.is_whole, "{api} {at}");
                assert_eq!(got.body.len(), at, "{api}");
            }
            let ended = double.ended(6).await;
            assert_eq!(ended[0].end, End::Whole);
            assert!(ended[1..].iter().all(|exchange| exchange.end == End::Cut), "{api}");
        }
    }
}

#[tokio::test]
async fn a_slow_or_stalled_answer_still_comes_whole() {
    let double = Double::start(settings()).await.unwrap();
    let body = streamed(Api::Anthropic);
    for fault in ["slow:ms=30", "stall:at=50:ms=30"] {
        let began = Instant::now();
        let got = send_with(&double, Api::Anthropic, &body, &[("x-double-fault", fault)]).await;
        assert!(got.is_whole, "{fault}");
        assert!(got.text().contains("message_stop"), "{fault}");
        assert!(began.elapsed() >= Duration::from_millis(30), "{fault}");
    }
}

#[tokio::test]
async fn a_client_that_leaves_is_noticed() {
    let fault = Fault::Stall { at: 60, lasts: Duration::from_secs(600) };
    let settings = settings().with_fault(1, fault);
    let double = Double::start(settings).await.unwrap();
    let body = streamed(Api::OpenAiChat).to_string();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: d\r\nauthorization: Bearer k\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let mut socket = tokio::net::TcpStream::connect(double.address()).await.unwrap();
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut first = [0; 100];
        socket.read_exact(&mut first).await.unwrap();
    }
    let ended = tokio::time::timeout(Duration::from_secs(60), double.ended(1)).await.unwrap();
    assert_eq!((ended[0].end, ended[0].sent), (End::Left, 60));
}

#[tokio::test]
async fn a_client_that_leaves_before_a_slow_answer_begins_is_noticed() {
    use tokio::io::AsyncWriteExt as _;
    let settings = settings().with_fault(1, Fault::Slow(Duration::from_secs(600)));
    let double = Double::start(settings).await.unwrap();
    let body = question(Api::OpenAiChat).to_string();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: d\r\nauthorization: Bearer k\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut socket = tokio::net::TcpStream::connect(double.address()).await.unwrap();
    socket.write_all(head.as_bytes()).await.unwrap();
    drop(socket);
    let ended = tokio::time::timeout(Duration::from_secs(60), double.ended(1)).await.unwrap();
    let line = "1 POST /v1/chat/completions the client left before the answer";
    assert_eq!(ended[0].to_string(), line);
}

#[tokio::test]
async fn a_malformed_event_and_a_wrong_content_type_come_with_a_status_of_200() {
    for api in Api::ALL {
        let double = Double::start(settings()).await.unwrap();
        let broken = [("x-double-fault", "malformed:at=1")];
        let got = send_with(&double, api, &question(api), &broken).await;
        assert_eq!(got.status, 200);
        assert!(serde_json::from_slice::<Value>(&got.body).is_err(), "{api}");
        let got = send_with(&double, api, &streamed(api), &broken).await;
        assert_eq!(got.status, 200);
        let data = got.text().replace("data: [DONE]", "");
        let mut lines = data.lines().filter_map(|line| line.strip_prefix("data: "));
        let is_broken = lines.any(|line| serde_json::from_str::<Value>(line).is_err());
        assert!(is_broken || got.text().contains("{\"this is not"), "{api}");
        let html = [("x-double-fault", "content-type")];
        let got = send_with(&double, api, &streamed(api), &html).await;
        assert_eq!(got.status, 200);
        assert!(got.headers.contains("content-type: text/html"), "{api}");
    }
}

#[tokio::test]
async fn a_truncated_call_ends_by_length_and_its_arguments_are_cut() {
    // A call of two whole arguments, of which half is left.
    let brain = |_: &Asked| Answer::new().with_call("ls", &json!({"path": "src", "all": true}));
    for api in Api::ALL {
        let settings = settings().with_brain(brain);
        let double = Double::start(settings.with_fault(1, Fault::Truncate)).await.unwrap();
        let body = send(&double, api, &question(api)).await.json();
        let ends = match api {
            Api::OpenAiChat => body["choices"][0]["finish_reason"] == "length",
            Api::OpenAiResponses => {
                body["status"] == "incomplete"
                    && body["incomplete_details"]["reason"] == "max_output_tokens"
            }
            Api::Anthropic => body["stop_reason"] == "max_tokens",
            Api::Gemini => body["candidates"][0]["finishReason"] == "MAX_TOKENS",
            Api::Bedrock => body["stopReason"] == "max_tokens",
        };
        assert!(ends, "{api}: {body}");
        // Where arguments are text, it is no JSON; where they are an object, one is missing.
        let arguments = match api {
            Api::OpenAiChat => {
                &body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
            }
            Api::OpenAiResponses => &body["output"][0]["arguments"],
            Api::Anthropic => &body["content"][0]["input"],
            Api::Gemini => &body["candidates"][0]["content"]["parts"][0]["functionCall"],
            Api::Bedrock => &body["output"]["message"]["content"][0]["toolUse"]["input"],
        };
        let is_cut = match arguments {
            Value::String(text) => serde_json::from_str::<Value>(text).is_err(),
            Value::Object(fields) => fields.len() < 2,
            other => api == Api::Gemini && other.is_null(),
        };
        assert!(is_cut, "{api}: {arguments} in {body}");
        let answer = double.requests()[0].answer.clone().unwrap();
        assert_eq!(answer.finish(), Finish::Length);
    }
}

#[tokio::test]
async fn an_answer_has_no_more_tokens_than_it_may() {
    for (api, most) in [(Api::OpenAiChat, 3), (Api::OpenAiChat, 20), (Api::OpenAiChat, 26)] {
        let double = Double::start(settings()).await.unwrap();
        let mut body = question(api);
        body["max_tokens"] = json!(most);
        let got = send(&double, api, &body).await.json();
        assert_eq!(got["choices"][0]["finish_reason"], "length");
        let made = got["usage"]["completion_tokens"].as_u64().unwrap();
        assert!((1..=most).contains(&made) && made * 2 >= most, "{made} of {most}");
    }
}

#[tokio::test]
async fn a_prompt_that_does_not_fit_is_refused_with_its_figures() {
    let double = Double::start(settings().with_window(40)).await.unwrap();
    let got = send(&double, Api::Anthropic, &question(Api::Anthropic)).await;
    assert_eq!(got.json()["error"]["message"], "prompt is too long: 59 tokens > 40 maximum");
}

#[test]
fn a_fault_that_nobody_knows_is_refused_with_the_list() {
    for bad in ["", "boom", "200", "cut:at=x", "slow:at=1", "3=", "429:retry=1"] {
        let error = bad.parse::<Planned>().unwrap_err();
        assert!(error.to_string().contains("a fault is one of"), "{bad}");
    }
    let stall: Fault = "stall:at=3:ms=9".parse().unwrap();
    assert_eq!(stall, Fault::Stall { at: 3, lasts: Duration::from_millis(9) });
}

#[tokio::test]
async fn a_missing_key_and_a_wrong_one_are_refused_as_the_api_does() {
    let mut table = String::new();
    for api in Api::ALL {
        let double = Double::start(Settings::new().with_key("secret")).await.unwrap();
        let mut body = question(api);
        let model = body["model"].as_str().unwrap().to_owned();
        if matches!(api, Api::Gemini | Api::Bedrock) {
            body.as_object_mut().unwrap().shift_remove("model");
        }
        let path = crate::client::path(api, &model, false);
        let missing = crate::client::post(&double, &path, &[], &body.to_string()).await;
        let wrong = send(&double, api, &question(api)).await;
        for (what, got) in [("missing", missing), ("wrong", wrong)] {
            let (kind, message) = said(api, &got);
            table += &format!("{api} {what}: {} {kind} {message}\n", got.status);
        }
        // Nothing that is kept shows a key.
        assert!(!format!("{:?}", double.requests()).contains("Bearer k"));
        assert!(!format!("{double:?}").contains("secret"));
    }
    insta::assert_snapshot!(table);
}

#[tokio::test]
async fn below_local_no_key_is_asked_for_unless_one_is_demanded() {
    let body = question(Api::OpenAiChat).to_string();
    let path = "/local/v1/chat/completions";
    for (settings, status) in [(Settings::new(), 200), (Settings::new().with_key("secret"), 401)] {
        let double = Double::start(settings).await.unwrap();
        let got = crate::client::post(&double, path, &[], &body).await;
        assert_eq!(got.status, status);
        let elsewhere = crate::client::post(&double, &path[6..], &[], &body).await;
        assert_eq!(elsewhere.status, 401);
    }
}

#[test]
fn requests_are_counted_from_1() {
    assert_eq!("1=429".parse::<Planned>().unwrap().nth, Some(1));
    let error = "0=429".parse::<Planned>().unwrap_err();
    assert_eq!(error.to_string(), "0=429: requests are counted from 1");
}

#[tokio::test]
async fn a_status_meets_every_kind_of_request_and_a_cut_answer_waits_for_an_answer() {
    use crate::client::{get, headers};
    let api = Api::OpenAiChat;
    let double = Double::start(settings()).await.unwrap();
    double.fail_next("429".parse().unwrap());
    assert_eq!(get(&double, "/v1/models", &headers(api)).await.status, 429);
    double.fail_next("overflow".parse().unwrap());
    assert_eq!(get(&double, "/v1/models", &headers(api)).await.status, 200);
    assert_eq!(send(&double, api, &question(api)).await.status, 400);
    assert_eq!(send(&double, api, &question(api)).await.status, 200);
    let met: Vec<bool> = double.requests().iter().map(|it| it.fault.is_some()).collect();
    assert_eq!(met, [true, false, true, false]);
}
