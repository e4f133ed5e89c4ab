//! A real server with a real model: llama.cpp's own, by `tests/llama/serve.py`.
//!
//! It runs where the packages are: `INTERLEAF_LLAMA_PYTHON` names the Python of an environment
//! that has them, as `.ci/run` makes one. Else `python3` is tried, and the test says that it is
//! skipped if that has them not.

use std::process::Stdio;

use interleaf::assemble::Recipe;
use interleaf::cache::{Cache, Prompt, Rules, Stop};
use interleaf::model::{Message, PartRef};
use interleaf::wire::{Auth, Family, Vendor, decode_request};
use interleaf::{Session, Target, Verdict, store};
use interleaf_transport::{Answer, Transport};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, Command};

/// What names the Python that has the packages.
const PYTHON: &str = "INTERLEAF_LLAMA_PYTHON";

/// How many requests a session has.
const REQUESTS: usize = 20;

/// The model, as the session calls it.
const MODEL: &str = "smollm2-135m-instruct";

/// The server; it ends when its standard input does.
struct Llama {
    address: String,
    _input: ChildStdin,
    _process: Child,
}

impl Llama {
    /// The server, or `None` if this machine does not have it.
    async fn start() -> Option<Self> {
        let named = std::env::var(PYTHON).ok();
        let mut command = Command::new(named.as_deref().unwrap_or("python3"));
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/llama/serve.py"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let why = match command.kill_on_drop(true).spawn() {
            Ok(mut process) => {
                let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
                let said = lines.next_line().await.unwrap().unwrap_or_default();
                if let Some(address) = said.strip_prefix("http://") {
                    let _input = process.stdin.take().unwrap();
                    return Some(Self { address: address.to_owned(), _input, _process: process });
                }
                said
            }
            Err(error) => error.to_string(),
        };
        assert!(named.is_none(), "{PYTHON} names a Python without the packages: {why}");
        eprintln!("skipped: no llama.cpp with a model here; {PYTHON} names a Python ({why})");
        None
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let (body, host) = (body.to_string(), &self.address);
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{path}: {answer}"))
    }

    /// The tokens of a text, by the model's own vocabulary.
    async fn tokens(&self, text: &str) -> Vec<u64> {
        let asked = json!({"content": text, "parse_special": true});
        let answer = self.post("/tokenize", &asked).await;
        answer["tokens"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
    }

    /// What the model sees of a body, by its own template.
    async fn prompt(&self, family: Family, body: &str) -> String {
        let request = decode_request(family, body).unwrap();
        let messages: Vec<Value> = request.messages.iter().map(chat).collect();
        let answer = self.post("/apply-template", &json!({"messages": messages})).await;
        answer["prompt"].as_str().unwrap().to_owned()
    }

    /// A target whose API this server has, too.
    fn target(&self, vendor: &str) -> Target {
        let base = match vendor {
            "anthropic" => format!("http://{}", self.address),
            _ => format!("http://{}/v1", self.address),
        };
        let row = Vendor::named(vendor).unwrap().clone().base_url(base.as_str()).auth(Auth::None);
        let mut target = Target::of(row, MODEL);
        target.options = target.options.max_tokens(8).temperature(0.0);
        target.cache_rules = Rules::named("llama.cpp");
        target
    }
}

/// A message as the server's template takes it.
fn chat(message: &Message) -> Value {
    let text = |part: PartRef<'_>| match part {
        PartRef::Text(text) => json!({"type": "text", "text": *text.text}),
        other => panic!("not a text: {other:?}"),
    };
    let parts: Vec<Value> = message.parts().map(text).collect();
    json!({"role": message.role().to_string(), "content": parts})
}

/// A prompt whose pieces are tokens.
fn pieces(tokens: &[u64]) -> Prompt {
    let mut prompt = Prompt::new();
    for token in tokens {
        prompt.push(*token, 1, Stop::Inside);
    }
    prompt
}

/// Asks, whole or streamed by turns.
async fn ask(session: &mut Session, recipe: &Recipe, target: &Target, n: usize) -> Answer {
    let transport = Transport::new().unwrap();
    if n.is_multiple_of(2) {
        return transport.ask(session, recipe, target).await.unwrap();
    }
    let targets = std::slice::from_ref(target);
    let asking = transport.ask_streaming(session, recipe, targets).await.unwrap();
    asking.finish().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_reads_from_its_cache_what_our_rules_say_on_three_apis() {
    let Some(llama) = Llama::start().await else { return };
    let rows = [
        ("llama-cpp", "after_tool_result(3)"),
        ("openai-responses", "delta"),
        ("anthropic", "auto"),
    ];
    for (vendor, rule) in rows {
        let target = llama.target(vendor);
        let recipe = Recipe::new()
            .with_system("You are a careful agent. Answer in a few words.")
            .with_rule(rule.parse().unwrap());
        let store = store::open("memory:").await.unwrap();
        let mut session = Session::create(store, "").await.unwrap();
        let mut cache = Cache::new(Rules::named("llama.cpp").unwrap());
        let (mut read, mut prompts, mut n_exact) = (0, 0, 0);
        for n in 0..REQUESTS {
            session.todo().add(&format!("look at file{n}.rs")).await.unwrap();
            let text = format!("Question {n}: which file comes next, and why?");
            session.append(Message::user(&text)).await.unwrap();
            let answer = ask(&mut session, &recipe, &target, n).await;

            let name = format!("{vendor}, {rule}, request {n}");
            let sent = session.previous_body(session.conversation(), None).await.unwrap();
            let prompt = llama.prompt(target.vendor.family, &sent.unwrap()).await;
            let expected = cache.request(&pieces(&llama.tokens(&prompt).await), 0);
            let usage = answer.reply.usage.unwrap();
            assert_eq!(usage.prompt, expected.prompt, "{name}: {prompt}");
            // What the session before left in the slot is not this one's.
            if n > 0 {
                assert_eq!(usage.cache_read, expected.read, "{name}: {prompt}");
            }
            // Before it was sent, it was told by the bytes; what the server has counted is exact.
            let impact = answer.impact.unwrap();
            if let Some(reported) = impact.reported {
                assert_eq!(impact.predicted(usage), Some(usage.cache_read), "{name}: {reported:?}");
                n_exact += 1;
            }
            let verdict = impact.verdict(usage).unwrap();
            let as_expected = [Verdict::AsPredicted, Verdict::OurMiss];
            assert!(n == 0 || as_expected.contains(&verdict), "{name}: {verdict:?}");
            let mut held = llama.tokens(&(prompt + &answer.reply.message.text())).await;
            // Nothing was computed with the last token that was made.
            held.truncate((usage.prompt + usage.completion - 1) as usize);
            cache.answered(&pieces(&held));
            read += usage.cache_read;
            prompts += usage.prompt;
        }
        eprintln!(
            "{vendor}, {rule}: {read} of {prompts} tokens were read from the cache, and {n_exact} \
             requests were predicted to the token before they were sent"
        );
    }
}
