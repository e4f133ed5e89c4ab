//! A prompt cache by the vendors' rules, in simple form.
//!
//! | API | what is found again | least | kept |
//! |---|---|---|---|
//! | OpenAI | the longest common prefix, in steps of 128 tokens (GPT-5.5: 2,048) | 1,024 | 10 minutes after the last use (GPT-5.5: 24 hours) |
//! | OpenAI, GPT-5.6 and later | a prefix that was written at a breakpoint, as at a mark of Anthropic's; the newest input is one unless the options say otherwise | 1,024 | 30 minutes or 12 hours after the last use |
//! | Anthropic, Bedrock | a prefix that was written at a mark, seen from a mark at most 20 blocks on | by model | 5 minutes or an hour after the last use |
//! | Gemini | the longest common prefix | 4,096 (2.5: 2,048) | an hour after the last use |
//!
//! Not kept here: Gemini's explicit caches, and what no vendor promises (eviction, routing to
//! other machines).

use std::collections::HashMap;

use xxhash_rust::xxh3::Xxh3;

use crate::asked::Ttl;
use crate::openai::marks::caches_at_breakpoints;
use crate::tokens::Rendered;
use crate::{Api, Usage};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * 60;

/// This many marks are heeded, the last ones.
const MOST_MARKS: usize = 4;

/// From a mark, this many blocks are looked at, its own included.
const LOOKBACK: usize = 20;

/// What was cached for one client.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// By key, model and the client's cache key.
    scopes: HashMap<String, Scope>,
}

#[derive(Debug, Default)]
struct Scope {
    /// Whole prompts, and when they were last used.
    prompts: Vec<(Vec<u64>, u64)>,
    /// Marked prefixes by their hash: how long they live, and until when.
    marked: HashMap<u64, (u64, u64)>,
}

impl Cache {
    /// What of a prompt is read and written. Both are noted for the next.
    pub(crate) fn request(
        &mut self,
        scope: String,
        (api, model, salt): (Api, &str, &str),
        prompt: &Rendered,
        now: u64,
    ) -> Usage {
        let scope = self.scopes.entry(scope).or_default();
        match api {
            Api::OpenAiChat | Api::OpenAiResponses if caches_at_breakpoints(model) => {
                scope.by_marks(prompt, salt, 1_024, [30 * MINUTE, 12 * HOUR], now)
            }
            Api::OpenAiChat | Api::OpenAiResponses => {
                let is_kept_long = model.starts_with("gpt-5.5");
                let (step, life) =
                    if is_kept_long { (2_048, 24 * HOUR) } else { (128, 10 * MINUTE) };
                scope.by_prefix(prompt, step, 1_024, life, now)
            }
            Api::Gemini => {
                let least = if model.starts_with("gemini-2.5") { 2_048 } else { 4_096 };
                scope.by_prefix(prompt, 1, least, HOUR, now)
            }
            Api::Anthropic | Api::Bedrock => {
                scope.by_marks(prompt, salt, least(model), [5 * MINUTE, HOUR], now)
            }
        }
    }
}

/// The least tokens that Anthropic caches.
fn least(model: &str) -> usize {
    #[rustfmt::skip]
    const ROWS: &[(&str, usize)] = &[
        ("opus-4-8", 1_024), ("opus-4-7", 2_048), ("opus-4-6", 4_096), ("opus-4-5", 4_096),
        ("haiku-4-5", 4_096), ("3-5-haiku", 2_048), ("haiku-3-5", 2_048), ("opus-5", 512),
        ("fable-5", 512), ("mythos-5", 512), ("sonnet-5-5", 512), ("haiku-5-5", 512),
        ("nova", 1_000),
    ];
    ROWS.iter().find(|(name, _)| model.contains(name)).map_or(1_024, |(_, least)| *least)
}

impl Scope {
    fn by_prefix(
        &mut self,
        prompt: &Rendered,
        step: usize,
        least: usize,
        life: u64,
        now: u64,
    ) -> Usage {
        self.prompts.retain(|(_, used)| now.saturating_sub(*used) < life);
        let mut read = 0;
        for (earlier, used) in &mut self.prompts {
            let common = earlier.iter().zip(&prompt.tokens).take_while(|(a, b)| a == b).count();
            let common = common / step * step;
            if common >= least {
                *used = now;
                read = read.max(common);
            }
        }
        if prompt.tokens.len() >= least {
            self.prompts.push((prompt.tokens.clone(), now));
        }
        let read = read as u64;
        Usage { read, uncached: prompt.len() - read, ..Usage::default() }
    }

