//! The report on a change of model, for people.

use std::fmt;

use interleaf_model::{plural, shown};

use super::{BreakEven, Fit, Loss, Losses, Money, PayBack, Side, Switch};
use crate::impact::UNMARKED;

/// How many messages of a loss are named.
const NAMED: usize = 6;

/// How many losses of a kind stand on lines of their own.
const LISTED: usize = 3;

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, losses, fit, pay_back } = self;
        let named = |side: &Side| format!("{} {}", shown(&side.vendor), shown(&side.model));
        writeln!(f, "# from {} to {}", named(from), named(to))?;
        write!(f, "{losses}{fit}")?;
        writeln!(f, "# prompt cache")?;
        side(f, "stay", from)?;
        side(f, "change", to)?;
        if (&from.counter, from.rate) != (&to.counter, to.rate) {
            let is_other_rate = from.counter == to.counter;
            let [now, new] = [from, to].map(|side| match is_other_rate {
                true => format!("{} times {}", shown(&side.counter), side.rate.ratio()),
                false => shown(&side.counter).into_owned(),
            });
            writeln!(
                f,
                "  counted by {now} and by {new}: part of the difference may be the counting"
            )?;
        }
        write!(f, "{pay_back}")
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.new.is_empty() {
            writeln!(f, "# nothing more is changed or left out")?;
        } else {
            writeln!(f, "# changed or left out at the new model only")?;
            list(f, &self.new)?;
        }
        let thinking = self.thinking;
        if thinking.parts > 0 {
            let (parts, tokens) = (plural(thinking.parts, "part"), thinking.tokens);
            writeln!(f, "  thinking in all           {parts}, {tokens} tokens")?;
        }
        for (heading, losses) in [
            ("# changed or left out at both", &self.both),
            ("# changed or left out at the current model only", &self.regained),
        ] {
            if !losses.is_empty() {
                writeln!(f, "{heading}")?;
                list(f, losses)?;
            }
        }
        Ok(())
    }
}

fn list(f: &mut fmt::Formatter<'_>, losses: &[Loss]) -> fmt::Result {
    for losses in losses.chunk_by(|a, b| a.kind == b.kind) {
        match losses {
            [first, .., last] if losses.len() > LISTED => {
                let count = losses.iter().map(|loss| loss.count).sum::<usize>();
                let [first, last] = [first, last].map(|loss| shown(&loss.detail));
                writeln!(f, "  {:<24}  {count} times · {first} … {last}", losses[0].kind)?;
            }
            losses => losses.iter().try_for_each(|loss| line(f, loss))?,
        }
    }
    Ok(())
}

fn line(f: &mut fmt::Formatter<'_>, loss: &Loss) -> fmt::Result {
    let Loss { kind, detail, count, messages } = loss;
    let mut pieces = Vec::new();
    if *count > 1 {
        pieces.push(format!("{count} times"));
    }
    if !detail.is_empty() {
        pieces.push(shown(detail).into_owned());
    }
    let mut ids: Vec<_> = messages.iter().map(|id| shown(id.as_str())).collect();
    if ids.len() > NAMED {
        ids.truncate(NAMED);
        ids.push("…".into());
    }
    if !ids.is_empty() {
        pieces.push(ids.join(", "));
    }
    writeln!(f, "  {kind:<24}  {}", pieces.join(" · "))
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { window, reserve, tokens, .. } = self;
        let limit = window.saturating_sub(*reserve);
        let heading = if self.fits { "it fits" } else { "it does not fit" };
        let total = tokens.total();
        writeln!(f, "# {heading}: {total} tokens, of {window} less {reserve} for the answer")?;
        let parts = [
            ("system", tokens.system),
            ("summary", tokens.summary),
            ("history", tokens.history),
            ("context", tokens.context),
            ("tools", tokens.tools),
        ];
        let parts = parts.iter().filter(|(_, n)| *n > 0);
        let parts: Vec<String> = parts.map(|(part, n)| format!("{part} {n}")).collect();
        writeln!(f, "  {} (counted by {})", parts.join(", "), tokens.counter)?;
        for finding in &self.gives_way {
            let (kind, names, cause) = (finding.kind, finding.names(), finding.cause);
            writeln!(f, "  {kind:<10} {cause} · {}", shown(&names))?;
        }
        if let Some(left) = self.left {
            writeln!(f, "  {left} of {limit} tokens are left then")?;
        }
        match &self.refused {
            Some(refused) => writeln!(f, "  refused: {}", shown(refused)),
            None => Ok(()),
        }
    }
}

fn side(f: &mut fmt::Formatter<'_>, what: &str, side: &Side) -> fmt::Result {
    let (tokens, price) = (side.tokens, side.price());
    match &side.cost {
        Some(cost) => {
            let (read, written, computed) = (cost.read, cost.written, cost.computed);
            writeln!(
                f,
                "  {what:<8} {read} read, {written} written, {computed} computed of {tokens} tokens: \
                 costs {price:.0}, by {}'s rules",
                cost.rules
            )?;
            match cost.unmarked {
                true => writeln!(f, "           marks: {UNMARKED}"),
                false => Ok(()),
            }
        }
        None => writeln!(
            f,
            "  {what:<8} {tokens} tokens: costs {price:.0}; nothing is known of its cache"
        ),
    }
}

impl fmt::Display for PayBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { each_now, first_now, each_new, first_new, .. } = self;
        writeln!(f, "# when it pays back (in tokens that are not cached)")?;
        for (model, first, each) in [("current", first_now, each_now), ("new", first_new, each_new)]
        {
            writeln!(
                f,
                "  {model} model: {first:.0} for the next request, then about {each:.0} each"
            )?;
        }
        match self.answer {
            Some(answer) => writeln!(f, "  an answer has {answer} tokens")?,
            None => writeln!(f, "  no answer is known, so none is counted")?,
        }
        if let Some(money) = &self.money {
            return money.fmt(f);
        }
        let told = self.break_even.iter().map(|BreakEven { requests, ratio }| {
            format!("  {ratio:>5.2}  within {}\n", plural(*requests, "request"))
        });
        let told: String = told.collect();
        writeln!(
            f,
            "  it pays back if its input price is at most this part of the current one's:"
        )?;
        writeln!(f, "{told}  {:>5.2}  ever", self.in_the_end)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { price_now, price_new, each_now, first_now, each_new, first_new, requests } =
            self;
        for (model, first, each, price) in
            [("current", first_now, each_now, price_now), ("new", first_new, each_new, price_new)]
        {
            writeln!(
                f,
                "  in money, {model} model: {first:.4}, then about {each:.4} each, at {price}"
            )?;
        }
        match requests {
            Some(1) => writeln!(f, "  it pays back with the first request"),
            Some(n) => writeln!(f, "  it pays back after {n} requests"),
            None => writeln!(f, "  it never pays back"),
        }
    }
}
