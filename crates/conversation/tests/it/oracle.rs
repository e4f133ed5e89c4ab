//! A conversation that is too simple to be wrong: plain vectors, searched from end
//! to end, copied whole. It follows the mission's text, not the crate's code.

use std::collections::BTreeMap;

use interleaf_conversation::{
    Clear, Filter, Insert, Operation, Others, PINNED, Pick, Query, Replace, Scope, Truncate,
};
use interleaf_model::{AgentName, Message, MessageId, Origin, Role, ToolName, Usage};

/// Everything that is known of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Oracle {
    pub(crate) log: Vec<Message>,
    pub(crate) view: Vec<usize>,
    pub(crate) marks: Vec<(usize, String)>,
    /// The batches that have ended.
    pub(crate) ended: Vec<Ended>,
    /// What began the current batch, and its boundary.
    pub(crate) cause: Option<&'static str>,
    pub(crate) boundary: Option<usize>,
    pub(crate) current: Usage,
    pub(crate) cumulative: Usage,
    pub(crate) lifetime: Usage,
    /// Current, cumulative and lifetime of each sub-agent.
    pub(crate) agents: BTreeMap<AgentName, [Usage; 3]>,
    /// The view when the last request was made, unless an operation changed it since.
    pub(crate) requested: Option<Vec<usize>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ended {
    pub(crate) cause: Option<&'static str>,
    pub(crate) boundary: Option<usize>,
    pub(crate) view: Vec<usize>,
    pub(crate) marks: Vec<(usize, String)>,
    pub(crate) cumulative: Usage,
    pub(crate) agents: BTreeMap<AgentName, [Usage; 3]>,
}

/// The settings or the message are not acceptable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Refused;

/// What an operation led to, beside the new view. All are log indices.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) changed: bool,
    pub(crate) hidden: Vec<usize>,
    pub(crate) added: Vec<usize>,
    /// Visible against the letter of the operation.
    pub(crate) kept_anyway: Vec<usize>,
    /// Hidden against the letter of the operation.
    pub(crate) hidden_anyway: Vec<usize>,
    /// Put elsewhere than the operation says.
    pub(crate) moved: Vec<usize>,
}

/// Changing.
impl Oracle {
    pub(crate) fn append(&mut self, message: &Message) -> Result<(), Refused> {
        acceptable(message)?;
        self.has_free_id(message)?;
        self.view.push(self.log.len());
        self.store(message);
        Ok(())
    }

    pub(crate) fn operate(&mut self, operation: &Operation) -> Result<Outcome, Refused> {
        let old = self.view.clone();
        let mut outcome = Outcome::default();
        let new = match operation {
            Operation::Truncate(truncate) => {
                let letter = self.truncated(truncate)?;
                let mut stays = letter.clone();
                if truncate.role.is_none() && truncate.keep_system != Some(false) {
                    for (position, message) in self.visible().enumerate() {
                        stays[position] |= message.role() == Role::System;
                    }
                }
                for block in self.pinned_with_their_blocks() {
                    block.iter().for_each(|&position| stays[position] = true);
                }
                if !truncate.split_blocks {
                    self.unite_blocks(&mut stays);
                }
                self.hide(&letter, &stays, &mut outcome)
            }
            Operation::Filter(filter) => {
                let letter = self.filtered(filter)?;
                let mut stays = letter.clone();
                if !filter.split_blocks {
                    self.unite_blocks(&mut stays);
                }
                self.hide(&letter, &stays, &mut outcome)
            }
            Operation::Clear(Clear { keep_system }) => {
                let stays: Vec<bool> =
                    self.visible().map(|m| *keep_system && m.role() == Role::System).collect();
                self.hide(&stays, &stays, &mut outcome)
            }
            Operation::Insert(insert) => self.inserted(insert, &mut outcome)?,
            Operation::Replace(replace) => self.replaced(replace, &mut outcome)?,
        };
        outcome.hidden = old.iter().copied().filter(|index| !new.contains(index)).collect();
        outcome.changed = new != old;
        if outcome.changed {
            self.begin_batch(operation.name(), new);
        }
        Ok(outcome)
    }

