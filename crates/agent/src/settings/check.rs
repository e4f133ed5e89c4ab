//! What is read without a fault, and yet cannot be meant.

use super::{Misnamed, Setting, Settings};
use crate::tools;
use crate::written::nearest;

impl Settings {
    /// What cannot be meant: models that nobody serves, tools that are not there, limits under
    /// which nothing runs. The agents are tools too.
    pub fn check(&self, agents: &[&str]) -> Vec<Misnamed> {
        let mut wrong: Vec<Misnamed> = self.targets().err().into_iter().collect();
        if wrong.is_empty() {
            wrong.extend(self.fallbacks().err());
        }
        for (name, key) in &self.keys {
            wrong.extend(self.vendor(name).err().map(|rule| Misnamed::new("keys", key, rule)));
        }
        for (name, price) in &self.price {
            wrong.extend(self.target(name).err().map(|rule| Misnamed::new("price", price, rule)));
        }
        if let Some(run) = &self.permissions.run
            && run.value.iter().any(|begin| begin.trim().is_empty())
        {
            let rule = "a blank text begins no command".to_owned();
            wrong.push(Misnamed::new("permissions.run", run, rule));
        }
        if let Some(writer) = &self.compaction.writer
            && let Err(rule) = self.target(&writer.value)
        {
            wrong.push(Misnamed::new("compaction.writer", writer, rule));
        }
        let budget = self.budget.as_ref().map(|set| set.value);
        let budget = budget.or_else(|| Some(self.targets().ok()?.first()?.budget()));
        if let (Some(shares), Some(budget)) = (&self.shares, budget)
            && let Err(error) = shares.value.check(budget.limit())
        {
            wrong.push(Misnamed::new("shares", shares, error.to_string()));
        }
        for named in self.models.values() {
            let rule = self.target(&named.value).err();
            wrong.extend(rule.map(|rule| Misnamed::new("models", named, rule)));
        }
        if let Some(allow) = &self.permissions.allow {
            for word in &allow.value {
                let rule = self.no_tool(word, agents);
                wrong.extend(rule.map(|rule| Misnamed::new("permissions.allow", allow, rule)));
            }
        }
        let limits = &self.limits;
        wrong.extend(nothing("limits.rounds", &limits.rounds));
        wrong.extend(nothing("limits.tokens", &limits.tokens));
        wrong.extend(nothing("limits.money", &limits.money));
        wrong.extend(nothing("limits.time", &limits.time));
        wrong
    }

    fn no_tool(&self, word: &str, agents: &[&str]) -> Option<String> {
        let specs: Vec<_> = tools::all().iter().map(|tool| tool.spec()).collect();
        let mut known: Vec<&str> = tools::groups().collect();
        known.extend(specs.iter().map(|spec| spec.name.as_str()).chain(agents.iter().copied()));
        let server = word.split("__").next().unwrap_or_default();
        let servers = || self.mcp.keys().chain(&self.held_servers);
        let is_known = known.iter().any(|name| *name == word || tools::is_meant(word, name))
            || servers().any(|name| name == server);
        let meant = || nearest(word, known.iter().copied());
        let meant = || meant().map_or_else(String::new, |name| format!(" (did you mean {name}?)"));
        (!is_known).then(|| format!("there is no tool {word:?}{}", meant()))
    }
}

fn nothing<T: Default + PartialEq>(
    key: &'static str,
    set: &Option<Setting<T>>,
) -> Option<Misnamed> {
    let set = set.as_ref().filter(|set| set.value == T::default())?;
    Some(Misnamed::new(key, set, "with none, nothing runs".to_owned()))
}
