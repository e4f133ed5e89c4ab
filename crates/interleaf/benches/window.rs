//! What a window does to five shapes of session: the table of `docs/budget.md`.
//!
//! `cargo bench -p interleaf --bench window`
//!
//! Each session goes on until it has three times as many tokens as the window, with a TODO
//! list that changes in every request. No clock is read: the figures are the same every
//! time.

use std::sync::Arc;

use interleaf::assemble::{
    Budget, Cause, FindingKind, Ledger, Outcome, Recipe, Running, Step, counter_for,
};
use interleaf::model::{ContextKind, Message, Requirements, Role};
use interleaf_samples::shape::Shape;

const WINDOWS: [u64; 7] = [2_000, 4_000, 8_000, 32_000, 64_000, 128_000, 200_000];

fn main() {
    println!(
        "| window | session | requests | of the window, least to most | shortened | cleared | \
         abridged | left out | prefix kept | without a window |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for window in WINDOWS {
        for shape in Shape::ALL {
            let figures = Figures::of(shape, window);
            println!("| {window} | {} | {figures} |", shape.name());
        }
    }
}

/// What came of one session in one window.
#[derive(Default)]
struct Figures {
    n_requests: usize,
    n_refused: usize,
    /// The smallest and the largest request since the session outgrew the window, in parts of
    /// a thousand of what the request may take.
    filled: Option<(u64, u64)>,
    /// What gave way in the last request.
    shortened: usize,
    cleared: usize,
    abridged: usize,
    left_out: usize,
    /// The tokens that each request has in common with the one before, and all of them.
    kept: (u64, u64),
    kept_without: (u64, u64),
}

impl Figures {
    fn of(shape: Shape, window: u64) -> Self {
        let ledger = Arc::new(Ledger::new(counter_for("gpt-5")));
        let budget = Budget::of_window(window);
        let plain = Recipe::new().with_system("You are careful.").with_ledger(ledger.clone());
        let (mut running, mut unbounded) = (Running::new(), Running::new());
        let mut figures = Self::default();
        let mut whole = 0;
        for (n, round) in shape.rounds(20_000).into_iter().enumerate() {
            for message in round.into_iter().map(Arc::new) {
                whole += shown_cost(&message, &ledger, &budget);
                running.append(message.clone());
                unbounded.append(message);
            }
            let plain = plain.clone().with_context(ContextKind::Todo, format!("- [ ] step {n}"));
            figures.take(&mut running, &plain.clone().with_budget(budget), whole);
            count_kept(&mut unbounded, &plain, &mut figures.kept_without);
            if whole > 3 * window {
                break;
            }
        }
        figures
    }

    fn take(&mut self, running: &mut Running, recipe: &Recipe, whole: u64) {
        self.n_requests += 1;
        let limit = recipe.budget.map_or(u64::MAX, |budget| budget.limit());
        let Ok(assembly) = running.assemble(recipe, Requirements::STRICT) else {
            self.n_refused += 1;
            return;
        };
        let report = &assembly.report;
        let total = report.tokens.as_ref().map_or(0, |tokens| tokens.total());
        self.kept.0 += report.stable_prefix.and_then(|stable| stable.tokens).unwrap_or(0);
        self.kept.1 += total;
        if whole > limit {
            let part = total * 1_000 / limit;
            let (least, most) = self.filled.unwrap_or((part, part));
            self.filled = Some((least.min(part), most.max(part)));
        }
        (self.shortened, self.cleared, self.abridged, self.left_out) = (0, 0, 0, 0);
        for (_, finding) in report.findings().filter(|(step, _)| *step == Step::Fit) {
            let count = match (finding.kind, finding.cause) {
                (FindingKind::Dropped, _) => &mut self.left_out,
                (FindingKind::Altered, Cause::LongResult) => &mut self.shortened,
                (FindingKind::Altered, Cause::LongArguments) => &mut self.abridged,
                (FindingKind::Altered, _) => &mut self.cleared,
                _ => continue,
            };
            *count += finding.count;
        }
    }
}

/// What a message takes at most: a single result never takes more than its share.
fn shown_cost(message: &Arc<Message>, ledger: &Ledger, budget: &Budget) -> u64 {
    let tokens = ledger.message(message);
    if message.role() == Role::Tool { tokens.min(budget.longest_result) } else { tokens }
}

fn count_kept(running: &mut Running, recipe: &Recipe, kept: &mut (u64, u64)) {
    if let Ok(assembly) = running.assemble(recipe, Requirements::STRICT)
        && let Outcome::Ready(_) = assembly.outcome
    {
        let stable = assembly.report.stable_prefix.and_then(|stable| stable.tokens);
        kept.0 += stable.unwrap_or(0);
        kept.1 += assembly.report.tokens.map_or(0, |tokens| tokens.total());
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |(part, all): (u64, u64)| 100.0 * part as f64 / all.max(1) as f64;
        write!(f, "{}", self.n_requests)?;
        if self.n_refused > 0 {
            write!(f, ", {} refused", self.n_refused)?;
        }
        let (least, most) = self.filled.unwrap_or_default();
        write!(f, " | {} to {} %", least / 10, most / 10)?;
        let gave_way = [self.shortened, self.cleared, self.abridged, self.left_out];
        gave_way.iter().try_for_each(|count| write!(f, " | {count}"))?;
        write!(f, " | {:.1} % | {:.1} %", percent(self.kept), percent(self.kept_without))
    }
}
