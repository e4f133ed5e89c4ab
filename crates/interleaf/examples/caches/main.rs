//! What a session of 60 requests takes under each rule of placement, for each kind of cache:
//! the tables of `docs/cache.md`. And how far `auto`, or `auto(n)`, is from the best of the other
//! rules on sessions that are drawn at random.
//!
//! ```sh
//! cargo run --release -p interleaf --example caches
//! cargo run --release -p interleaf --example caches -- 100 auto
//! ```

mod drawn;
mod script;

use std::error::Error;
use std::sync::Arc;

use interleaf::assemble::{Estimate, Ledger, PlacementRule, Recipe};
use interleaf::cache::Rules;
use interleaf::model::Requirements;
use interleaf::replay::{Figures, Script, cache_prices};
use interleaf_samples::working_session::Course;

use self::script::script;

const RULES: [&str; 7] =
    ["after_system", "from_end(5)", "after_tool_result(3)", "tail", "sticky", "delta", "auto"];
const CACHES: [&str; 7] =
    ["openai", "openai-5.6", "anthropic", "gemini", "deepseek", "deepseek-v4", "llama.cpp-window"];

/// The session: a round takes about ten times what one change of the context does.
fn session(change_every: usize) -> Script {
    script(Course { n_requests: 60, change_every, results: (1_000, 3_600) })
}

/// The figures of a session by a rule; without one, of the session without context.
fn play(
    script: &Script,
    rule: Option<&str>,
    cache: &str,
    ledger: &Arc<Ledger>,
) -> Result<Vec<Figures>, Box<dyn Error>> {
    let rules = Rules::named(cache).ok_or("there is no such cache")?;
    let mut recipe = Recipe::new();
    let mut script = script.clone();
    match rule {
        Some(rule) => recipe.rule = rule.parse::<PlacementRule>()?,
        None => script.turns.iter_mut().for_each(|turn| turn.context.clear()),
    }
    recipe.cache_prices = cache_prices(&rules);
    Ok(script.play(&recipe, Requirements::STRICT, &[rules], ledger)?.remove(0))
}

fn thousands(sum: f64) -> String {
    format!("{:.0}", sum / 1_000.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let ledger = Arc::new(Ledger::new(Arc::new(Estimate::default())));
    let mut arguments = std::env::args().skip(1);
    if let Some(n) = arguments.next() {
        return drawn::compare(n.parse()?, arguments.next().as_deref().unwrap_or("auto"), &ledger);
    }
    let rows = || [None].into_iter().chain(RULES.iter().copied().map(Some));
    println!("| rule | prompt | read | computed, change every 1 | 4 | 10 | never |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for rule in rows() {
        let mut row =
            format!("| {} ", rule.map_or("no context".into(), |rule| format!("`{rule}`")));
        for change_every in [1, 4, 10, 0] {
            let played = play(&session(change_every), rule, "llama.cpp", &ledger)?;
            let prompt: u64 = played.iter().map(|figures| figures.tokens.total()).sum();
            let read: u64 = played.iter().map(|figures| figures.used.read).sum();
            if change_every == 1 {
                let part = 100.0 * read as f64 / prompt as f64;
                row.push_str(&format!("| {} k | {part:.1} % ", thousands(prompt as f64)));
            }
            row.push_str(&format!("| {} k ", thousands((prompt - read) as f64)));
        }
        println!("{row}|");
    }
    println!("\n| rule | {} |", CACHES.join(" | "));
    println!("|---|{}", "---:|".repeat(CACHES.len()));
    let script = session(1);
    for rule in rows() {
        let mut row =
            format!("| {} ", rule.map_or("no context".into(), |rule| format!("`{rule}`")));
        for cache in CACHES {
            let cost: f64 =
                play(&script, rule, cache, &ledger)?.iter().map(|figures| figures.cost).sum();
            row.push_str(&format!("| {} k ", thousands(cost)));
        }
        println!("{row}|");
    }
    Ok(())
}
