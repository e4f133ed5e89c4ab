//! How warm a vendor's cache is for a session, and what keeping it so costs.

use std::fmt;

use interleaf_cache::{KeepAlive, Match, Rules, Warmth};
use interleaf_model::{AgentName, Timestamp};
use interleaf_store::SentRequest;
use serde::Serialize;
use smol_str::SmolStr;

use super::Session;
use super::told::Told;
use crate::{Error, Target};

/// How warm a vendor's cache is for an agent's next request, and whether a small request pays
/// that keeps it so. A small request is the last one again, for an answer of one token.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SessionWarmth {
    /// The number of the last request that a model saw.
    pub request: u64,
    /// When it was sent.
    pub at: Timestamp,
    /// The name of the cache's rules.
    pub rules: SmolStr,
    /// What follows from them.
    #[serde(flatten)]
    pub warmth: Warmth,
}

impl Session {
    /// How warm the target's cache is at a time. None, if no model saw a request, the last one that
    /// one saw went to another vendor or model, or nothing is known of the cache.
    ///
    /// ```
    /// use interleaf::assemble::Recipe;
    /// use interleaf::model::Message;
    /// use interleaf::{Session, Target, now, store};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let mut session = Session::create(store::open("memory:").await?, "").await?;
    /// session.append(Message::user(&"word ".repeat(9_000))).await?;
    /// let target = Target::new("openai", "gpt-5")?;
    /// session.record(&Recipe::new(), &target).await?;
    /// let warmth = session.warmth(None, &target, now()?).await?.unwrap();
    /// let keep = warmth.warmth.keep_alive.unwrap();
    /// assert_eq!((keep.every, keep.from), (540, 600));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn warmth(
        &self,
        agent: Option<&AgentName>,
        target: &Target,
        now: Timestamp,
    ) -> Result<Option<SessionWarmth>, Error> {
        let seen = self.seen_at(self.conversation.newest_request(agent)).await?;
        let Some((_, request)) = seen else { return Ok(None) };
        let is_same = request.vendor == target.vendor.name.as_str()
            && request.model == target.options.model.as_str();
        let Some(rules) = target.rules().filter(|_| is_same) else { return Ok(None) };
        let Some(sent) = cached(&request, &rules) else { return Ok(None) };
        let passed = now.as_microseconds().saturating_sub(request.at.as_microseconds());
        let idle = u64::try_from(passed / 1_000_000).unwrap_or(0);
        let warmth = Warmth::of_prompt(&rules, sent, idle);
        let rules = SmolStr::new(&rules.name);
        Ok(Some(SessionWarmth { request: request.no, at: request.at, rules, warmth }))
    }
}

/// The tokens that a request left in the cache, and all that it had: by what the API says, else by
/// what was to be expected.
fn cached(request: &SentRequest, rules: &Rules) -> Option<(u64, u64)> {
    let told = request.usage.filter(|usage| usage.prompt > 0);
    let (marked, prompt) = match told {
        Some(usage) => (usage.cache_read.saturating_add(usage.cache_write), usage.prompt),
        None => {
            let impact = Told::by(request).impact?;
            let marked = impact.cost.as_ref().map_or(0, |cost| cost.read + cost.written);
            (marked, impact.tokens)
        }
    };
    let by_marks = matches!(rules.matches, Match::Marks { .. });
    Some((if by_marks { marked } else { prompt }, prompt))
}

impl fmt::Display for SessionWarmth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Warmth { tokens, idle, lifetime, left, cold, keep_alive, .. } = self.warmth;
        let rules = &self.rules;
        if tokens == 0 {
            return writeln!(f, "the last request left nothing in the cache, by {rules}'s rules");
        }
        let Some(lifetime) = lifetime else {
            return writeln!(f, "how long {rules} keeps a prompt is not known");
        };
        let (kept, idle) = (Seconds(lifetime), Seconds(idle));
        match left {
            Some(0) | None => writeln!(f, "gone: kept for {kept}, last used {idle} ago")?,
            Some(left) => {
                writeln!(f, "kept for {kept}, last used {idle} ago: {} are left", Seconds(left))?
            }
        }
        let Some(keep) = keep_alive else {
            return match left {
                Some(0) | None => Ok(()),
                Some(_) => writeln!(f, "whether a read keeps it for longer is not known"),
            };
        };
        let KeepAlive { every, cost, from, until, chance, .. } = keep;
        let (every, from) = (Seconds(every), Seconds(from));
        writeln!(f, "a small request every {every} costs {cost:.0}, a cold start {cold:.0}")?;
        match until {
            Some(until) if until > keep.from => writeln!(
                f,
                "that pays if the next request comes after {from} and within {}; one alone, if the \
                 chance of that is over {:.0} %",
                Seconds(until),
                chance * 100.0
            ),
            Some(_) => writeln!(f, "that never pays"),
            None => writeln!(f, "that pays if the next request comes after {from}"),
        }
    }
}

/// A stretch of time, in words.
struct Seconds(u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hours, minutes, seconds) = (self.0 / 3600, self.0 / 60 % 60, self.0 % 60);
        let pieces = [(hours, "h"), (minutes, "min"), (seconds, "s")];
        let pieces = pieces.into_iter().filter(|(n, _)| *n > 0);
        let pieces: Vec<String> = pieces.map(|(n, unit)| format!("{n} {unit}")).collect();
        f.write_str(if pieces.is_empty() { "0 s" } else { "" })?;
        f.write_str(&pieces.join(" "))
    }
}
