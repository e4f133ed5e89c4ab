//! What is said of a request before it is sent, against what an API then tells: how many tokens
//! it has, and how many of them its cache gives, whatever is changed in mid-session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use interleaf::assemble::{Carrier, Ledger, PlacementRule, Recipe, Summary};
use interleaf::conversation::{Operation, Truncate};
use interleaf::model::{ContextKind, Message, MessageId, Tool, ToolCall, Usage};
use interleaf::wire::{Auth, CacheMarks, Family, Options, Vendor};
use interleaf::{Session, Target, store};
use interleaf_doubles::{Answer, Asked, Brain, Double, Part, Settings};
use interleaf_transport::Transport;
use serde_json::json;

use crate::families::{KEY, transport};

/// What may be changed between two requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Context,
    Marks,
    Rule,
    Carrier,
    Tools,
    System,
    Vendor,
    Summary,
    Rollback,
}

impl Change {
    const ALL: [Self; 9] = [
        Self::Context,
        Self::Marks,
        Self::Rule,
        Self::Carrier,
        Self::Tools,
        Self::System,
        Self::Vendor,
        Self::Summary,
        Self::Rollback,
    ];
}

/// The APIs, each with a model whose cache goes by other rules.
const MODELS: [(Family, &str); 6] = [
    (Family::OpenaiChat, "gpt-5"),
    (Family::OpenaiChat, "gpt-5.6"),
    (Family::OpenaiResponses, "gpt-5.6"),
    (Family::Anthropic, "claude-sonnet-4-5"),
    (Family::Gemini, "gemini-2.5-pro"),
    (Family::Bedrock, "anthropic.claude-sonnet-4-5-20250929-v1:0"),
];

/// Numbers that look like chance and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// The model calls a tool, and then says what it saw.
struct Model;

impl Brain for Model {
    fn answer(&self, asked: &Asked) -> Result<Answer, String> {
        let pieces = asked.turns.iter().flat_map(|turn| &turn.pieces);
        let results = pieces.clone().filter(|it| matches!(it.part, Part::Result { .. })).count();
        let said = asked.user_texts().filter(|text| text.starts_with("Question")).count();
        let n = said + results;
        if results % 3 == 2 || asked.tools.is_empty() {
            return Ok(Answer::text(format!(
                "Lamp {n} burns. {}",
                "The wick is trimmed. ".repeat(9)
            )));
        }
        let part = json!({"part": format!("the lens of lamp {n}")});
        Ok(Answer::text(format!("I look at lamp {n}.")).with_call("look", &part))
    }
}

/// A session on its way, and how the next request of it is made.
struct Play {
    dice: Dice,
    double: Double,
    session: Session,
    ledger: Arc<Ledger>,
    model: usize,
    marks: CacheMarks,
    rule: PlacementRule,
    carrier: Carrier,
    tools: usize,
    system: usize,
    todo: usize,
    summary: Option<Summary>,
    rows: Vec<Row>,
}

/// A request: what was changed right before it, what was said of it, and what the API told.
#[derive(Debug)]
#[expect(dead_code, reason = "what is not compared is shown if something is wrong")]
struct Row {
    changed: Option<Change>,
    model: &'static str,
    family: Family,
    cause: String,
    tokens: u64,
    read: u64,
    predicted: u64,
    step: u64,
    told: Usage,
}

impl Play {
    async fn begin(seed: u64, model: usize) -> Self {
        let double = Double::start(Settings::new().with_brain(Model)).await.unwrap();
        let session = Session::create(store::open("memory:").await.unwrap(), "").await.unwrap();
        Self {
            dice: Dice(seed),
            double,
            session,
            ledger: Arc::new(Ledger::for_model("gpt-5")),
            model,
            marks: CacheMarks::On,
            rule: PlacementRule::default(),
            carrier: Carrier::Message,
            tools: 0,
            system: 0,
            todo: 0,
            summary: None,
            rows: Vec::new(),
        }
    }

    fn target(&self) -> Target {
        let (family, model) = MODELS[self.model];
        let path = match family {
            Family::OpenaiChat | Family::OpenaiResponses | Family::Anthropic => "/v1",
            Family::Gemini => "/v1beta",
            Family::Bedrock => "",
        };
        let url = format!("{}{path}", self.double.base_url());
        let mut vendor = Vendor::of(family).clone().base_url(url);
        if vendor.auth == Auth::AwsV4 {
            vendor = vendor.auth(Auth::Bearer);
        }
        let mut options = Options::model(model).max_tokens(8_192);
        options.cache = self.marks;
        Target::with_options(vendor, options).with_key(KEY)
    }

    fn recipe(&self) -> Recipe {
        let schema = json!({"type": "object", "properties": {"part": {"type": "string"}}, "required": ["part"]});
        let look = Tool::new("look", "Looks at a part of a lamp. ".repeat(20), schema.clone());
        let turn = Tool::new("turn", "Turns a screw. ".repeat(30 * self.tools), schema);
        let tools = if self.tools == 0 { vec![look] } else { vec![look, turn] };
        let keeper = ["Look before you change anything. ", "Look twice, and say what you saw. "];
        let mut recipe = Recipe::new()
            .with_system(format!("You mend lighthouses. {}", keeper[self.system].repeat(300)))
            .with_tools(tools)
            .with_rule(self.rule.clone())
            .with_carrier(self.carrier)
            .with_context(ContextKind::Role, "You are the keeper of the light.")
            .with_context(ContextKind::Todo, format!("1. trim wick {}\n2. fill the oil", self.todo))
            .with_ledger(self.ledger.clone());
        if let Some(summary) = &self.summary {
            recipe = recipe.with_summary(summary.clone());
        }
        recipe
    }

