//! Commands that show something: `/context`, `/cost`, `/session`.

use std::collections::BTreeMap;

use interleaf::assemble::Tokens;
use interleaf::model::{Finish, Message, Reply, Usage, plural, shown};
use interleaf::wire::Vendor;
use interleaf::{SentContext, Target};
use interleaf_transport::Amount;

use super::Chat;
use crate::failure::{Failure, Stop};
use crate::lines::{batches_text, counts_text};

impl Chat<'_> {
    /// What the model saw of the context in the last request, and what that cost.
    pub(super) fn context(&mut self) -> Result<(), Stop> {
        let opened = self.opened.clone();
        let sent = opened.asked(self.session_mut()?.sent_context())?;
        let Some(sent) = sent else {
            return Err(Failure::new("/context", "no request was made yet").into());
        };
        let request = &sent.request;
        let asked = format!("{} {}", request.vendor, request.model);
        self.output.remark(format_args!(
            "context in request {}, {}",
            request.number,
            shown(&asked)
        ))?;
        self.output.line("  source        message   tokens  cache        cost")?;
        for source in &sent.sources {
            let (name, at, of) = (shown(source.kind.as_str()), source.at, sent.messages);
            let cache = match source.is_read {
                Some(true) => "read",
                Some(false) => "computed",
                None => "–",
            };
            let cost = source.cost.map_or_else(|| "–".to_owned(), |cost| format!("{cost:.0}"));
            let tokens = source.tokens;
            let place = format!("{at} of {of}");
            self.output
                .line(format_args!("  {name:<12} {place:>9} {tokens:>8}  {cache:<8} {cost:>8}"))?;
        }
        if let Some(placement) = &sent.placement {
            self.output.line(format_args!("  rule         {}", shown(&placement.rule)))?;
        }
        self.fill(&sent)?;
        self.cache(&sent)
    }

    /// How full the window was, and of what: the rows add up to the total, and that with what is
    /// kept for the answer and what is free to the window.
    fn fill(&mut self, sent: &SentContext) -> Result<(), Stop> {
        let request = &sent.request;
        let own = self.target()?;
        let budget = match own.vendor.name == request.vendor {
            true => Some((own.budget(), own.options.max_tokens)),
            // Another model was asked then.
            false => Vendor::named(&request.vendor)
                .map(|vendor| (Target::of(vendor.clone(), &request.model).budget(), None)),
        };
        let counted = sent.tokens.as_ref();
        let (total, by) = match (request.usage, counted) {
            (Some(usage), _) => (usage.prompt, "as the API counts".to_owned()),
            (None, Some(tokens)) => (tokens.total(), format!("as {} counts", tokens.counter)),
            (None, None) => return Ok(self.output.remark("window: nobody counted the request")?),
        };
        let window = budget.map_or_else(|| "?".to_owned(), |(budget, _)| budget.window.to_string());
        let part = budget.map(|(budget, _)| 100.0 * total as f64 / budget.window.max(1) as f64);
        let part = part.map(|part| format!(" ({part:.1} %)")).unwrap_or_default();
        self.output
            .remark(format_args!("window: {total} of {window} tokens{part}, {}", shown(&by)))?;
        let mut row = |name: &str, tokens: &dyn std::fmt::Display| {
            self.output.line(format_args!("  {name:<12} {tokens:>18}"))
        };
        match counted {
            Some(tokens) => {
                let rows = parts(sent, tokens, total);
                rows.iter().try_for_each(|(name, tokens)| row(name, tokens))?;
            }
            None => row("parts", &"not counted")?,
        }
        row("total", &total)?;
        let Some((budget, most)) = budget else { return Ok(()) };
        let reserve = budget.reserve.max(most.unwrap_or_default());
        row("for answer", &reserve)?;
        row("free", &(i128::from(budget.window) - i128::from(total) - i128::from(reserve)))?;
        Ok(())
    }

    /// What the cache was expected to give, and what it gave.
    fn cache(&mut self, sent: &SentContext) -> Result<(), Stop> {
        let request = &sent.request;
        self.output.remark("prompt cache")?;
        let Some(impact) = &request.impact else {
            return Ok(self.output.line("  nothing was noted of it")?);
        };
        if let Some(usage) = request.usage {
            let expected = impact.predicted(usage);
            let expected = expected.map_or_else(|| "nobody knows".to_owned(), |n| n.to_string());
            let (read, prompt) = (usage.cache_read, usage.prompt);
            self.output.line(format_args!("  expected     {expected}"))?;
            let verdict = request.verdict.map(|verdict| format!(": {verdict}")).unwrap_or_default();
            self.output.line(format_args!("  reported     {read} of {prompt} tokens{verdict}"))?;
        }
        if let Some(cost) = &impact.cost {
            let (price, unbroken) = (cost.price, cost.unbroken);
            self.output.line(format_args!(
                "  cost         {price:.0}, unbroken {unbroken:.0} (in tokens that are not cached)"
            ))?;
        }
        let against = impact.against.map(|no| format!(" (against request {no})"));
        let cause = impact.cause.to_string();
        let against = against.unwrap_or_default();
        Ok(self.output.line(format_args!("  cause        {}{against}", shown(&cause)))?)
    }

    /// What the session took and cost, by model.
    pub(super) fn cost(&mut self) -> Result<(), Stop> {
        let opened = self.opened.clone();
        let requests = opened.asked(self.session()?.explain(None, None, usize::MAX))?;
        let mut by_model: BTreeMap<(String, String), (usize, Usage)> = BTreeMap::new();
        for request in requests {
            let sum = by_model.entry((request.vendor, request.model)).or_default();
            sum.0 += 1;
            sum.1 += request.usage.unwrap_or_default();
        }
        if by_model.is_empty() {
            return Err(Failure::new("/cost", "no request was made yet").into());
        }
        let currency = self.transport.currency();
        for ((vendor, model), (n, usage)) in by_model {
            let mut reply = Reply::new(Message::assistant(""), Finish::Stop);
            reply.usage = Some(usage);
            let price = self.transport.price(&vendor, &model, &reply);
            let price =
                price.map_or_else(|| "unknown".to_owned(), |price| format!("{currency}{price}"));
            let Usage { prompt, cache_read, completion, .. } = usage;
            let asked = format!("{vendor} {model}");
            self.output.line(format_args!("  {}: {}", shown(&asked), plural(n, "request")))?;
            self.output.line(format_args!(
                "    {prompt} tokens sent, {cache_read} read, {completion} made, price {price}"
            ))?;
        }
        if self.summaries > Amount::default() {
            let price = self.summaries;
            self.output.line(format_args!("  summaries in this chat: price {currency}{price}"))?;
        }
        Ok(())
    }

    /// Which session this is.
    pub(super) fn tell_session(&mut self) -> Result<(), Stop> {
        let session = self.session()?;
        let conversation = session.conversation();
        let lines = [
            format!("  session      {}", session.id()),
            format!("  title        {}", shown(&session.head().title)),
            format!("  messages     {}", counts_text(conversation)),
            format!("  batches      {}", batches_text(conversation)),
            format!("  requests     {}", session.head().next_request),
        ];
        lines.iter().try_for_each(|line| self.output.line(line))?;
        Ok(())
    }
}

