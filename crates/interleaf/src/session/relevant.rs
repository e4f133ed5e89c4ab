//! Which messages have most to do with what the user said last, by the store's index of words.

use std::collections::{BTreeSet, HashMap};

use interleaf_model::{MessageId, Role};
use interleaf_store::{Page, Search};

use super::Session;
use crate::Error;

/// The words of the current request that are looked for: the longest ones.
const WORDS: usize = 12;
/// Shorter words say little of what a text is about.
const SHORTEST: usize = 4;
/// As many events with a word are looked at; one that more have says little.
const EVENTS: usize = 200;
/// For each turn that is wanted, as many events are read.
const EVENTS_PER_TURN: usize = 8;

impl Session {
    /// Messages with words of what the user said last, those with rare ones first. `n` turns
    /// are wanted.
    pub(super) async fn relevant(&self, n: usize) -> Result<Vec<MessageId>, Error> {
        let mut scores: HashMap<u64, f64> = HashMap::new();
        for word in self.asked_words() {
            let search = Search { query: word, session: Some(self.id()), limit: EVENTS };
            let found = self.store.search(search).await.map_err(Error::store)?;
            let weight = 1.0 / found.len().max(1) as f64;
            found.iter().for_each(|found| *scores.entry(found.seq).or_default() += weight);
        }
        let mut scores: Vec<(u64, f64)> = scores.into_iter().collect();
        scores.sort_by(|(a_seq, a), (b_seq, b)| b.total_cmp(a).then(b_seq.cmp(a_seq)));
        let mut ids = Vec::new();
        for (seq, _) in scores.into_iter().take(n.saturating_mul(EVENTS_PER_TURN)) {
            let page = self.store.events(self.id(), Page::from(seq, 1)).await;
            for stored in page.map_err(Error::store)? {
                let event = stored.event().map_err(Error::store)?;
                ids.extend(event.messages().map(|message| message.id.clone()));
            }
        }
        Ok(ids)
    }

    /// The words of the user's last message that say most.
    fn asked_words(&self) -> Vec<String> {
        let mut said = self.conversation.visible().rev();
        let last = said.find(|message| message.role() == Role::User && !message.is_blank());
        let text = last.map(|message| message.text().to_lowercase()).unwrap_or_default();
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words: BTreeSet<&str> = words.filter(|word| word.chars().count() >= SHORTEST).collect();
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
        words.truncate(WORDS);
        words
    }
}
