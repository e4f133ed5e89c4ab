//! What was played, for people to read.

use std::fmt::Write as _;

use interleaf_model::{plural, shown};

use super::plot::tokens as tokens_text;
use super::{Play, PlayedRequest, PlayedSession};

impl PlayedSession {
    /// A table of its ways, a line for each. With what a million tokens cost, the cost is in money.
    pub fn table(&self, price: Option<f64>) -> String {
        let mut out = String::new();
        let requests = plural(self.recorded.len(), "request");
        // Writing into a String cannot fail.
        let _ = writeln!(out, "# {} · {requests}", shown(&self.name));
        for note in &self.notes {
            let _ = writeln!(out, "  {note}");
        }
        if let Some(told) = self.reported() {
            let part = 100.0 * told.cache_read as f64 / told.prompt.max(1) as f64;
            let prompt = tokens_text(told.prompt as f64);
            let _ = writeln!(out, "  as the API reported: {prompt} tokens, {part:.1} % read");
        }
        let longest =
            |text: &dyn Fn(&Play) -> usize| self.plays.iter().map(text).max().unwrap_or(0);
        let vendor = longest(&|play| play.vendor.len()).max(5);
        let rule = longest(&|play| play.rule.len()).max(4);
        let money = if price.is_some() { "money" } else { "cost" };
        // Few caches charge for what is written to them.
        let writes = self.plays.iter().any(|play| play.totals.written > 0);
        let if_writes = |text: &str| if writes { format!("  {text:>9}") } else { String::new() };
        let written = if_writes("written");
        let _ = writeln!(
            out,
            "  {:vendor$}  {:>8}  {:rule$}  {:>9}  {:>7}{written}  {:>9}  {:>9}  refused",
            "cache", "window", "rule", "prompt", "read", "computed", money
        );
        for play in &self.plays {
            let totals = &play.totals;
            let window = play.window.map_or_else(|| "–".to_owned(), |window| window.to_string());
            let tokens = |n: u64| tokens_text(n as f64);
            let cost = match price {
                Some(price) => format!("{:.4}", totals.cost * price / 1e6),
                None => tokens_text(totals.cost),
            };
            let _ = writeln!(
                out,
                "  {:vendor$}  {window:>8}  {:rule$}  {:>9}  {:>5.1} %{}  {:>9}  {cost:>9}  {}",
                play.vendor,
                play.rule,
                tokens(totals.tokens),
                100.0 * totals.reuse(),
                if_writes(&tokens(totals.written)),
                tokens(totals.computed),
                totals.refused,
            );
        }
        for play in &self.plays {
            let refused = play.requests.iter().find_map(|request| match request {
                PlayedRequest::Refused { request, refused } => Some((request, refused)),
                _ => None,
            });
            if let Some((number, why)) = refused {
                let window =
                    play.window.map_or_else(String::new, |n| format!(" in a window of {n}"));
                let rule = &play.rule;
                let _ = writeln!(out, "  {rule}{window}: request {number} was refused: {why}");
            }
        }
        out
    }
}
