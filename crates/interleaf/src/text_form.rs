//! Tools, calls and results as text, for models that call no functions.
//!
//! | in the conversation | in the request |
//! |---|---|
//! | the tools | a text at the end of the system prompt: how to call, and which tools there are |
//! | the assistant's calls | `<tools>` at their place in its text |
//! | a result | a user message with a `<result>`, escaped, so that nothing in it passes for the protocol |
//! | pictures and files of results | after all results of their block (D8) |
//!
//! There is a message for each message, in the same order, so that what is said of one by its
//! place holds. The conversation keeps its calls and results: this is made for a request, and
//! remembered, so that what did not change is not written again.

mod block;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use interleaf_assemble::Ledger;
use interleaf_model::{
    Body, Entry, Link, Message, Parts, Prompt, Provenance, Settled, SystemPart, Text, Tool, plural,
};
use interleaf_plan::{Asked, Language, Templates};
use interleaf_wire::{Adjustment, AdjustmentKind, CallReader, Encoded, Options, ToolChoice};

use self::block::Written;
use self::words::Words;
use crate::Error;

/// Tools, calls and results as text, from one request to the next.
pub(crate) struct TextForm {
    tools: Arc<[Tool]>,
    words: Arc<Words>,
    /// The messages of the last request that stand here otherwise, by the address of the first
    /// of those that each was written from.
    written: HashMap<usize, Written>,
    /// Links, by the address of the one that each was written from.
    links: HashMap<usize, (Arc<Link>, Arc<Link>)>,
    /// Settled turns, likewise.
    chains: HashMap<usize, (Arc<Settled>, Arc<Settled>)>,
    /// What counts tokens, and the ledger that it was made of.
    ledger: Option<(Arc<Ledger>, Arc<Ledger>)>,
}

impl TextForm {
    /// Nothing is written yet.
    pub(crate) fn new(tools: Arc<[Tool]>) -> Self {
        let words = Arc::new(Words::of(&tools));
        let (written, links, chains) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { tools, words, written, links, chains, ledger: None }
    }

    /// The form of a recipe with these tools: this one, if they are the same.
    pub(crate) fn suited(known: &mut Option<Self>, tools: &Arc<[Tool]>) {
        let is_same = |form: &mut Self| Arc::ptr_eq(&form.tools, tools) || form.tools == *tools;
        if !known.as_mut().is_some_and(is_same) {
            *known = Some(Self::new(tools.clone()));
        }
    }

    /// What reads calls out of the answer.
    pub(crate) fn reader(&self) -> Arc<dyn CallReader> {
        self.words.clone()
    }

    /// A ledger that counts what is sent.
    pub(crate) fn ledger(&mut self, own: &Arc<Ledger>) -> Arc<Ledger> {
        match &self.ledger {
            Some((known, ledger)) if Arc::ptr_eq(known, own) => ledger.clone(),
            _ => {
                let ledger = Arc::new(own.of_sent(self.words.clone()));
                self.ledger = Some((own.clone(), ledger.clone()));
                ledger
            }
        }
    }

    /// The prompt in which nothing is called, and its settings.
    pub(crate) fn prompt(
        &mut self,
        prompt: &Prompt,
        options: &Options,
    ) -> Result<(Prompt, Options), Error> {
        // First what is settled: the messages that were not, in the last request, are known.
        let settled = prompt.settled().map(|settled| self.settled(settled)).transpose()?;
        let mut entries = self.entries(prompt.entries());
        if !prompt.tools().is_empty() {
            add_protocol(&mut entries, &protocol(prompt.tools(), &asked(options))?)?;
        }
        let (requires, none) = (prompt.requirements(), Arc::new([]));
        let made = match settled {
            Some(settled) => Prompt::check_continued(settled, requires, entries, none),
            None => Prompt::check_for(requires, entries, none),
        };
        let mut options = options.clone();
        (options.tool_choice, options.parallel_tool_calls) = (None, None);
        Ok((made.map_err(broken)?, options))
    }