    async fn change(&mut self, change: Change) {
        match change {
            Change::Context => self.todo += 1,
            Change::Marks => {
                self.marks =
                    if self.marks == CacheMarks::On { CacheMarks::Off } else { CacheMarks::On }
            }
            Change::Rule => {
                let rules =
                    ["after_tool_result(2)", "tail", "after_system", "sticky", "delta", "auto"];
                self.rule = self.dice.one(&rules).parse().unwrap();
            }
            Change::Carrier => {
                let all = [Carrier::Message, Carrier::Attached, Carrier::System];
                self.carrier = self.dice.one(&all);
            }
            Change::Tools => self.tools = self.dice.below(3),
            Change::System => self.system = 1 - self.system,
            Change::Vendor => self.model = self.dice.below(MODELS.len()),
            Change::Summary => self.sum_up(),
            Change::Rollback => self.cut_or_roll_back().await,
        }
    }

    fn sum_up(&mut self) {
        let visible: Vec<_> = self.session.conversation().visible().collect();
        let upto = visible.len().saturating_sub(5);
        let starts = (1..=upto).rev().find(|&n| visible[n].text().starts_with("Question"));
        let Some(starts) = starts.filter(|_| self.summary.is_none()) else {
            self.summary = None;
            return;
        };
        let covers: BTreeSet<MessageId> =
            visible[..starts].iter().map(|message| message.id.clone()).collect();
        let text = format!("{starts} things were said of lamps.").into();
        self.summary = Some(Summary { text, start: visible[0].id.clone(), covers });
    }

    async fn cut_or_roll_back(&mut self) {
        if self.session.conversation().current_batch() > 0 && self.dice.below(2) == 0 {
            let batch = self.session.conversation().current_batch() - 1;
            self.session.roll_back(batch).await.unwrap();
            return;
        }
        let visible: Vec<_> = self.session.conversation().visible().collect();
        let starts = (1..visible.len()).rev().find(|&n| visible[n].text().starts_with("Question"));
        let Some(keep_first) = starts else { return };
        let cut = Truncate { remove_last: Some(visible.len() - keep_first), ..Truncate::default() };
        self.session.operate(Operation::Truncate(cut)).await.unwrap();
    }

    /// One question, with all that comes of it. Before every other one something is changed.
    async fn round(&mut self, transport: &Transport, change: Change) {
        let is_changed = self.dice.below(2) == 0;
        let mut changed = is_changed.then_some(change);
        if is_changed {
            self.change(change).await;
        }
        let n = self.session.conversation().log_len();
        let question = format!("Question {n}: is the lamp well? {}", "It flickers. ".repeat(9));
        self.session.append(Message::user(&question)).await.unwrap();
        for _ in 0..4 {
            self.ask(transport, changed.take()).await;
            let calls = self.session.open_calls();
            if calls.is_empty() {
                return;
            }
            let result = |call: &ToolCall| {
                call.result(&format!("{}: rust on the screw. ", call.name).repeat(7))
            };
            self.session.results(calls.iter().map(result).collect::<Vec<_>>()).await.unwrap();
        }
    }

    async fn ask(&mut self, transport: &Transport, changed: Option<Change>) {
        let (recipe, target) = (self.recipe(), self.target());
        let answer = transport.ask(&mut self.session, &recipe, &target).await.unwrap();
        let (impact, told) = (answer.impact.unwrap(), answer.reply.usage.unwrap());
        let cost = impact.cost.as_ref().unwrap();
        let (family, model) = MODELS[self.model];
        self.rows.push(Row {
            changed,
            model,
            family,
            cause: impact.cause.to_string(),
            tokens: impact.tokens,
            read: cost.read,
            predicted: impact.predicted(told).unwrap(),
            step: cost.step,
            told,
        });
    }
}

/// What the API counts less than the engine does. On some APIs, messages of one side that follow
/// each other are one turn, with one border, and the engine counts one for each: here the question,
/// two texts of the context and a summary.
const BORDERS: u64 = 3 * interleaf_doubles::PER_MESSAGE;

/// A cache may hold requests that are so far back that the engine has forgotten them. They had more
/// in common with a request whose summary is gone, or whose history was cut: no more than this.
const FORGOTTEN: u64 = 100;

impl Row {
    fn is_as_said(&self, may_forget: bool) -> bool {
        let (tokens, read) = (self.told.prompt, self.told.cache_read);
        let joins = matches!(self.family, Family::Anthropic | Family::Bedrock | Family::Gemini);
        let (borders, step) = (if joins { BORDERS } else { 0 }, self.step - 1);
        let forgotten = if may_forget { FORGOTTEN } else { 0 };
        let is_between = |said: u64, least: u64, most: u64| (least..=most).contains(&said);
        is_between(self.tokens, tokens, tokens + borders)
            && is_between(self.read, read.saturating_sub(forgotten), read + borders + step)
            && is_between(
                self.predicted,
                read.saturating_sub(borders + forgotten),
                read + borders + step,
            )
    }
}

#[tokio::test]
async fn tokens_and_reads_are_as_said_whatever_is_changed_in_mid_session() {
    let transport = transport();
    let mut wrong = BTreeMap::<_, Vec<Row>>::new();
    for change in Change::ALL {
        let may_forget = matches!(change, Change::Summary | Change::Rollback);
        for model in 0..MODELS.len() {
            let mut play = Play::begin(5, model).await;
            for _ in 0..8 {
                play.round(&transport, change).await;
            }
            let rows = play.rows.into_iter().filter(|row| !row.is_as_said(may_forget));
            wrong.entry(change).or_default().extend(rows);
        }
    }
    wrong.retain(|_, rows| !rows.is_empty());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
