//! How far `auto` is from the cheapest other rule, on sessions that are drawn at random: short
//! and long, talks and tool loops, with sources that change always, sometimes and never.

use std::error::Error;
use std::sync::Arc;

use interleaf::assemble::{ContextText, Ledger};
use interleaf::cache::Rules;
use interleaf::model::{ContextKind, Message, MessageId};
use interleaf::replay::Script;
use interleaf_samples::working_session::Course;

use super::{RULES, play, script};

/// A session, and what it is like.
struct Drawn {
    script: Script,
    what: String,
}

impl Drawn {
    fn of(seed: u64) -> Self {
        let random = &mut fastrand::Rng::with_seed(seed);
        let n_requests = *pick(random, &[4, 8, 14, 24, 40, 60, 100]);
        let change_every = *pick(random, &[1, 1, 2, 3, 4, 7, 10, 20, 0]);
        let results = *pick(
            random,
            &[(20, 60), (60, 200), (200, 600), (200, 3_000), (1_000, 3_600), (2_000, 20_000)],
        );
        let asks_every = *pick(random, &[0, 0, 1, 3, 5, 9]);
        let question = *pick(random, &[20, 200, 2_000]);
        let (passages, new_every) = (*pick(random, &[0, 0, 300, 2_000]), *pick(random, &[1, 2, 5]));
        let rules = *pick(random, &[0, 0, 3_000]);
        let mut script = script(Course { n_requests, change_every, results });
        for (number, turn) in script.turns.iter_mut().enumerate() {
            if asks_every > 0 && number > 0 && number % asks_every == 0 {
                turn.said = asked(number, question);
            }
            let more = [
                ("passages", text(&format!("Passage {} is here. ", number / new_every), passages)),
                ("rules", text("Always do it so. ", rules)),
            ];
            let more =
                more.map(|(name, text)| ContextText::new(ContextKind::Other(name.into()), text));
            turn.context.extend(more);
        }
        let what = format!(
            "{n_requests} requests, the context changes every {change_every}, results of {results:?}, \
             a question of {question} every {asks_every}, passages of {passages} every {new_every}, \
             rules of {rules}"
        );
        Self { script, what }
    }
}

fn pick<'a, T>(random: &mut fastrand::Rng, from: &'a [T]) -> &'a T {
    &from[random.usize(..from.len())]
}

fn text(sentence: &str, len: usize) -> String {
    sentence.repeat(len.div_ceil(sentence.len()))
}

fn asked(number: usize, len: usize) -> Vec<Arc<Message>> {
    let question = format!("{number}? {}", text("It was said so. ", len));
    let said = [Message::assistant("So it is."), Message::user(&question)].into_iter().enumerate();
    said.map(|(i, said)| Arc::new(said.with_id(MessageId::new(format!("t{number}-{i}"))))).collect()
}

/// Prints how many of the sessions cost how much more by `rule` than by the best other rule, on
/// any cache.
pub(crate) fn compare(n: u64, rule: &str, ledger: &Arc<Ledger>) -> Result<(), Box<dyn Error>> {
    let mut rows: Vec<(f64, String)> = Vec::new();
    for seed in 0..n {
        let Drawn { script, what } = Drawn::of(seed);
        for cache in Rules::all() {
            let cost = |rule: &str| -> Result<f64, Box<dyn Error>> {
                let figures = play(&script, Some(rule), &cache.name, ledger)?;
                Ok(figures.iter().map(|figures| figures.cost).sum())
            };
            let mut best = (f64::INFINITY, "");
            for other in RULES.into_iter().filter(|other| *other != "auto") {
                let cost = cost(other)?;
                best = if cost < best.0 { (cost, other) } else { best };
            }
            rows.push((cost(rule)? / best.0, format!("{} than {}: {what}", cache.name, best.1)));
        }
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    for percent in [0, 3, 10, 25] {
        let limit = 1.0 + f64::from(percent) / 100.0 + 1e-9;
        let within = rows.iter().filter(|(ratio, _)| *ratio <= limit).count();
        println!("at most {percent} % dearer: {within} of {}", rows.len());
    }
    for (ratio, row) in rows.iter().take(12) {
        println!("{:.1} % dearer with {row}", (ratio - 1.0) * 100.0);
    }
    Ok(())
}