    /// `lives`: how long a prefix is kept after the shorter and the longer kind of mark.
    fn by_marks(
        &mut self,
        prompt: &Rendered,
        salt: &str,
        least: usize,
        lives: [u64; 2],
        now: u64,
    ) -> Usage {
        self.marked.retain(|_, (_, until)| now < *until);
        let hashes = hashes(prompt, salt);
        let marks: Vec<usize> =
            (0..prompt.blocks.len()).filter(|i| prompt.blocks[*i].mark.is_some()).collect();
        // No more are heeded; Anthropic refuses them.
        let marks = &marks[marks.len().saturating_sub(MOST_MARKS)..];
        let mut read = 0;
        for &mark in marks {
            let seen = (mark.saturating_sub(LOOKBACK - 1)..=mark).rev();
            if let Some(found) = seen.into_iter().find(|i| self.marked.contains_key(&hashes[*i])) {
                if let Some((life, until)) = self.marked.get_mut(&hashes[found]) {
                    *until = now + *life;
                }
                read = read.max(prompt.blocks[found].end);
            }
        }
        let mut usage = Usage { read: read as u64, ..Usage::default() };
        let mut done = read;
        for &mark in marks {
            let block = prompt.blocks[mark];
            if block.end < least || block.end <= read {
                continue;
            }
            let is_hour = block.mark == Some(Ttl::Hour);
            let life = lives[usize::from(is_hour)];
            self.marked.insert(hashes[mark], (life, now + life));
            let written = (block.end - done) as u64;
            match is_hour {
                true => usage.written_hour += written,
                false => usage.written += written,
            }
            done = block.end;
        }
        usage.uncached = prompt.len() - done as u64;
        usage
    }
}

/// The hash of the prompt up to the end of each block.
fn hashes(prompt: &Rendered, salt: &str) -> Vec<u64> {
    let mut hash = Xxh3::new();
    let mut at = 0;
    let mut hashes = Vec::with_capacity(prompt.blocks.len());
    for (i, block) in prompt.blocks.iter().enumerate() {
        if i == prompt.turns_at {
            hash.update(salt.as_bytes());
        }
        for token in &prompt.tokens[at..block.end] {
            hash.update(&token.to_le_bytes());
        }
        // Where a block ends matters: the same text in two blocks is another prompt.
        hash.update(&[0xff]);
        at = block.end;
        hashes.push(hash.digest());
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Block;
    use interleaf_cache::{Match, Rules};

    /// A prompt of this many tokens, marked at its end.
    fn prompt(n: usize) -> Rendered {
        let block = Block { end: n, mark: Some(Ttl::Minutes) };
        Rendered { tokens: (0..n as u64).collect(), blocks: vec![block], turns_at: 0 }
    }

    /// What is read of a prompt that is sent again after a pause.
    fn read_again(api: Api, model: &str, n: usize, pause: u64) -> u64 {
        let mut cache = Cache::default();
        let mut send = |at| cache.request(String::new(), (api, model, ""), &prompt(n), at).read;
        assert_eq!(send(0), 0);
        send(pause)
    }

    #[test]
    fn the_least_that_is_kept_its_steps_and_its_life_are_those_of_the_cache_models() {
        let openai =
            ["gpt-4o", "gpt-4.1", "gpt-5", "gpt-5.5", "gpt-5.6", "gpt-5.7", "gpt-6.1", "o3"];
        let claude = [
            "claude-opus-5",
            "claude-opus-5-5",
            "claude-sonnet-5-5",
            "claude-haiku-5-5",
            "claude-fable-5",
            "claude-mythos-5-1",
            "claude-opus-4-8",
            "claude-opus-4-7",
            "claude-opus-4-6",
            "claude-opus-4-5",
            "claude-opus-4-1",
            "claude-sonnet-5",
            "claude-sonnet-4-6",
            "claude-sonnet-4-5",
            "claude-haiku-4-5",
            "claude-3-5-haiku-latest",
        ];
        let on_bedrock = claude.map(|name| format!("us.anthropic.{name}-v1:0"));
        let nova = ["us.amazon.nova-pro-v1:0".to_owned()];
        let rows = openai.map(|name| (Api::OpenAiChat, "openai", name.to_owned()));
        let rows = rows.into_iter().chain(claude.map(|m| (Api::Anthropic, "anthropic", m.into())));
        let bedrock = on_bedrock.into_iter().chain(nova).map(|m| (Api::Bedrock, "bedrock", m));
        let gemini = ["gemini-2.5-pro", "gemini-3-pro"].map(|m| (Api::Gemini, "google", m.into()));
        for (api, vendor, model) in rows.chain(bedrock).chain(gemini) {
            let rules = Rules::of_model(vendor, &model).unwrap();
            let least = rules.minimum.max(rules.matches.step());
            assert_eq!(read_again(api, &model, least as usize - 1, 0), 0, "{model}");
            let read = read_again(api, &model, least as usize + 1, 0);
            let step = rules.matches.step();
            let whole = match rules.matches {
                Match::Marks { .. } => least + 1,
                _ => (least + 1) / step * step,
            };
            assert_eq!(read, whole, "{model}");
            if let Some(life) = rules.lifetime {
                assert!(read_again(api, &model, least as usize, life - 1) > 0, "{model}");
                assert_eq!(read_again(api, &model, least as usize, life + 1), 0, "{model}");
            }
        }
    }
}
