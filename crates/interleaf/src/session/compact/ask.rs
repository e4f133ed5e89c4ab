//! The request that asks a model for a summary.

use interleaf_assemble::{FindingKind, Recipe, Report, Step};
use interleaf_conversation::Conversation;
use interleaf_model::{Message, Role};
use interleaf_wire::Decoder;

use super::super::Session;
use super::{heard, most};
use crate::compaction::{
    Compaction, CompactionPolicy, Fact, FormCause, SummaryForm, SummaryRequest, again, extending,
    instructions, shortened, transcript,
};
use crate::{Error, ErrorKind, Impact, Request, Single, StoredAnswers, Target};

/// As much of a text that was refused is shown to its writer, by what a summary may have.
const CHARACTERS_PER_TOKEN: usize = 6;
/// The beginning of the first message that stays, by which a model finds it.
const FIRST_WORDS: usize = 80;

impl Session {
    /// The request that asks for the summary, for the model that is to write it. If that is
    /// the session's own and its cache makes it cheaper, it is the session's next request with
    /// one more message; else a transcript. After a text was refused it says why.
    ///
    /// # Errors
    /// If a key is needed and none is given, or what is to be covered does not fit the model's
    /// window however much it is shortened.
    pub async fn compaction_request(
        &mut self,
        compaction: &Compaction,
        policy: &CompactionPolicy,
        own: (&Recipe, &Target),
        writer: &Target,
    ) -> Result<SummaryRequest, Error> {
        let http = writer.vendor.http(&writer.options, writer.key.as_ref()).map_err(Error::wire)?;
        let mut ask = self.summary_request(compaction, policy, own, writer).await?;
        ask.request.http = Some(http);
        Ok(ask)
    }

    /// As [`compaction_request`](Self::compaction_request), for a caller who sends the body by
    /// other means: no key is needed.
    ///
    /// # Errors
    /// If what is to be covered does not fit the model's window however much it is shortened,
    /// or the facts to keep do not fit a summary.
    pub async fn summary_request(
        &mut self,
        compaction: &Compaction,
        policy: &CompactionPolicy,
        (recipe, target): (&Recipe, &Target),
        writer: &Target,
    ) -> Result<SummaryRequest, Error> {
        let facts = self.facts_to_keep(compaction, policy)?.kept;
        check_facts(compaction, (policy, &facts))?;
        let is_own = writer.vendor.name == target.vendor.name
            && writer.options.model == target.options.model;
        // Of the session's own model more may be known than what is usual for its vendor.
        let usual = writer.budget().limit();
        let known = recipe.budget.filter(|_| is_own).map(|budget| budget.limit());
        let limit = known.map_or(usual, |known| known.min(usual));
        let asked = (policy, &*facts);
        let mut plain = self.transcript_request(compaction, asked, (writer, limit)).await;
        if plain.as_ref().is_err_and(|e| e.kind() == ErrorKind::TooLarge) && limit < usual {
            plain = self.transcript_request(compaction, asked, (writer, usual)).await;
        }
        let extended = match (is_own, compaction.refused.is_empty()) {
            (_, false) => Err(FormCause::Refused),
            (false, true) => Err(FormCause::OtherModel),
            (true, true) => self.extended(compaction, (policy, &facts), recipe, writer).await?,
        };
        let whole = plain.as_ref().ok().map(|request| request.impact.tokens);
        let because = match (extended, whole) {
            (Err(because), _) => because,
            (Ok((price, _)), Some(transcript)) if price >= transcript as f64 => {
                FormCause::Dearer { extended: price as u64, transcript }
            }
            (Ok((price, request)), transcript) => {
                let because = FormCause::Cheaper { extended: price as u64, transcript };
                return Ok(SummaryRequest { request, form: SummaryForm::Extended, because });
            }
        };
        Ok(SummaryRequest { request: plain?, form: SummaryForm::Transcript, because })
    }

    async fn transcript_request(
        &mut self,
        compaction: &Compaction,
        (policy, facts): (&CompactionPolicy, &[Fact]),
        (writer, limit): (&Target, u64),
    ) -> Result<Request, Error> {
        let writer = &plain(writer);
        let ledger = self.ledger(&writer.options.model).await?;
        let system = instructions(policy, facts);
        let length = usize::try_from(policy.summary_tokens).unwrap_or(usize::MAX);
        let length = length.saturating_mul(CHARACTERS_PER_TOKEN);
        // One that was refused for its length must not fill the window now.
        let tries = compaction.refused.iter();
        let tries: Vec<(String, String)> =
            tries.map(|(text, why)| (shortened(text, length), again(why))).collect();
        let tried: u64 = tries.iter().map(|(text, why)| ledger.text(text) + ledger.text(why)).sum();
        // A small window leaves less for the answer.
        let answer = policy.summary_tokens.saturating_mul(2).min(limit / 3);
        let taken = ledger.text(&system) + answer + tried;
        let most = limit.saturating_sub(taken);
        let earlier = compaction.earlier.as_ref().map(|summary| &*summary.text);
        let counts = (|text: &str| ledger.text(text), most);
        let text = transcript(&compaction.messages, earlier, counts).map_err(|least| {
            Error::no_room(format!(
                "what is to be summarised has {least} tokens at the least, and the model's window \
                 leaves {most}: choose a model with a larger one"
            ))
        })?;
        let mut conversation = Conversation::default();
        let mut say = |message: Message| conversation.append(message).map_err(Error::conversation);
        say(Message::user(&text))?;
        for (refused, why) in &tries {
            if !refused.trim().is_empty() {
                say(Message::assistant(refused))?;
            }
            say(Message::user(why))?;
        }
        let recipe = Recipe::new().with_system(system).with_ledger(ledger);
        let preview = Single::of(&conversation, &recipe).preview(Some(writer))?;
        let Some(body) = preview.body else {
            return Err(Error::rule("a request for a summary waits for nothing"));
        };
        let decoder = Decoder::new(writer.vendor.family, body.names.clone());
        let decoder = match &writer.key {
            Some(key) => decoder.hiding(key),
            None => decoder,
        };
        let report = preview.assembly.report;
        let impact = Impact::first(report.tokens.as_ref().map_or(0, |tokens| tokens.total()));
        Ok(Request { number: None, http: None, body, decoder, report, impact })
    }

