//! Messages and settings drawn from a few bytes.

use interleaf_assemble::{
    Agent, Budget, CustomRule, MissingResult, OpenBlock, PlacementRule, Recipe, SummaryRole,
};
use interleaf_model::{AgentName, Message, notation};

/// One line for each kind of message; `C` stands for a call id out of four.
const LINES: [&str; 20] = [
    "u say something",
    "u  ",
    "u{agent=scout} for a scout",
    "u{internal} a note",
    "a an answer",
    "a [empty]",
    "a [think hm]",
    "a [call C ls]",
    "a look [call C ls] [call x pwd]",
    "a [call C ls] [call C pwd]",
    "a [call C \"\"]",
    "a{agent=scout} [call C ls]",
    "a look [call C \" \"] [call y ls {\"path\": 1}]",
    "t C= a short result",
    "t C! it failed [+] and this is a second text",
    "t C= a result of some more words that may well be too long for a small budget",
    "t x= the other one",
    "t{agent=scout} C= of a scout",
    "s a rule",
    "s  ",
];

/// More messages show nothing that these do not, and take time.
const MOST_MESSAGES: usize = 48;

/// A message for each byte.
pub(crate) fn drawn_messages(bytes: &[u8]) -> Vec<Message> {
    let line = |&byte: &u8| {
        let byte = usize::from(byte);
        let id = ["c1", "c2", "c1_2", "c3"][byte / LINES.len() % 4];
        LINES[byte % LINES.len()].replace('C', id)
    };
    let bytes = bytes.iter().take(MOST_MESSAGES);
    bytes.flat_map(|byte| notation::parse(&line(byte)).unwrap_or_default()).collect()
}

/// A number that is used up by small choices.
pub(crate) struct Dice(pub(crate) u32);

impl Dice {
    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: u32) -> usize {
        let rolled = self.0 % sides;
        self.0 /= sides;
        rolled as usize
    }
}

pub(crate) fn recipe(dice: &mut Dice) -> Recipe {
    let n = 1 + dice.roll(4);
    let rule = match dice.roll(7) {
        0 => PlacementRule::BeforeAssistant(n),
        1 => PlacementRule::FromEnd(n * 2),
        2 => PlacementRule::AfterSystem,
        3 => PlacementRule::Tail,
        4 => PlacementRule::Custom(CustomRule::new("odd", move |layout, _| layout.len() * n / 3)),
        _ => PlacementRule::AfterToolResult(n),
    };
    let window = [None, None, Some(40), Some(120)][dice.roll(4)];
    let budget = |window| Budget { window, reserve: 5, longest_result: 18, newest_results: n - 1 };
    let mut recipe = Recipe::new().with_rule(rule);
    recipe.agent = [Agent::Main, Agent::Sub(AgentName::new("scout"))][dice.roll(2)].clone();
    recipe.missing_result = [MissingResult::Make, MissingResult::DropCall][dice.roll(2)];
    recipe.open_block = [OpenBlock::Mend, OpenBlock::Wait][dice.roll(2)];
    recipe.summary_role = [SummaryRole::System, SummaryRole::User][dice.roll(2)];
    recipe.budget = window.map(budget);
    recipe
}