    pub(crate) fn mark(&mut self, index: usize, mark: &str) -> Result<(), Refused> {
        if index >= self.log.len() || mark.trim().is_empty() {
            return Err(Refused);
        }
        self.unmark(index, mark)?;
        self.marks.push((index, mark.to_owned()));
        Ok(())
    }

    pub(crate) fn unmark(&mut self, index: usize, mark: &str) -> Result<(), Refused> {
        if index >= self.log.len() {
            return Err(Refused);
        }
        self.marks.retain(|(i, m)| *i != index || m != mark);
        Ok(())
    }

    pub(crate) fn roll_back(&mut self, batch: usize) -> Result<(), Refused> {
        if batch > self.ended.len() {
            return Err(Refused);
        }
        if let Some(Ended { view, marks, cumulative, agents, .. }) = self.ended.get(batch).cloned()
        {
            self.begin_batch("roll_back", view);
            self.marks = marks;
            self.cumulative = cumulative;
            for (name, [_, cumulative, _]) in &mut self.agents {
                *cumulative = agents.get(name).map(|used| used[1]).unwrap_or_default();
            }
        }
        Ok(())
    }

    pub(crate) fn reset(&mut self) {
        self.begin_batch("reset", Vec::new());
        self.current = Usage::default();
        self.cumulative = Usage::default();
        for [current, cumulative, _] in self.agents.values_mut() {
            (*current, *cumulative) = (Usage::default(), Usage::default());
        }
    }

    pub(crate) fn begin_request(&mut self, agent: Option<AgentName>) {
        if let Some(agent) = agent {
            self.agents.entry(agent).or_default()[0] = Usage::default();
            return;
        }
        self.current = Usage::default();
        self.requested = Some(self.view.clone());
    }

    pub(crate) fn note_usage(&mut self, usage: Usage, agent: Option<AgentName>) {
        if let Some(agent) = agent {
            let [current, cumulative, lifetime] = self.agents.entry(agent).or_default();
            *cumulative = instead(*cumulative, *current, usage);
            *lifetime = instead(*lifetime, *current, usage);
            *current = usage;
            return;
        }
        self.cumulative = instead(self.cumulative, self.current, usage);
        self.lifetime = instead(self.lifetime, self.current, usage);
        self.current = usage;
    }

    fn store(&mut self, message: &Message) {
        let mut message = message.clone();
        if message.id == MessageId::default() {
            let place = self.log.len();
            let is_taken = |id: &str| self.log.iter().any(|known| known.id.as_str() == id);
            let others = (2..).map(|n| format!("m{place}_{n}"));
            let mut ids = std::iter::once(format!("m{place}")).chain(others);
            message.id = MessageId::new(ids.find(|id| !is_taken(id)).unwrap());
        }
        self.log.push(message);
    }

    fn begin_batch(&mut self, cause: &'static str, view: Vec<usize>) {
        self.ended.push(Ended {
            cause: self.cause,
            boundary: self.boundary,
            view: std::mem::replace(&mut self.view, view),
            marks: self.marks.clone(),
            cumulative: self.cumulative,
            agents: self.agents.clone(),
        });
        self.cause = Some(cause);
        self.boundary = self.view.iter().copied().min();
        self.requested = None;
    }
}

/// Asking.
impl Oracle {
    pub(crate) fn visible(&self) -> impl Iterator<Item = &Message> {
        self.view.iter().map(|&index| &self.log[index])
    }

    pub(crate) fn has_mark(&self, index: usize, mark: &str) -> bool {
        self.marks.iter().any(|(i, m)| *i == index && m == mark)
    }

