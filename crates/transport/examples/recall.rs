//! Does a model recall what the context says? It is asked at the end of a session for a word
//! of its TODO list, under each placement rule.
//!
//! ```sh
//! python crates/transport/tests/llama/serve.py      # prints an address; ends with its input
//! cargo run --release -p interleaf-transport --example recall -- http://127.0.0.1:PORT/v1
//! ```
//!
//! Each trial is a session of seven tool rounds, about 1,250 tokens. A request is recorded after
//! every round, so that rules that remember have something to remember. Small models know no
//! tools: calls and results are sent to them as plain text.

use interleaf::assemble::Recipe;
use interleaf::model::{Message, ToolCall};
use interleaf::{Next, Session, Target, store};
use interleaf_transport::{Call, Transport};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const RULES: [&str; 8] = [
    "after_tool_result(3)",
    "from_end(5)",
    "before_assistant(3)",
    "after_system",
    "tail",
    "sticky",
    "delta",
    "auto",
];

const ROUNDS: usize = 7;

const CODE_WORDS: &str = "lantern harbor copper violet thunder walnut saddle marble falcon ginger \
    ribbon cactus anchor velvet pepper meadow";

const NOUNS: &str = "session request message token context cache block prefix buffer writer reader \
    parser handler index cursor queue worker budget snapshot history tool result folder note";

fn pick<'a>(random: &mut fastrand::Rng, words: &'a str) -> &'a str {
    let words: Vec<&str> = words.split_whitespace().collect();
    words[random.usize(..words.len())]
}

/// A file of sentences that say nothing.
fn filler(random: &mut fastrand::Rng) -> String {
    let mut sentence = || {
        let [a, b, c] = [(); 3].map(|()| pick(random, NOUNS));
        format!("the {a} of the {b} is in the {c};")
    };
    (0..14).map(|_| sentence()).collect::<Vec<_>>().join(" ")
}

/// The last request of a session under a rule, as texts.
async fn last_request(trial: u64, rule: &str) -> Outcome<(String, Vec<Value>)> {
    let random = &mut fastrand::Rng::with_seed(trial);
    let word = pick(random, CODE_WORDS).to_owned();
    let target = Target::new("openai-chat", "a-small-model")?.with_key("none");
    let recipe = Recipe::new().with_system("You are a helpful assistant.").with_rule(rule.parse()?);
    let mut session = Session::create(store::open("memory:").await?, "").await?;
    let remember = format!("Remember: the code word of the release is {word}.");
    session.todo().add(&remember).await?;
    session.todo().add("Report to the user.").await?;
    session.append(Message::user("Please look through the project and report.")).await?;
    for round in 1..=ROUNDS {
        let arguments = json!({"path": format!("file{round}.txt")}).to_string();
        let call = ToolCall::new(&format!("c{round}"), "read_file", &arguments)?;
        let result = call.result(&filler(random));
        session.append(Message::assistant_parts([call.into()])?).await?;
        session.append(result).await?;
        session.record(&recipe, &target).await?;
    }
    session.append(Message::assistant("I have read the files.")).await?;
    let question = "What is the code word of the release? Answer with the code word only.";
    session.append(Message::user(question)).await?;
    let Next::Send(request) = session.record(&recipe, &target).await? else {
        return Err("the session waits".into());
    };
    let body: Value = serde_json::from_slice(&request.body.to_bytes())?;
    let messages = body["messages"].as_array().ok_or("a body without messages")?;
    Ok((word, messages.iter().map(in_words).collect()))
}

/// A message in words alone.
fn in_words(message: &Value) -> Value {
    let text = message["content"].as_str().unwrap_or_default();
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let calls = calls.map(|call| format!("read_file({})", call["function"]["arguments"]));
    match message["role"].as_str() {
        Some("tool") => json!({"role": "user", "content": format!("Result: {text}")}),
        role => json!({"role": role, "content": text.to_owned() + &calls.collect::<String>()}),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(url) = arguments.next() else {
        println!("usage: recall URL [TRIALS]; the head of this file says what it does");
        return Ok(());
    };
    let trials: u64 = arguments.next().map_or(Ok(40), |n| n.parse())?;
    let transport = Transport::new()?;
    let mut target = Target::new("llama-cpp", "m")?;
    target.vendor = target.vendor.base_url(url.as_str());
    let mut recalled = [0; RULES.len()];
    for trial in 0..trials {
        for (rule, n) in RULES.iter().zip(&mut recalled) {
            let (word, messages) = last_request(trial, rule).await?;
            let body = json!({"messages": messages, "max_tokens": 16, "temperature": 0});
            let answer = transport.send(&Call::new(target.clone(), body.to_string())).await?;
            *n += u32::from(answer.reply.message.text().to_lowercase().contains(&word));
        }
        let told: Vec<String> =
            RULES.iter().zip(recalled).map(|(rule, n)| format!("{rule} {n}")).collect();
        println!("of {}: {}", trial + 1, told.join(", "));
    }
    Ok(())
}
