//! The prompt cache: a session is held against an oracle that remembers every prompt whole.

use std::time::Duration;

use interleaf_doubles::{Answer, Api, Asked, Clock, Double, Settings, Usage, count};
use serde_json::{Value, json};

use crate::client::{get, post, send, send_with};

const MINUTE: Duration = Duration::from_secs(60);

fn brief(_: &Asked) -> Answer {
    Answer::text("Yes.")
}

/// A text of so many tokens: a word each.
fn words(n: usize, word: &str) -> String {
    format!(" {word}").repeat(n)
}

/// The messages of a session after some turns; the system text has 1,500 tokens.
fn session(turns: usize) -> Vec<(bool, String)> {
    let mut said = Vec::new();
    for turn in 0..turns {
        said.push((true, format!("question {turn}{}", words(50 + turn * 7, "lamp"))));
        if turn + 1 < turns {
            said.push((false, format!("answer {turn}{}", words(30, "light"))));
        }
    }
    said
}

async fn usage(double: &Double) -> Usage {
    double.ended(1).await.last().unwrap().usage.unwrap()
}

/// What every vendor with a plain prefix would read, from the texts alone: the longest common
/// beginning with any earlier prompt, where a prompt is its words and borders.
fn common(earlier: &[Vec<String>], now: &[String]) -> usize {
    let shared = |before: &Vec<String>| before.iter().zip(now).take_while(|(a, b)| a == b).count();
    earlier.iter().map(shared).max().unwrap_or_default()
}

/// A prompt as single tokens, as the double counts them: four borders for each message.
fn tokens(system: &str, said: &[(bool, String)]) -> Vec<String> {
    let mut all = Vec::new();
    let mut message = |role: &str, text: &str| {
        all.extend(std::iter::repeat_n(format!("<{role}>"), 4));
        let encoding = tiktoken::get_encoding("o200k_base").unwrap();
        all.extend(encoding.encode(text).iter().map(ToString::to_string));
    };
    message("system", system);
    for (is_user, text) in said {
        message(if *is_user { "user" } else { "assistant" }, text);
    }
    all
}

fn chat(system: &str, said: &[(bool, String)]) -> Value {
    let role = |is_user: bool| if is_user { "user" } else { "assistant" };
    let mut messages = vec![json!({"role": "system", "content": system})];
    messages.extend(said.iter().map(|(u, text)| json!({"role": role(*u), "content": text})));
    json!({"model": "gpt-4o", "messages": messages})
}

fn gemini(system: &str, said: &[(bool, String)]) -> Value {
    let role = |is_user: bool| if is_user { "user" } else { "model" };
    let contents: Vec<Value> =
        said.iter().map(|(u, text)| json!({"role": role(*u), "parts": [{"text": text}]})).collect();
    json!({"model": "gemini-2.5-pro", "systemInstruction": {"parts": [{"text": system}]}, "contents": contents})
}