    /// Log index and, in the view, position of each message that answers.
    pub(crate) fn query(&self, query: &Query) -> Result<Vec<(usize, Option<usize>)>, Refused> {
        let mut found: Vec<(usize, Option<usize>)> = match query.scope {
            Scope::View => self.view.iter().enumerate().map(|(p, &i)| (i, Some(p))).collect(),
            Scope::Log => (0..self.log.len()).map(|i| (i, None)).collect(),
        };
        if !query.roles.is_empty() {
            found.retain(|&(i, _)| query.roles.contains(&self.log[i].role()));
        }
        if let Some(since) = query.since {
            found.retain(|&(i, _)| self.log[i].at.is_some_and(|at| since <= at));
        }
        if let Some(until) = query.until {
            found.retain(|&(i, _)| self.log[i].at.is_some_and(|at| at < until));
        }
        for mark in &query.marks {
            found.retain(|&(i, _)| self.has_mark(i, mark));
        }
        if !query.tools.is_empty() {
            found.retain(|&(i, _)| self.concerns(i, &query.tools));
        }
        if !query.contains.is_empty() {
            let says =
                |i: usize, text: &str| self.log[i].texts().any(|own| own.find(text).is_some());
            found.retain(|&(i, _)| query.contains.iter().any(|text| says(i, text)));
        }
        let wanted = picked(self.turn_starts(query.scope), query.turns)?;
        if query.turns != Pick::All {
            let place = |(i, position): (usize, Option<usize>)| position.unwrap_or(i);
            found.retain(|&hit| wanted.iter().any(|turn| turn.contains(&place(hit))));
        }
        picked(found, query.pick)
    }

    /// Whether a message calls one of the tools, or answers such a call.
    fn concerns(&self, index: usize, tools: &[ToolName]) -> bool {
        let message = &self.log[index];
        let calls = message.calls().any(|call| tools.contains(&call.name));
        let Some(result) = message.as_result() else { return calls };
        let mut said = self.log.iter().flat_map(|message| message.calls());
        match &result.name {
            Some(name) => tools.contains(name),
            None => said.any(|call| call.id == result.call && tools.contains(&call.name)),
        }
    }

    /// The places of each turn.
    fn turn_starts(&self, scope: Scope) -> Vec<std::ops::Range<usize>> {
        let messages: Vec<&Message> = match scope {
            Scope::View => self.visible().collect(),
            Scope::Log => self.log.iter().collect(),
        };
        let starts = (0..messages.len()).filter(|&place| messages[place].role() == Role::User);
        let mut turns: Vec<std::ops::Range<usize>> = starts.map(|at| at..messages.len()).collect();
        for next in 1..turns.len() {
            turns[next - 1].end = turns[next].start;
        }
        turns
    }

    /// The prompt of the last request and what came since, if that says something
    /// of the next request.
    pub(crate) fn fill(&self) -> Option<(u64, Vec<&Message>)> {
        let requested = self.requested.as_ref()?;
        let added = self.visible().skip(requested.len());
        let added = added.filter(|message| message.origin == Origin::Main).collect();
        (self.current.prompt > 0).then_some((self.current.prompt, added))
    }

    /// The positions of each tool block: the assistant message and those results
    /// after it that no later message claims.
    pub(crate) fn blocks(&self) -> Vec<Vec<usize>> {
        let visible: Vec<&Message> = self.visible().collect();
        let owner = |position: usize| {
            let id = &visible[position].as_result()?.call;
            let made = |&p: &usize| visible[p].calls().any(|call| call.id == *id);
            let own = |p: &usize| made(p) && visible[*p].origin == visible[position].origin;
            (0..position).rev().find(own).or_else(|| (0..position).rev().find(made))
        };
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        for (position, message) in visible.iter().enumerate() {
            if message.calls().count() > 0 {
                blocks.push(vec![position]);
            } else if let Some(caller) = owner(position) {
                let block = blocks.iter_mut().rev().find(|block| block[0] == caller);
                block.into_iter().for_each(|block| block.push(position));
            }
        }
        blocks
    }
}

/// Working out what an operation does.
impl Oracle {
    fn has_free_id(&self, message: &Message) -> Result<(), Refused> {
        let is_taken = self.log.iter().any(|known| known.id == message.id);
        if is_taken { Err(Refused) } else { Ok(()) }
    }