    /// The session's next request with one more message, which asks for the summary, and what
    /// it costs; or why there is none.
    async fn extended(
        &mut self,
        compaction: &Compaction,
        (policy, facts): (&CompactionPolicy, &[Fact]),
        recipe: &Recipe,
        target: &Target,
    ) -> Result<Result<(f64, Request), FormCause>, Error> {
        if self.conversation.newest_request(None).is_none() {
            return Ok(Err(FormCause::NothingCached));
        }
        let first_kept = first_words(&self.conversation, compaction);
        let text = extending(policy, facts, first_kept.as_deref());
        // A copy has one message more: what this session knows does not change.
        let mut copy = self.duplicate();
        copy.conversation.append(Message::user(&text)).map_err(Error::conversation)?;
        let mut target = target.clone();
        // It is no part of the session: nobody goes on from its answer, nor it from another's.
        target.stored = StoredAnswers::Off;
        let mut recipe = recipe.clone();
        if recipe.ledger.is_none() {
            recipe.ledger = Some(self.ledger(&target.options.model).await?);
        }
        // What is kept free for an answer is more than this one needs; but a history that was
        // shortened for the window may then be shown as it was not before.
        let mut roomy = recipe.clone();
        if let Some(budget) = &mut roomy.budget {
            budget.reserve = budget.reserve.min(policy.summary_tokens);
        }
        let mut cheapest = Err(FormCause::LeavesOut);
        for recipe in [recipe, roomy] {
            // On the heap: what makes a request is large, and stands deep in what compacts.
            let made = match Box::pin(copy.preview(&recipe, &target)).await {
                // A transcript is shorter.
                Err(error) if error.kind() == ErrorKind::TooLarge => continue,
                made => made?,
            };
            let Some(request) = made.request() else {
                return Ok(Err(FormCause::Waits));
            };
            if is_shortened(&request.report, compaction) {
                continue;
            }
            let Some(price) = request.impact.cost.as_ref().map(|cost| cost.price) else {
                return Ok(Err(FormCause::UnknownCache));
            };
            if cheapest.as_ref().map_or(true, |(least, _)| price < *least) {
                cheapest = Ok((price, request));
            }
        }
        Ok(cheapest)
    }
}

/// Whether a summary can have all facts: no text keeps the contract otherwise.
fn check_facts(
    compaction: &Compaction,
    (policy, facts): (&CompactionPolicy, &[Fact]),
) -> Result<(), Error> {
    let most = most(policy, compaction.covered);
    let tokens: u64 = facts.iter().map(|fact| compaction.counted_by.tokens(&fact.text)).sum();
    if tokens > most {
        let n = facts.len();
        return Err(Error::no_room(format!(
            "{n} facts to keep take {tokens} tokens, and the summary may have {most}: let the \
             policy keep fewer, or more tokens for the summary"
        )));
    }
    Ok(())
}

/// Whether a request leaves something out for its window that is to be summarised: who does not
/// see it cannot report it.
fn is_shortened(report: &Report, compaction: &Compaction) -> bool {
    let mut fitted = report.findings().filter(|(step, _)| *step == Step::Fit);
    fitted.any(|(_, found)| {
        found.kind == FindingKind::Dropped || compaction.covers.contains(&found.message)
    })
}

/// The target for a request that has no tools and whose answer is a plain text.
fn plain(writer: &Target) -> Target {
    let mut writer = writer.clone();
    let options = &mut writer.options;
    (options.tool_choice, options.parallel_tool_calls) = (None, None);
    options.response_format = None;
    options.stop.clear();
    // How long the session's own answers may be says nothing of a summary.
    options.max_tokens = None;
    options.hosted_tools.clear();
    writer
}

/// The first words of the first message that stays and says something.
fn first_words(conversation: &Conversation, compaction: &Compaction) -> Option<String> {
    let heard = heard(conversation);
    let last = heard.iter().rposition(|message| compaction.covers.contains(&message.id))?;
    let stays = heard[last + 1..].iter().filter(|message| message.role() != Role::System);
    let text = stays.map(|message| message.text()).find(|text| !text.trim().is_empty())?;
    Some(text.trim().chars().take(FIRST_WORDS).collect())
}