    /// Says in a body what was done for it.
    pub(crate) fn report(&self, prompt: &Prompt, body: &mut Encoded) {
        let kind = AdjustmentKind::ToolsAsText;
        let detail = format!("{}, in the system text", plural(prompt.tools().len(), "tool"));
        body.adjustments.push(Adjustment { kind, message: None, detail });
        let moved = self.written.values().filter_map(Written::moved);
        let mut moved: Vec<_> = moved.cloned().collect();
        moved.sort();
        body.adjustments.extend(moved.into_iter().map(|id| Adjustment {
            kind: AdjustmentKind::MediaMoved,
            message: Some(id),
            detail: String::new(),
        }));
    }

    /// Messages in which nothing is called; those of the last request are known.
    fn entries(&mut self, entries: &[Entry]) -> Vec<Entry> {
        let mut kept = HashMap::new();
        let made = block::entries(entries, &self.words, &mut self.written, &mut kept);
        self.written = kept;
        made
    }

    /// Settled turns in which nothing is called.
    fn settled(&mut self, settled: &Arc<Settled>) -> Result<Arc<Settled>, Error> {
        if self.chains.len() > 2 * settled.len() + 64 {
            // A view was replaced: most of what is known is of another.
            self.chains.clear();
            self.links.clear();
        }
        let mut new: Vec<&Arc<Settled>> = Vec::new();
        let mut chain = Some(settled);
        let mut made = None;
        while let Some(next) = chain {
            if let Some((_, known)) = self.chains.get(&Arc::as_ptr(next).addr()) {
                made = Some(known.clone());
                break;
            }
            new.push(next);
            chain = next.earlier();
        }
        for source in new.into_iter().rev() {
            let link = self.link(source.link())?;
            let chain = Settled::after(made, link).map_err(broken)?;
            self.chains.insert(Arc::as_ptr(source).addr(), (source.clone(), chain.clone()));
            made = Some(chain);
        }
        made.ok_or_else(|| Error::rule("settled turns hold at least one message"))
    }

    fn link(&mut self, link: &Arc<Link>) -> Result<Arc<Link>, Error> {
        let address = Arc::as_ptr(link).addr();
        if let Some((_, known)) = self.links.get(&address) {
            return Ok(known.clone());
        }
        // What was just written for the last request is the same here.
        let mut kept = HashMap::new();
        let made = block::entries(link.entries(), &self.words, &mut self.written, &mut kept);
        let made = Link::check(link.turns().requirements(), made).map_err(broken)?;
        self.links.insert(address, (link.clone(), made.clone()));
        Ok(made)
    }
}

fn broken(violation: interleaf_model::Violation) -> Error {
    Error::rule(format!("with tools as text, the request breaks a law: {:?}", violation.law))
}

/// What a model is to do about calls.
fn asked(options: &Options) -> Asked {
    let mut asked = Asked::default();
    asked.single = options.parallel_tool_calls == Some(false);
    asked.choice = match &options.tool_choice {
        Some(ToolChoice::None) => "none".to_owned(),
        Some(ToolChoice::Required) => "required".to_owned(),
        Some(ToolChoice::Tool(name)) => name.to_string(),
        Some(_) | None => String::new(),
    };
    asked
}

/// How to call these tools.
fn protocol(tools: &[Tool], asked: &Asked) -> Result<String, Error> {
    static TEMPLATES: OnceLock<Result<Templates, interleaf_plan::Error>> = OnceLock::new();
    let fault = |e: &interleaf_plan::Error| Error::rule(e.to_string());
    let templates = TEMPLATES.get_or_init(Templates::built_in).as_ref().map_err(fault)?;
    templates.protocol(Language::En, tools, asked).map_err(|e| fault(&e))
}

/// Puts the protocol at the end of the system prompt.
fn add_protocol(entries: &mut Vec<Entry>, protocol: &str) -> Result<(), Error> {
    let part = SystemPart::Text(Text::new(protocol));
    if let Some(first) = entries.first_mut()
        && first.provenance != Provenance::Summary
        && let Body::System(own) = &first.message.body
    {
        let parts = own.iter().cloned().chain([part]).collect();
        let body = Body::System(Parts::new(parts).map_err(Error::form)?);
        first.message = Arc::new(Message { body, ..Message::clone(&first.message) });
        return Ok(());
    }
    let message = Arc::new(Message::from(Body::System(Parts::one(part))));
    entries.insert(0, Entry { message, provenance: Provenance::System });
    Ok(())
}