/// What the parts of a request take of its total. The texts of the context are counted already; the
/// rest is shared out by what our own counter says of the other parts, so that all of it is the
/// total.
fn parts(sent: &SentContext, tokens: &Tokens, total: u64) -> Vec<(&'static str, u64)> {
    let context: u64 = sent.sources.iter().map(|source| source.tokens).sum();
    let rest = total.saturating_sub(context);
    // In our own count, what stands around the texts of the context.
    let own = u128::from(context) * u128::from(tokens.total()) / u128::from(total.max(1));
    let around = tokens.context.saturating_sub(own as u64);
    let others = [
        ("tools", tokens.tools),
        ("system", tokens.system),
        ("summary", tokens.summary),
        ("history", tokens.history),
        ("around it", around),
    ];
    let weight: u64 = others.iter().map(|(_, tokens)| tokens).sum();
    let (mut taken, mut before) = (0, 0);
    let mut rows: Vec<(&str, u64)> = Vec::new();
    for (name, tokens) in others {
        before += tokens;
        // By sums and not one by one, so that nothing is lost in rounding.
        let upto = u128::from(rest) * u128::from(before) / u128::from(weight.max(1));
        rows.push((name, upto as u64 - taken));
        taken = upto as u64;
    }
    rows.insert(4, ("context", total - taken));
    rows.retain(|(_, tokens)| *tokens > 0);
    rows
}
