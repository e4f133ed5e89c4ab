//! The report on a change of model, for people.

use std::fmt;

use interleaf_model::shown;

use super::{Fit, Loss, Losses, Money, PayBack, Side, Switch};

/// How many messages of a loss are named.
const NAMED: usize = 6;

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, losses, fit, pay_back } = self;
        let named = |side: &Side| format!("{} {}", side.vendor, side.model);
        writeln!(f, "# from {} to {}", named(from), named(to))?;
        write!(f, "{losses}{fit}")?;
        writeln!(f, "# prompt cache")?;
        side(f, "stay", from)?;
        side(f, "change", to)?;
        write!(f, "{pay_back}")
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.new.is_empty() {
            writeln!(f, "# nothing more is lost")?;
        } else {
            writeln!(f, "# lost by the change")?;
            list(f, &self.new)?;
        }
        let thinking = self.thinking;
        if thinking.parts > 0 {
            let (parts, tokens) = (thinking.parts, thinking.tokens);
            let s = if parts == 1 { "" } else { "s" };
            writeln!(f, "  thinking in all           {parts} part{s}, {tokens} tokens")?;
        }
        for (heading, losses) in [
            ("# lost at the current model as well", &self.both),
            ("# lost at the current model only", &self.regained),
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
    for Loss { kind, detail, count, messages } in losses {
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
        writeln!(f, "  {kind:<24}  {}", pieces.join(" · "))?;
    }
    Ok(())
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
            )
        }
        None => writeln!(
            f,
            "  {what:<8} {tokens} tokens: costs {price:.0}; nothing is known of its cache"
        ),
    }
}

impl fmt::Display for PayBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, each_now, each_new, first_new, .. } = self;
        let like = match samples {
            1 => "like the next one".to_owned(),
            n => format!("like the last {n}"),
        };
        writeln!(f, "# when it pays back (plain tokens: 1)")?;
        writeln!(
            f,
            "  a request {like} costs {each_now:.0} there and {each_new:.0} here, the first {first_new:.0}"
        )?;
        if let Some(money) = &self.money {
            return money.fmt(f);
        }
        let told: Vec<String> = self
            .break_even
            .iter()
            .map(|at| format!("{} {:.2}", at.requests, at.ratio))
            .collect();
        writeln!(
            f,
            "  within so many requests, if its input price is at most this part of the current one's:"
        )?;
        writeln!(f, "  {}; never above {:.2}", told.join(", "), self.in_the_end)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { price_now, price_new, each_now, each_new, first_new, requests } = self;
        writeln!(
            f,
            "  with its answer, {each_now:.4} at {price_now}, and {each_new:.4} at {price_new}, \
             the first {first_new:.4}"
        )?;
        match requests {
            Some(1) => writeln!(f, "  it pays back with the first request"),
            Some(n) => writeln!(f, "  it pays back after {n} requests"),
            None => writeln!(f, "  it never pays back"),
        }
    }
}
