//! What the demo cost: with the cache, without it, and under other rules of placement.

use interleaf::assemble::PlacementRule;
use interleaf::model::{Reply, Usage};
use interleaf::replay::{PlayRule, Script, Totals, Ways, run};
use interleaf_transport::{Amount, Answer, CompactionDone, Transport};

use crate::failure::{Failure, Stop};
use crate::output::Output;

/// The rules that are held against the one that was used.
const OTHERS: [&str; 5] = ["none", "after_tool_result(3)", "tail", "delta", "auto"];

type Answered = (String, String, Reply);

/// What all answers took.
#[derive(Default)]
pub(super) struct Spending {
    /// Who answered, with which model, and what.
    answers: Vec<Answered>,
    summaries: Vec<Option<Amount>>,
}

impl Spending {
    pub(super) fn add(&mut self, answer: &Answer) {
        let (vendor, model) = (answer.vendor.to_string(), answer.model.to_string());
        self.answers.push((vendor, model, answer.reply.clone()));
    }

    pub(super) fn add_compaction(&mut self, done: &CompactionDone) {
        self.summaries.extend(done.texts.iter().map(|text| text.price));
    }

    /// Prints what was paid, and what would have been without a cache.
    pub(super) fn print(&self, transport: &Transport, output: &mut Output) -> Result<(), Stop> {
        let mut all = Usage::default();
        self.answers.iter().filter_map(|(.., reply)| reply.usage).for_each(|usage| all += usage);
        let Usage { prompt, cache_read, completion, .. } = all;
        let part = 100.0 * cache_read as f64 / prompt.max(1) as f64;
        output.line("")?;
        output.remark("what it cost")?;
        let n = self.answers.len();
        output.line(format_args!(
            "  {n} requests of {prompt} tokens, {completion} tokens answered"
        ))?;
        output
            .line(format_args!("  {cache_read} tokens ({part:.0} %) were read from the cache"))?;
        let price = |(vendor, model, reply): &Answered| transport.price(vendor, model, reply);
        let uncached = |answered: &Answered| price(&without_cache(answered));
        let paid = sum(self.answers.iter().map(price));
        let uncached = sum(self.answers.iter().map(uncached));
        if let (Some(paid), Some(uncached)) = (paid, uncached) {
            let (paid, uncached) = (dollars(paid), dollars(uncached));
            output
                .line(format_args!("  by the list price {paid}; without the cache {uncached}"))?;
        }
        if let Some(price) =
            sum(self.summaries.iter().copied()).filter(|price| *price > Amount::default())
        {
            output.line(format_args!("  and for the summary {}", dollars(price)))?;
        }
        Ok(())
    }
}

/// An amount to a hundredth of a cent.
fn dollars(amount: Amount) -> String {
    format!("${:.4}", amount.to_string().parse().unwrap_or(0.0))
}

fn without_cache((vendor, model, reply): &Answered) -> Answered {
    let mut reply = reply.clone();
    if let Some(usage) = &mut reply.usage {
        (usage.cache_read, usage.cache_write, usage.cache_write_hour) = (0, 0, 0);
    }
    (vendor.clone(), model.clone(), reply)
}

/// All together, if each is known.
fn sum(mut amounts: impl Iterator<Item = Option<Amount>>) -> Option<Amount> {
    amounts.try_fold(Amount::default(), |sum, amount| Some(sum + amount?))
}

/// Prints what the same requests cost under other rules.
pub(super) fn print_others(
    scripts: &[Script],
    used: &PlacementRule,
    output: &mut Output,
) -> Result<(), Stop> {
    let failed = |e: &interleaf::Error| Failure::session("", e);
    let used = PlayRule::Placed(used.clone());
    let others = OTHERS.iter().map(|rule| rule.parse::<PlayRule>());
    let mut rules = vec![used.clone()];
    rules.extend(others.collect::<Result<Vec<_>, _>>().map_err(|e| failed(&e))?);
    let mut ways = Ways::default();
    ways.rules = rules;
    let outcome = run(scripts, &ways, &|| {}).map_err(|e| failed(&e))?;
    let mut totals: Vec<(String, Totals)> = Vec::new();
    for play in outcome.sessions.iter().flat_map(|session| &session.plays) {
        match totals.iter_mut().find(|(rule, _)| *rule == play.rule) {
            None => totals.push((play.rule.clone(), play.totals)),
            Some((_, sum)) => {
                sum.tokens += play.totals.tokens;
                sum.read += play.totals.read;
                sum.computed += play.totals.computed;
                sum.cost += play.totals.cost;
            }
        }
    }
    output.remark("the same session under other rules of placement")?;
    output.line("  rule                     tokens      read  computed      cost")?;
    let used = used.to_string();
    for (rule, totals) in &totals {
        let Totals { tokens, read, computed, cost, .. } = totals;
        let name = match rule.as_str() {
            "none" => "none: without context",
            rule => rule,
        };
        let sign = if *rule == used { "←" } else { "" };
        let line =
            format!("  {name:<22} {tokens:>8}  {read:>8}  {computed:>8}  {cost:>8.0} {sign}");
        output.line(line.trim_end())?;
    }
    output.line("  by our own count; the cost is in tokens that are not cached")?;
    Ok(())
}