    /// Which visible messages the letter of a truncation leaves visible.
    fn truncated(&self, truncate: &Truncate) -> Result<Vec<bool>, Refused> {
        let t = truncate;
        let chosen: Vec<usize> = (0..self.view.len())
            .filter(|&p| t.role.is_none_or(|role| self.log[self.view[p]].role() == role))
            .collect();
        let count = chosen.len();
        let stay: Vec<usize> =
            match (t.keep_first, t.keep_last, t.remove_first, t.remove_last, t.range) {
                (None, None, None, None, None) => return Err(Refused),
                (first, last, None, None, None) => {
                    let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
                    let near_an_end = |n: usize| n < first || count - n <= last;
                    (0..count).filter(|&n| near_an_end(n)).collect()
                }
                (None, None, first, last, None) => {
                    let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
                    if first > count || last > count - first {
                        return Err(Refused);
                    }
                    (first..count - last).collect()
                }
                (None, None, None, None, Some(span)) => {
                    if span.start > span.end || span.end > count {
                        return Err(Refused);
                    }
                    (span.start..span.end).collect()
                }
                _ => return Err(Refused),
            };
        if t.role.is_none() && t.others.is_some() || t.role.is_some() && t.keep_system.is_some() {
            return Err(Refused);
        }
        let mut stays = vec![t.others == Some(Others::Keep); self.view.len()];
        chosen.iter().for_each(|&position| stays[position] = false);
        stay.iter().for_each(|&n| stays[chosen[n]] = true);
        Ok(stays)
    }

    /// Which visible messages the letter of a filter leaves visible.
    fn filtered(&self, filter: &Filter) -> Result<Vec<bool>, Refused> {
        let Filter { roles, contains, excludes, .. } = filter;
        if roles.is_none() && contains.is_none() && excludes.is_none() {
            return Err(Refused);
        }
        if roles.as_ref().is_some_and(|roles| roles.is_empty()) {
            return Err(Refused);
        }
        for texts in [contains, excludes].into_iter().flatten() {
            if texts.is_empty() || texts.contains(&String::new()) {
                return Err(Refused);
            }
        }
        let says = |message: &Message, wanted: &String| {
            message.texts().any(|text| text.find(wanted.as_str()).is_some())
        };
        let mut stays = Vec::new();
        for message in self.visible() {
            let mut matches = true;
            if let Some(roles) = roles {
                matches &= roles.contains(&message.role());
            }
            if let Some(texts) = contains {
                matches &= texts.iter().any(|wanted| says(message, wanted));
            }
            if let Some(texts) = excludes {
                matches &= !texts.iter().any(|wanted| says(message, wanted));
            }
            stays.push(matches);
        }
        Ok(stays)
    }

    /// The positions that a truncation never hides.
    fn pinned_with_their_blocks(&self) -> Vec<Vec<usize>> {
        let blocks = self.blocks();
        let pinned = (0..self.view.len()).filter(|&p| self.has_mark(self.view[p], PINNED));
        pinned
            .map(|position| {
                let block = blocks.iter().find(|block| block.contains(&position));
                block.cloned().unwrap_or(vec![position])
            })
            .collect()
    }

    /// Keeps or hides each block as a whole, whichever changes fewer messages.
    fn unite_blocks(&self, stays: &mut [bool]) {
        for block in self.blocks() {
            let kept = block.iter().filter(|&&position| stays[position]).count();
            let hidden = block.len() - kept;
            block.iter().for_each(|&position| stays[position] = kept > 0 && kept >= hidden);
        }
    }

    fn hide(&self, letter: &[bool], stays: &[bool], outcome: &mut Outcome) -> Vec<usize> {
        let mut new = Vec::new();
        for (position, &index) in self.view.iter().enumerate() {
            match (letter[position], stays[position]) {
                (false, true) => outcome.kept_anyway.push(index),
                (true, false) => outcome.hidden_anyway.push(index),
                _ => {}
            }
            if stays[position] {
                new.push(index);
            }
        }
        new
    }

    fn inserted(&mut self, insert: &Insert, outcome: &mut Outcome) -> Result<Vec<usize>, Refused> {
        if insert.position > self.view.len() || insert.messages.is_empty() {
            return Err(Refused);
        }
        for (i, message) in insert.messages.iter().enumerate() {
            acceptable(message)?;
            self.has_free_id(message)?;
            if insert.messages[..i].iter().any(|m| !m.id.is_unassigned() && m.id == message.id) {
                return Err(Refused);
            }
        }
        let mut position = insert.position;
        let blocks = self.blocks();
        let joined = |left: usize, right: usize| {
            blocks.iter().any(|block| block.contains(&left) && block.contains(&right))
        };
        let split = insert.split_blocks || self.completes_a_block(position, &insert.messages);
        while !split && position > 0 && joined(position - 1, position) {
            position -= 1;
        }
        let mut new = self.view.clone();
        outcome.added = (self.log.len()..).take(insert.messages.len()).collect();
        new.splice(position..position, outcome.added.iter().copied());
        let given: Vec<MessageId> = insert.messages.iter().map(|m| m.id.clone()).collect();
        for message in &insert.messages {
            self.store(message);
            // A name that is made gives way to one that is given.
            let place = self.log.len() - 1;
            let others = (2..).map(|n| MessageId::new(format!("m{place}_{n}")));
            if message.id.is_unassigned() && given.contains(&self.log[place].id) {
                let free = |id: &MessageId| {
                    !given.contains(id) && self.log.iter().all(|known| known.id != *id)
                };
                self.log[place].id = others.into_iter().find(free).unwrap();
            }
        }
        if position != insert.position {
            outcome.moved = outcome.added.clone();
        }
        Ok(new)
    }

