//! Sessions of five shapes, to see what a budget does to each.

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, Extra, Message, MessageId, Parts, Status, Text,
    ToolCall, ToolName,
};

/// What a session mostly consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Questions and answers, no tools.
    Chat,
    /// One question, then step after step.
    LongRun,
    /// Results that fill pages.
    GiantResults,
    /// One question, then files written whole.
    GiantArguments,
    /// Steps of many calls at once.
    ParallelCalls,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 5] =
        [Self::Chat, Self::LongRun, Self::GiantResults, Self::GiantArguments, Self::ParallelCalls];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::LongRun => "one long run",
            Self::GiantResults => "giant results",
            Self::GiantArguments => "giant arguments",
            Self::ParallelCalls => "many parallel calls",
        }
    }

    /// The first `n` rounds of a session: what is said before each request. They are the
    /// same every time.
    pub fn rounds(self, n: usize) -> Vec<Vec<Message>> {
        self.sized_rounds(n, 100, 0)
    }

    /// The same with texts of other lengths, in percent of the usual ones, and in another order.
    pub fn sized_rounds(self, n: usize, percent: usize, offset: usize) -> Vec<Vec<Message>> {
        let mut teller = Teller { percent, ..Teller::default() };
        let mut rounds: Vec<Vec<Message>> = Vec::with_capacity(n);
        for round in (offset..).take(n) {
            let mut messages = match self {
                _ if round == offset => vec![teller.user(60)],
                Self::Chat => vec![teller.assistant(120 + round * 37 % 200), teller.user(40)],
                Self::LongRun => teller.step(&[(20, 60 + round * 53 % 300)]),
                Self::GiantResults => teller.step(&[(10, 1_500 + round * 211 % 6_000)]),
                Self::GiantArguments => teller.step(&[(900 + round * 97 % 1_000, 6)]),
                Self::ParallelCalls => {
                    let calls: Vec<(usize, usize)> =
                        (0..8 + round % 9).map(|call| (8, 20 + (round + call) * 31 % 90)).collect();
                    teller.step(&calls)
                }
            };
            let asks_again = match self {
                Self::GiantResults | Self::ParallelCalls => round % 6 == 5,
                Self::Chat | Self::LongRun | Self::GiantArguments => false,
            };
            if asks_again {
                messages.push(teller.assistant(30));
                messages.push(teller.user(20));
            }
            rounds.push(messages);
        }
        rounds
    }
}

/// Tells what is said, each text unlike the ones before it.
#[derive(Default)]
struct Teller {
    percent: usize,
    n_messages: usize,
    n_calls: usize,
    seed: usize,
}

impl Teller {
    fn user(&mut self, words: usize) -> Message {
        let text = self.words(words);
        self.named(Message::user(&text))
    }

    fn assistant(&mut self, words: usize) -> Message {
        let text = self.words(words);
        self.named(Message::assistant(&text))
    }

    /// A message with calls and the results that answer them, of the given lengths in words.
    fn step(&mut self, calls: &[(usize, usize)]) -> Vec<Message> {
        let mut parts = vec![AssistantPart::Text(Text::new(self.words(12)))];
        let mut results = Vec::new();
        for &(in_arguments, in_result) in calls {
            self.n_calls += 1;
            let Ok(id) = CallId::new(format!("call_{:05}", self.n_calls)) else { continue };
            let (path, text) = (self.n_calls % 97, self.words(in_arguments));
            let arguments = format!(r#"{{"path":"src/part_{path}.rs","text":"{text}"}}"#);
            results.push(Message::tool(id.clone(), Status::Ok, &self.words(in_result)));
            parts.push(AssistantPart::Call(ToolCall {
                id,
                name: ToolName::new("edit"),
                arguments: Arguments::from_text(&arguments),
                extra: Extra::NONE,
            }));
        }
        let opener = Parts::new(parts).map(Body::Assistant).map(Message::from);
        let step = opener.into_iter().chain(results);
        step.map(|message| self.named(message)).collect()
    }

    fn named(&mut self, message: Message) -> Message {
        self.n_messages += 1;
        message.with_id(MessageId::of_index(self.n_messages - 1))
    }

    fn words(&mut self, n: usize) -> String {
        const WORDS: [&str; 8] = ["the", "valve", "of", "pond", "three", "leaks", "at", "night"];
        self.seed += 1;
        let mut text = self.seed.to_string();
        for word in 1..(n * self.percent / 100) {
            text.push(' ');
            text.push_str(WORDS[(word * 5 + self.seed) % WORDS.len()]);
        }
        text
    }
}
