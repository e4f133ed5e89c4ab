//! A text that is heard while it comes.
//!
//! Words are handed on as soon as no call can begin in them, calls as soon as the block that
//! they stand in is closed, and the rest at the end. However the text is cut into pieces, the
//! pieces handed on add up to the same.

use std::sync::Arc;

use interleaf_model::Spoken;

use super::TextTools;
use super::speech::close_at;
use super::watch::Watch;

/// After this many ends of blocks, calls come at the end of the text: each costs a look at all
/// that stands before it.
const MOST_BLOCKS: usize = 8;

/// Hears a text while it comes.
#[derive(Debug)]
pub struct Listener {
    tools: Arc<TextTools>,
    text: String,
    watch: Watch,
    /// What was handed on.
    told: Vec<Spoken>,
    /// Up to where the end of a block was looked for.
    looked: usize,
    n_blocks: usize,
}

impl Listener {
    /// Nothing was heard yet.
    pub fn new(tools: Arc<TextTools>) -> Self {
        let (text, watch, told) = (String::new(), Watch::default(), Vec::new());
        Self { tools, text, watch, told, looked: 0, n_blocks: 0 }
    }

    /// Takes more of the text, and gives what is certain now.
    pub fn push(&mut self, more: &str) -> Vec<Spoken> {
        self.text.push_str(more);
        self.watch.look(&self.text, &self.tools.tools);
        let mut new = Vec::new();
        // White space before a call is no part of what is said.
        let certain = self.text[..self.watch.certain()].trim_end();
        if certain.len() > self.shown() {
            let certain = certain.to_owned();
            new = self.tell(vec![Spoken::Text(certain)]);
        }
        if self.watch.is_held() {
            new.extend(self.closed());
        }
        new
    }

    /// Takes the end of the text, and gives the rest.
    pub fn finish(&mut self) -> Vec<Spoken> {
        let all = self.tools.speech(&self.text, false);
        self.tell(all)
    }

    /// How much of the text was handed on as words, if nothing else was.
    fn shown(&self) -> usize {
        match self.told.first() {
            Some(Spoken::Text(text)) => text.len(),
            Some(Spoken::Call { .. }) | None => 0,
        }
    }

    /// What the blocks say that were closed since.
    fn closed(&mut self) -> Vec<Spoken> {
        let mut new = Vec::new();
        while let Some(found) = self.text[self.looked..].find("</") {
            let at = self.looked + found;
            // The tag may still be coming.
            let Some(end) = self.text[at..].find('>').map(|end| at + end + 1) else { break };
            self.looked = at + 2;
            let Some(close) = close_at(&self.text, at) else { continue };
            self.looked = end.max(close);
            self.n_blocks += 1;
            if self.n_blocks <= MOST_BLOCKS
                && let Some((spoken, _)) = self.tools.closed_speech(&self.text, Some(close))
            {
                new.extend(self.tell(spoken));
            }
        }
        new
    }

    /// Gives what is new in all that is said so far. Where it does not go on from what was
    /// handed on, only further calls are.
    fn tell(&mut self, all: Vec<Spoken>) -> Vec<Spoken> {
        let n_calls = self.told.iter().filter(|told| matches!(told, Spoken::Call { .. })).count();
        let goes_on = |(n, told): (usize, &Spoken)| match (told, all.get(n)) {
            (Spoken::Text(told), Some(Spoken::Text(all))) if n + 1 == self.told.len() => {
                all.starts_with(told.as_str())
            }
            (told, all) => all == Some(told),
        };
        let goes_on = self.told.iter().enumerate().all(goes_on);
        let mut new = Vec::new();
        if !goes_on {
            let calls = all.into_iter().filter(|own| matches!(own, Spoken::Call { .. }));
            new.extend(calls.skip(n_calls));
            self.told.extend(new.iter().cloned());
            return new;
        }
        let last = self.told.len().saturating_sub(1);
        for (n, own) in all.iter().enumerate().skip(last) {
            match (self.told.get(n), own) {
                (Some(Spoken::Text(told)), Spoken::Text(own)) if told.len() < own.len() => {
                    new.push(Spoken::Text(own[told.len()..].to_owned()));
                }
                (Some(_), _) => {}
                (None, own) => new.push(own.clone()),
            }
        }
        self.told = all;
        new
    }
}
