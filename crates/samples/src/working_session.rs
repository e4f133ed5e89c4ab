//! A session with context that changes: what an agent with a TODO list goes through.

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, Extra, Message, MessageId, Parts, Status, Text,
    ToolCall, ToolName,
};

/// What comes before a request, and what the context sources say then.
#[derive(Debug, Clone)]
pub struct Step {
    /// What was said since the request before.
    pub said: Vec<Message>,
    /// The role, the TODO list, the useful information and the folder notes.
    pub context: [String; 4],
}

/// How a session goes.
#[derive(Debug, Clone, Copy)]
pub struct Course {
    /// How many requests it has.
    pub n_requests: usize,
    /// The context changes with every request of this number; with zero, never.
    pub change_every: usize,
    /// The bytes of the shortest and of the longest tool result.
    pub results: (usize, usize),
}

/// The requests at which the user says something more.
const FOLLOW_UPS: [usize; 2] = [20, 42];

const WORDS: [&str; 24] = [
    "session", "request", "buffer", "writer", "index", "cursor", "queue", "worker", "budget",
    "parser", "handler", "folder", "token", "prefix", "block", "message", "reads", "moves",
    "keeps", "drops", "checks", "counts", "old", "new",
];

/// The steps of a session; the same course gives the same steps. What is said does not depend
/// on how often the context changes.
pub fn working_session(course: Course) -> Vec<Step> {
    let (mut talk, mut state) = (Draw(7), State::new());
    let mut steps = Vec::with_capacity(course.n_requests);
    let mut n_said = 0;
    let mut said = vec![Message::user(&format!("Please mend the engine. {}", talk.words(60)))];
    for number in 0..course.n_requests {
        if number > 0 && course.change_every > 0 && number.is_multiple_of(course.change_every) {
            state.change(number);
        }
        for message in &mut said {
            message.id = MessageId::of_index(n_said);
            n_said += 1;
        }
        steps.push(Step { said: std::mem::take(&mut said), context: state.texts() });
        match FOLLOW_UPS.contains(&number) {
            true => {
                said.push(Message::assistant(&format!("Done so far: {}", talk.words(50))));
                said.push(Message::user(&format!("Thanks. Next: {}", talk.words(40))));
            }
            false => said = round(number, course.results, &mut talk),
        }
    }
    steps
}

/// A message that calls tools, and their results.
fn round(number: usize, (shortest, longest): (usize, usize), talk: &mut Draw) -> Vec<Message> {
    let n_calls = if talk.below(8) == 0 { 2 } else { 1 };
    let call = |i: usize| {
        let id = CallId::new(format!("call_{number}_{i}")).ok()?;
        let path = format!(r#"{{"path":"src/{}.rs","start":{}}}"#, talk.word(), talk.below(400));
        let arguments = Arguments::from_text(&path);
        Some(ToolCall { id, name: ToolName::new("read_file"), arguments, extra: Extra::NONE })
    };
    let calls: Vec<ToolCall> = (0..n_calls).filter_map(call).collect();
    let text = AssistantPart::Text(Text::new(talk.words(16)));
    let parts = calls.iter().cloned().map(AssistantPart::Call);
    let Ok(parts) = Parts::new(std::iter::once(text).chain(parts).collect()) else {
        return Vec::new();
    };
    let mut said = vec![Message::from(Body::Assistant(parts))];
    for call in calls {
        let len = shortest + talk.below(longest - shortest);
        said.push(Message::tool(call.id, Status::Ok, &talk.text(len)));
    }
    said
}

/// What the context sources say.
struct State {
    draw: Draw,
    todo: Vec<(usize, String, char)>,
    current: usize,
    info: Vec<String>,
    notes: Vec<String>,
}

impl State {
    fn new() -> Self {
        let mut draw = Draw(1_000_003);
        let mut todo: Vec<(usize, String, char)> =
            (1..15).map(|number| (number, draw.words(9), ' ')).collect();
        todo[0].2 = '~';
        Self { draw, todo, current: 0, info: Vec::new(), notes: Vec::new() }
    }

    /// The list always changes, the others now and then.
    fn change(&mut self, number: usize) {
        if self.draw.below(2) == 0 {
            self.todo[self.current].2 = 'x';
            self.current = (self.current + 1) % self.todo.len();
            let next = &mut self.todo[self.current];
            if next.2 == 'x' {
                *next = (next.0 + 14, self.draw.words(9), ' ');
            }
            next.2 = '~';
        } else {
            let item = self.draw.below(self.todo.len());
            let text = self.todo[item].1.split(" (").next().unwrap_or_default();
            self.todo[item].1 = format!("{text} (seen at step {number})");
        }
        if number.is_multiple_of(2) {
            self.info.push(format!("- [{number}] {}", self.draw.words(18)));
            self.info.drain(..self.info.len().saturating_sub(14));
        }
        if number % 4 == 1 {
            self.notes.push(format!("### {}\n{}", self.draw.word(), self.draw.words(30)));
            self.notes.drain(..self.notes.len().saturating_sub(10));
        }
    }

    fn texts(&self) -> [String; 4] {
        let item =
            |(number, text, state): &(usize, String, char)| format!("- [{state}] {number} {text}");
        let todo: Vec<String> = self.todo.iter().map(item).collect();
        let role = "You are a careful engineer who mends one thing at a time.".to_owned();
        [role, todo.join("\n"), self.info.join("\n"), self.notes.join("\n")]
    }
}

/// Numbers that look drawn at random.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % n.max(1) as u64) as usize
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }

    fn words(&mut self, n: usize) -> String {
        let words: Vec<&str> = (0..n).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn text(&mut self, len: usize) -> String {
        let mut text = String::with_capacity(len + 60);
        while text.len() < len {
            text.push_str(&self.words(9));
            text.push('\n');
        }
        text.truncate(len);
        text
    }
}
