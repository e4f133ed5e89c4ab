//! What a request that was sent showed of the context, and what that took.

use std::sync::Arc;

use interleaf_assemble::{Agent, FencedContext, Ledger, Placement, Tokens};
use interleaf_cache::Rules;
use interleaf_model::{ContextKind, Message, Usage};
use interleaf_store::Page;
use interleaf_wire::{Family, Vendor, decode_request};

use super::Session;
use super::told::Told;
use crate::{Error, ExplainedRequest, read};

/// What a request that was sent showed of the context, and what that took.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SentContext {
    /// The request, with what its cache was expected to give, and what it gave.
    pub request: ExplainedRequest,
    /// Where the context block went; none, if there was none.
    pub placement: Option<Placement>,
    /// What its parts took by our count, if that was counted.
    pub tokens: Option<Tokens>,
    /// How many messages it had.
    pub messages: usize,
    /// The texts of the context, in their order.
    pub sources: Vec<SentSource>,
}

/// A text of the context in a request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SentSource {
    /// What it is about.
    pub kind: ContextKind,
    /// The index of its message in the request.
    pub at: usize,
    /// Its tokens, as near to the API's count as they are known.
    pub tokens: u64,
    /// Whether the cache had it, as far as the API's figures tell.
    pub is_read: Option<bool>,
    /// What it cost, in tokens that are not cached, if the rules of the cache are known.
    pub cost: Option<f64>,
}

impl Session {
    /// What the main agent's last request showed of the context. None, if there was no request.
    ///
    /// # Errors
    /// If the store refuses, or the body cannot be read.
    pub async fn sent_context(&mut self) -> Result<Option<SentContext>, Error> {
        let Some(request) = self.explain(Some(&Agent::Main), None, 1).await?.pop() else {
            return Ok(None);
        };
        let page = self.requests(Page::from(request.number, 1)).await?;
        let Told { placement, tokens, .. } = page.first().map(Told::by).unwrap_or_default();
        let body = self.rebuild_whole(request.number).await?;
        let body = String::from_utf8_lossy(&body);
        let family = Vendor::named(&request.vendor).map(|vendor| vendor.family);
        let family = family.or_else(|| read::request_family(&body)).unwrap_or(Family::OpenaiChat);
        let sent = decode_request(family, &body).map_err(Error::wire)?;
        let ledger = self.ledger(&request.model).await?;
        let rules = Rules::of_model(&request.vendor, &request.model);
        let counting = Counting { ledger: &ledger, usage: request.usage, rules };
        let sources = counting.sources(&sent.messages, ledger.tools(&sent.tools));
        let messages = sent.messages.len();
        Ok(Some(SentContext { request, placement, tokens, messages, sources }))
    }
}

/// What the texts of a request are counted by.
struct Counting<'a> {
    ledger: &'a Ledger,
    usage: Option<Usage>,
    rules: Option<Rules>,
}

impl Counting<'_> {
    /// The texts of the context, after tools of so many tokens.
    fn sources(&self, messages: &[Message], tools: u64) -> Vec<SentSource> {
        let counts: Vec<u64> = messages
            .iter()
            .map(|message| self.ledger.message(&Arc::new(message.clone())))
            .collect();
        let total = tools + counts.iter().sum::<u64>();
        let by_api = self.usage.map_or(1.0, |usage| usage.prompt as f64 / total.max(1) as f64);
        let mut sources = Vec::new();
        let mut before = tools;
        for (at, (message, count)) in messages.iter().zip(&counts).enumerate() {
            let mut within = before;
            for text in message.texts() {
                let tokens = self.ledger.text(text);
                within += tokens;
                let Some(context) = FencedContext::read(text) else { continue };
                let [tokens, end] = [tokens, within].map(|n| (n as f64 * by_api).round() as u64);
                let (is_read, cost) = self.price(tokens, end);
                sources.push(SentSource { kind: context.kind, at, tokens, is_read, cost });
            }
            before += count;
        }
        sources
    }

    /// Whether tokens that end there were read, and what they cost.
    fn price(&self, tokens: u64, end: u64) -> (Option<bool>, Option<f64>) {
        let Some(usage) = self.usage else { return (None, None) };
        let is_read = end <= usage.cache_read;
        let is_written = !is_read && end <= usage.cache_read + usage.cache_write;
        let cost = self.rules.as_ref().map(|rules| {
            let factor = match (is_read, is_written) {
                (true, _) => rules.prices.read,
                (false, true) => rules.prices.write,
                (false, false) => 1.0,
            };
            tokens as f64 * factor
        });
        (Some(is_read), cost)
    }
}