    /// Whether each of these is the result of another call that the block around this
    /// position has no result for.
    fn completes_a_block(&self, position: usize, messages: &[Message]) -> bool {
        let visible: Vec<&Message> = self.visible().collect();
        let blocks = self.blocks();
        let Some(block) = blocks.iter().find(|block| block.contains(&position)) else {
            return false;
        };
        let answers = |message: &Message, call| message.as_result().map(|r| &r.call) == Some(call);
        messages.iter().enumerate().all(|(i, message)| {
            let calls = visible[block[0]].calls().map(|call| &call.id);
            let mut own = calls.filter(|call| answers(message, call));
            own.next().is_some_and(|call| {
                let is_there = block[1..].iter().any(|&p| answers(visible[p], call));
                !is_there && !messages[..i].iter().any(|before| answers(before, call))
            })
        })
    }

    fn replaced(
        &mut self,
        replace: &Replace,
        outcome: &mut Outcome,
    ) -> Result<Vec<usize>, Refused> {
        if replace.index >= self.view.len() {
            return Err(Refused);
        }
        acceptable(&replace.message)?;
        self.has_free_id(&replace.message)?;
        let blocks = self.blocks();
        let block = blocks.iter().find(|block| block.contains(&replace.index));
        if let Some(block) = block.filter(|_| !replace.split_blocks) {
            let visible: Vec<&Message> = self.visible().collect();
            let call = |p: usize| visible[p].as_result().map(|result| &result.call);
            let fits = if replace.index == block[0] {
                let called = |p: usize| replace.message.calls().any(|c| Some(&c.id) == call(p));
                block[1..].iter().all(|&p| called(p))
            } else {
                replace.message.as_result().map(|result| &result.call) == call(replace.index)
            };
            if !fits {
                return Err(Refused);
            }
        }
        let mut new = self.view.clone();
        new[replace.index] = self.log.len();
        outcome.added = vec![self.log.len()];
        self.store(&replace.message);
        Ok(new)
    }
}

fn acceptable(message: &Message) -> Result<(), Refused> {
    if message.role() == Role::User && message.is_blank() { Err(Refused) } else { Ok(()) }
}

/// The sum with a part of it replaced.
fn instead(sum: Usage, old: Usage, new: Usage) -> Usage {
    let field = |of: fn(&Usage) -> u64| {
        let exact = i128::from(of(&sum)) - i128::from(of(&old)) + i128::from(of(&new));
        u64::try_from(exact.max(0)).unwrap_or(u64::MAX)
    };
    Usage {
        prompt: field(|usage| usage.prompt),
        cache_read: field(|usage| usage.cache_read),
        cache_write: field(|usage| usage.cache_write),
        cache_write_hour: field(|usage| usage.cache_write_hour),
        completion: field(|usage| usage.completion),
        reasoning: field(|usage| usage.reasoning),
    }
}

/// What is taken of a list.
fn picked<T: Clone>(found: Vec<T>, pick: Pick) -> Result<Vec<T>, Refused> {
    let count = found.len();
    match pick {
        Pick::All => Ok(found),
        Pick::First(n) => Ok(found[..n.min(count)].to_vec()),
        Pick::Last(n) => Ok(found[count - n.min(count)..].to_vec()),
        Pick::Range(start, end) if start <= end && start <= count => {
            Ok(found[start..end.min(count)].to_vec())
        }
        Pick::Range(..) => Err(Refused),
    }
}