#[tokio::test]
async fn twenty_requests_read_what_a_brute_force_oracle_counts() {
    for (api, step, least) in [(Api::OpenAiChat, 128, 1_024), (Api::Gemini, 1, 2_048)] {
        let settings = Settings::new().with_brain(brief).with_clock(Clock::at(1_000));
        let double = Double::start(settings).await.unwrap();
        let (mut earlier, mut n_read) = (Vec::new(), 0);
        for turn in 1..=20 {
            // The system text changes once on the way.
            let system = words(1_500, if turn < 12 { "tower" } else { "harbour" });
            let said = session(turn);
            let body =
                if api == Api::Gemini { gemini(&system, &said) } else { chat(&system, &said) };
            let got = send(&double, api, &body).await;
            assert_eq!(got.status, 200, "{}", got.text());
            let now = tokens(&system, &said);
            let shared = common(&earlier, &now) / step * step;
            let read = if shared >= least { shared } else { 0 };
            let used = double.requests().last().unwrap().usage.unwrap();
            assert_eq!(used.input(), now.len() as u64, "{api} {turn}");
            assert_eq!(used.read, read as u64, "{api} {turn}");
            let told = match api {
                Api::Gemini => got.json()["usageMetadata"]["cachedContentTokenCount"].as_u64(),
                _ => got.json()["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64(),
            };
            assert_eq!(told.unwrap_or_default(), used.read);
            n_read += usize::from(read > 0);
            earlier.push(now);
        }
        assert!(n_read >= 12, "{api}: {n_read}");
    }
}

/// A session on Anthropic or Bedrock, with a mark on the system text and on the last message.
fn marked(api: Api, system: &str, said: &[(bool, String)]) -> Value {
    let role = |is_user: bool| if is_user { "user" } else { "assistant" };
    let last = said.len() - 1;
    let mark = json!({"type": "ephemeral"});
    if api == Api::Anthropic {
        let message = |(i, (u, text)): (usize, &(bool, String))| {
            let mut block = json!({"type": "text", "text": text});
            if i == last {
                block["cache_control"] = mark.clone();
            }
            json!({"role": role(*u), "content": [block]})
        };
        let messages: Vec<Value> = said.iter().enumerate().map(message).collect();
        let system = json!([{"type": "text", "text": system, "cache_control": mark}]);
        return json!({"model": "claude-sonnet-4-5", "max_tokens": 100, "system": system, "messages": messages});
    }
    let point = json!({"cachePoint": {"type": "default"}});
    let message = |(i, (u, text)): (usize, &(bool, String))| {
        let mut content = vec![json!({"text": text})];
        content.extend((i == last).then(|| point.clone()));
        json!({"role": role(*u), "content": content})
    };
    let messages: Vec<Value> = said.iter().enumerate().map(message).collect();
    let model = "anthropic.claude-sonnet-4-5-20250929-v1:0";
    json!({"model": model, "system": [{"text": system}, point], "messages": messages})
}

#[tokio::test]
async fn marks_are_found_again_up_to_twenty_blocks_back_and_no_further() {
    for api in [Api::Anthropic, Api::Bedrock] {
        let settings = Settings::new().with_brain(brief).with_clock(Clock::at(1_000));
        let double = Double::start(settings).await.unwrap();
        let system = words(1_500, "tower");
        let mut written: Vec<Vec<String>> = Vec::new();
        // The last steps add 18, 20 and 22 blocks.
        for turns in [1, 2, 3, 4, 5, 14, 24, 35] {
            let said = session(turns);
            let got = send(&double, api, &marked(api, &system, &said)).await;
            assert_eq!(got.status, 200, "{}", got.text());
            // Blocks end where messages do. Each mark looks at its own block and 19 before it.
            let n_blocks = said.len() + 1;
            let end = |block: usize| tokens(&system, &said[..block]);
            let seen = |mark: usize| (mark.saturating_sub(19)..=mark).rev();
            let found = |mark: usize| seen(mark).map(end).find(|prefix| written.contains(prefix));
            let read = [0, n_blocks - 1].into_iter().filter_map(found).map(|p| p.len()).max();
            let used = double.requests().last().unwrap().usage.unwrap();
            let all = end(n_blocks - 1).len();
            assert_eq!(used.read, read.unwrap_or_default() as u64, "{api} {turns}");
            assert_eq!(used.written, (all - read.unwrap_or_default()) as u64, "{api} {turns}");
            assert_eq!(used.uncached, 0);
            written.extend([end(0), end(n_blocks - 1)]);
        }
    }
}

#[tokio::test]
async fn a_cache_belongs_to_a_key_a_model_and_a_cache_key_and_dies_in_time() {
    let clock = Clock::at(1_000);
    let settings = Settings::new().with_brain(brief).with_clock(clock.clone());
    let double = Double::start(settings).await.unwrap();
    let (system, said) = (words(1_500, "tower"), session(1));
    let body = chat(&system, &said);
    let read = async |body: &Value, more: &[(&str, &str)]| {
        let got = send_with(&double, Api::OpenAiChat, body, more).await.json();
        got["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap()
    };
    assert_eq!(read(&body, &[]).await, 0);
    let first = read(&body, &[]).await;
    assert!(first > 1_400 && first.is_multiple_of(128));
    let mut other = body.clone();
    other["model"] = json!("gpt-4.1");
    assert_eq!(read(&other, &[]).await, 0, "another model");
    let mut other = body.clone();
    other["prompt_cache_key"] = json!("b");
    assert_eq!(read(&other, &[]).await, 0, "another cache key");
    let text = body.to_string();
    let others = [("authorization", "Bearer other")];
    let got = post(&double, "/v1/chat/completions", &others, &text).await.json();
    assert_eq!(got["usage"]["prompt_tokens_details"]["cached_tokens"], 0, "another client");
    clock.advance(9 * MINUTE);
    assert_eq!(read(&body, &[]).await, first, "still warm");
    clock.advance(9 * MINUTE);
    assert_eq!(read(&body, &[]).await, first, "kept warm by the read");
    clock.advance(10 * MINUTE);
    assert_eq!(read(&body, &[]).await, 0, "cold");
}

#[tokio::test]
async fn an_hour_is_written_as_an_hour_and_outlives_five_minutes() {
    let clock = Clock::at(1_000);
    let settings = Settings::new().with_brain(brief).with_clock(clock.clone());
    let double = Double::start(settings).await.unwrap();
    let mut body = marked(Api::Anthropic, &words(1_500, "tower"), &session(1));
    body["system"][0]["cache_control"]["ttl"] = json!("1h");
    let first = send(&double, Api::Anthropic, &body).await.json()["usage"].clone();
    let hour = first["cache_creation"]["ephemeral_1h_input_tokens"].as_u64().unwrap();
    assert!(
        hour > 1_500 && first["cache_creation"]["ephemeral_5m_input_tokens"].as_u64() > Some(0)
    );
    clock.advance(6 * MINUTE);
    let later = send(&double, Api::Anthropic, &body).await.json()["usage"].clone();
    assert_eq!(later["cache_read_input_tokens"].as_u64(), Some(hour));
    clock.advance(61 * MINUTE);
    let cold = send(&double, Api::Anthropic, &body).await.json()["usage"].clone();
    assert_eq!(cold["cache_read_input_tokens"], 0);
    assert_eq!(usage(&double).await.written_hour, hour);
}

#[tokio::test]
async fn another_choice_or_thinking_loses_the_turns_and_keeps_the_system_text() {
    let double = Double::start(Settings::new().with_brain(brief)).await.unwrap();
    let mut body = marked(Api::Anthropic, &words(1_500, "tower"), &session(3));
    body["max_tokens"] = json!(4_000);
    send(&double, Api::Anthropic, &body).await;
    body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    let used = send(&double, Api::Anthropic, &body).await.json()["usage"].clone();
    let read = used["cache_read_input_tokens"].as_u64().unwrap();
    assert!((1_500..1_600).contains(&read), "{used}");
}

#[tokio::test]
async fn a_stored_response_is_given_back_and_forgotten_on_demand() {
    let double = Double::start(Settings::new().with_brain(brief)).await.unwrap();
    let body = json!({"model": "gpt-4o", "input": "Is the lamp lit?"});
    let first = send(&double, Api::OpenAiResponses, &body).await.json();
    let path = format!("/v1/responses/{}", first["id"].as_str().unwrap());
    let key = [("authorization", "Bearer k")];
    assert_eq!(get(&double, &path, &key).await.json(), first);
    let next = json!({"model": "gpt-4o", "input": "And now?", "previous_response_id": first["id"]});
    send(&double, Api::OpenAiResponses, &next).await;
    let asked = double.requests().last().unwrap().asked.clone().unwrap();
    let texts: Vec<&str> = asked.texts().collect();
    assert_eq!(texts, ["Is the lamp lit?", "Yes.", "And now?"]);
    double.forget();
    let got = send(&double, Api::OpenAiResponses, &next).await;
    assert_eq!((got.status, &got.json()["error"]["param"]), (400, &json!("previous_response_id")));
    let mut unstored = body;
    unstored["store"] = json!(false);
    let answer = send(&double, Api::OpenAiResponses, &unstored).await.json();
    let path = format!("/v1/responses/{}", answer["id"].as_str().unwrap());
    assert_eq!(get(&double, &path, &key).await.status, 404);
}

#[tokio::test]
async fn what_was_sent_is_counted_with_its_spaces() {
    let double = Double::start(Settings::new().with_brain(brief)).await.unwrap();
    let body = |space: &str| {
        let schema = format!(r#"{{"type":{space}"object","properties":{space}{{}}}}"#);
        format!(
            r#"{{"model":"claude-sonnet-4-5","messages":[{{"role":"user","content":"Look."}},{{"role":"assistant","content":[{{"type":"tool_use","id":"c","name":"ls","input":{{"a":{space}1}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c","content":"src"}}]}}],"tools":[{{"name":"ls","input_schema":{schema}}}]}}"#
        )
    };
    let mut counts = Vec::new();
    for space in ["", " \n\n "] {
        let headers = [("x-api-key", "k"), ("anthropic-version", "2023-06-01")];
        let got = post(&double, "/v1/messages/count_tokens", &headers, &body(space)).await.json();
        counts.push(got["input_tokens"].as_u64().unwrap());
    }
    let count = interleaf_doubles::count;
    let extra = |space: &str| {
        count(&format!(r#"{{"a":{space}1}}"#))
            + count(&format!(r#"{{"type":{space}"object","properties":{space}{{}}}}"#))
    };
    assert_eq!(counts[1] - counts[0], extra(" \n\n ") - extra(""));
    assert!(counts[1] > counts[0]);
}

/// GPT-5.6 finds again what ends at a breakpoint: the newest input is one by itself.
#[tokio::test]
async fn gpt_5_6_reads_up_to_a_breakpoint_and_nothing_between_two() {
    for api in [Api::OpenAiChat, Api::OpenAiResponses] {
        let (list, kind) = match api {
            Api::OpenAiChat => ("messages", "text"),
            _ => ("input", "input_text"),
        };
        let clock = Clock::at(1_000);
        let settings = Settings::new().with_brain(brief).with_clock(clock.clone());
        let double = Double::start(settings).await.unwrap();
        let rules = |is_marked: bool| {
            let mut part = json!({"type": kind, "text": words(1_500, "tower")});
            if is_marked {
                part["prompt_cache_breakpoint"] = json!({"mode": "explicit"});
            }
            json!({"role": "developer", "content": [part]})
        };
        let ask = |word: &str| json!({"role": "user", "content": format!("Is the {word} well?")});
        let said = json!({"role": "assistant", "content": "Yes."});
        let body = |messages: Value, mode: &str| {
            let options = json!({ "mode": mode });
            json!({"model": "gpt-5.6", (list): messages, "prompt_cache_options": options})
        };
        // The rules, the mode, and what is read of the prompt: 0, the rules, or up to the
        // question before.
        let (head, question) = (1_504, 4 + count("Is the lamp well?"));
        let first = json!([rules(false), ask("lamp")]);
        let next = json!([rules(false), ask("lamp"), said, ask("lens")]);
        let other = json!([rules(false), ask("wick")]);
        let marked = json!([rules(true), ask("oil")]);
        let again = json!([rules(true), ask("bell")]);
        for (messages, mode, read) in [
            (&first, "implicit", 0),
            (&next, "implicit", head + question),
            // Nothing was written at the end of the rules.
            (&other, "implicit", 0),
            (&marked, "explicit", 0),
            (&again, "explicit", head),
            // Without a breakpoint nothing is looked for.
            (&next, "explicit", 0),
        ] {
            let got = send(&double, api, &body(messages.clone(), mode)).await;
            assert_eq!(got.status, 200, "{}", got.text());
            let used = double.requests().last().unwrap().usage.unwrap();
            assert_eq!(used.read, read, "{api} {mode} {messages}");
        }
        // Half an hour later it is gone.
        clock.advance(31 * MINUTE);
        send(&double, api, &body(again, "explicit")).await;
        let used = double.requests().last().unwrap().usage.unwrap();
        assert_eq!((used.read, used.written), (0, head), "{api}");
    }
}
