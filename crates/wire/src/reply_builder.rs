//! A reply that grows, piece by piece.

use std::collections::{BTreeMap, BTreeSet};

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, Extra, File, Finish, Image, Json, Message, Opaque,
    Parts, Producer, Reply, Seal, Text, Thinking, ToolCall, ToolName, Usage, VendorName,
};
use smol_str::SmolStr;

use crate::pieces::Pieces;
use crate::{Decoder, Delta, arguments, call_reader, made_id};

/// Collects the pieces of an answer, whole or streamed, into a reply.
///
/// Pieces are told apart by a key; parts stand in the order of their keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReplyBuilder {
    slots: BTreeMap<u64, Slot>,
    /// The keys of the slots that came since all were whole.
    fresh: BTreeSet<u64>,
    n_calls: usize,
    pub(crate) finish: Option<Finish>,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<SmolStr>,
    pub(crate) id: Option<SmolStr>,
    /// What the vendor attached to the message as a whole.
    pub(crate) extra: Extra,
    /// Whether an ordinary stop is meant as such beside calls: the API has another
    /// word for calls that it chose to make.
    pub(crate) keeps_stop: bool,
    /// The parts that were told whole, if they are told.
    told: Option<(Decoder, BTreeSet<u64>)>,
}

#[derive(Debug, Clone)]
enum Slot {
    Text {
        text: String,
        extra: Extra,
    },
    Thinking {
        text: String,
        seal: Option<Seal>,
        extra: Extra,
    },
    Call {
        /// How many calls came before it.
        number: usize,
        id: String,
        name: String,
        arguments: String,
        is_whole: bool,
        extra: Extra,
    },
    Image(Image),
    File(File),
    Opaque(Opaque),
}

impl ReplyBuilder {
    /// Adds to a run of text.
    pub(crate) fn text(&mut self, key: u64, more: &str) {
        let slot = || Slot::Text { text: String::new(), extra: Extra::NONE };
        if let Slot::Text { text, .. } = self.slot(key, slot) {
            text.push_str(more);
        }
    }

    /// Adds to a thought.
    pub(crate) fn thinking(&mut self, key: u64, more: &str) {
        if let Slot::Thinking { text, .. } = self.thinking_slot(key) {
            text.push_str(more);
        }
    }

    /// Seals a thought.
    pub(crate) fn seal(&mut self, key: u64, new: Seal) {
        if let Slot::Thinking { seal, .. } = self.thinking_slot(key) {
            *seal = Some(new);
        }
    }

    /// Adds to the signature of a thought.
    pub(crate) fn sign(&mut self, key: u64, more: &str) {
        if let Slot::Thinking { seal, .. } = self.thinking_slot(key) {
            let before = match seal.take() {
                Some(Seal::Signature(before)) => before,
                _ => "".into(),
            };
            *seal = Some(Seal::Signature(format!("{before}{more}").into()));
        }
    }

    fn thinking_slot(&mut self, key: u64) -> &mut Slot {
        let slot = || Slot::Thinking { text: String::new(), seal: None, extra: Extra::NONE };
        self.slot(key, slot)
    }

    /// The slot with this key; `new` makes it if there is none.
    fn slot(&mut self, key: u64, new: impl FnOnce() -> Slot) -> &mut Slot {
        self.slots.entry(key).or_insert_with(|| {
            self.fresh.insert(key);
            new()
        })
    }

    /// Puts what came whole under this key.
    fn put(&mut self, key: u64, slot: Slot) {
        self.fresh.insert(key);
        self.slots.insert(key, slot);
    }

    /// Begins a call, or adds to what is known of it: an id or name that came before
    /// stays.
    pub(crate) fn call(&mut self, key: u64, new_id: &str, new_name: &str) {
        if let Slot::Call { id, name, .. } = self.call_slot(key) {
            if id.is_empty() {
                new_id.clone_into(id);
            }
            if name.is_empty() {
                new_name.clone_into(name);
            }
        }
    }

    /// Adds to the arguments of a call.
    pub(crate) fn arguments(&mut self, key: u64, more: &str) {
        if let Slot::Call { arguments, .. } = self.call_slot(key) {
            arguments.push_str(more);
        }
    }

    fn call_slot(&mut self, key: u64) -> &mut Slot {
        let number = self.n_calls;
        if !self.slots.contains_key(&key) {
            self.n_calls += 1;
        }
        let slot = || Slot::Call {
            number,
            id: String::new(),
            name: String::new(),
            arguments: String::new(),
            is_whole: false,
            extra: Extra::NONE,
        };
        self.slot(key, slot)
    }

    /// The API says, or shows by going on, that a call is whole.
    pub(crate) fn end_call(&mut self, key: u64) {
        if let Some(Slot::Call { is_whole, .. }) = self.slots.get_mut(&key) {
            *is_whole = true;
        }
    }

    /// Makes what there is the reply of a connection that ended too early. A call stays
    /// only if it is known to be whole, or if its arguments are a whole object: half a
    /// call must not look like one to run.
    pub(crate) fn cut(&mut self) {
        self.slots.retain(|_, slot| match slot {
            Slot::Call { is_whole, arguments, .. } => {
                let is_object = || matches!(Arguments::from_text(arguments), Arguments::Object(_));
                *is_whole || (!arguments.trim().is_empty() && is_object())
            }
            _ => true,
        });
        self.finish = Some(Finish::Cut);
    }

    /// Whether nothing at all has come.
    pub(crate) fn is_untouched(&self) -> bool {
        let Self { slots, finish, usage, model, id, extra, .. } = self;
        let is_silent = slots.is_empty() && extra.is_empty() && finish.is_none();
        is_silent && usage.is_none() && model.is_none() && id.is_none()
    }

    /// Whether any part has come.
    pub(crate) fn has_parts(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Adds a picture.
    pub(crate) fn image(&mut self, key: u64, image: Image) {
        self.put(key, Slot::Image(image));
    }

    /// Adds a file.
    pub(crate) fn file(&mut self, key: u64, file: File) {
        self.put(key, Slot::File(file));
    }

    /// Adds a part that only its owner understands.
    pub(crate) fn opaque(&mut self, key: u64, owner: &str, value: Json) {
        let owner = VendorName::new(owner);
        self.put(key, Slot::Opaque(Opaque { owner, value }));
    }

    /// Adds a part that came whole.
    pub(crate) fn part(&mut self, key: u64, part: AssistantPart) {
        match part {
            AssistantPart::Text(text) => {
                self.text(key, &text.text);
                self.attach(key, text.extra);
            }
            AssistantPart::Thinking(thinking) => {
                self.thinking(key, &thinking.text);
                if let Some(seal) = thinking.seal {
                    self.seal(key, seal);
                }
                self.attach(key, thinking.extra);
            }
            AssistantPart::Call(call) => {
                self.call(key, call.id.as_str(), call.name.as_str());
                self.arguments(key, call.arguments.as_str());
                self.attach(key, call.extra);
                self.end_call(key);
            }
            AssistantPart::Image(image) => self.image(key, image),
            AssistantPart::File(file) => self.file(key, file),
            AssistantPart::Opaque(opaque) => self.opaque(key, opaque.owner.as_str(), opaque.value),
        }
    }

    /// Attaches vendor's fields to the part with this key.
    pub(crate) fn attach(&mut self, key: u64, new: Extra) {
        match self.slots.get_mut(&key) {
            Some(
                Slot::Text { extra, .. } | Slot::Thinking { extra, .. } | Slot::Call { extra, .. },
            ) => *extra = new,
            Some(Slot::Image(image)) => image.extra = new,
            Some(Slot::File(file)) => file.extra = new,
            Some(Slot::Opaque(_)) | None => {}
        }
    }

    /// The key after all that are taken.
    pub(crate) fn next_key(&self) -> u64 {
        self.slots.last_key_value().map_or(0, |(key, _)| key + 1)
    }

    /// Makes parts be told when they are whole.
    pub(crate) fn tell_parts(&mut self, decoder: &Decoder) {
        self.told = Some((decoder.clone(), BTreeSet::new()));
    }

    /// The part with this key is whole.
    pub(crate) fn is_whole(&mut self, key: u64, deltas: &mut Vec<Delta>) {
        let Some((decoder, _)) = &self.told else { return };
        let id = self.call_id(key, decoder.request());
        let producer = self.producer(decoder);
        let slot = self.slots.get(&key).cloned();
        if let Some(whole) = slot.and_then(|slot| slot.into_part(id, decoder, &producer)) {
            self.tell(key, whole, deltas);
        }
    }

    fn producer(&self, decoder: &Decoder) -> Producer {
        let vendor = VendorName::new(decoder.family().owner());
        Producer { vendor, model: self.model.clone() }
    }

    /// A part is whole that does not stand here yet.
    pub(crate) fn tell(&mut self, part: u64, whole: AssistantPart, deltas: &mut Vec<Delta>) {
        if let Some((_, told)) = &mut self.told
            && told.insert(part)
        {
            deltas.push(Delta::Part { part, whole });
        }
    }

    /// All parts so far are whole.
    pub(crate) fn all_whole(&mut self, deltas: &mut Vec<Delta>) {
        if let Some((_, told)) = &self.told {
            let mut fresh = std::mem::take(&mut self.fresh);
            fresh.retain(|key| !told.contains(key));
            fresh.into_iter().for_each(|key| self.is_whole(key, deltas));
        }
    }

    /// All parts so far are whole: tells pieces of those that none were told of. Who is told whole
    /// parts needs none.
    pub(crate) fn complete(
        &mut self,
        decoder: &Decoder,
        pieces: &mut Pieces,
        deltas: &mut Vec<Delta>,
    ) {
        if self.told.is_some() {
            return;
        }
        for key in std::mem::take(&mut self.fresh) {
            let is_missing = |slot: &&Slot| match slot {
                Slot::Text { .. } | Slot::Thinking { .. } => pieces.lack(key, false),
                Slot::Call { .. } => pieces.lack(key, true),
                Slot::Image(_) | Slot::File(_) | Slot::Opaque(_) => false,
            };
            let Some(slot) = self.slots.get(&key).filter(is_missing).cloned() else { continue };
            let id = self.call_id(key, decoder.request());
            if let Some(whole) = slot.into_part(id, decoder, &self.producer(decoder)) {
                pieces.complete(key, &whole, deltas);
            }
        }
    }

    /// Tells what is attached to the message.
    pub(crate) fn message_is_whole(&self, deltas: &mut Vec<Delta>) {
        if self.told.is_some() && !self.extra.is_empty() {
            deltas.push(Delta::Extra(self.extra.clone()));
        }
    }

    /// What is attached to a part that begins.
    pub(crate) fn begins(&self, part: u64, extra: Extra, deltas: &mut Vec<Delta>) {
        if self.told.is_some() && !extra.is_empty() {
            deltas.push(Delta::Begin { part, extra });
        }
    }

    /// Whether any call was made.
    pub(crate) fn has_calls(&self) -> bool {
        self.n_calls > 0
    }

    /// The id of the call with this key: the API's, or a made one if it gave none.
    ///
    /// A made id is the same whenever the same answer is read: it comes from the number of the
    /// request, else from the answer's id, else from what is called.
    pub(crate) fn call_id(&self, key: u64, request: Option<u64>) -> Option<CallId> {
        let Some(Slot::Call { number, id, name, arguments, .. }) = self.slots.get(&key) else {
            return None;
        };
        if let Ok(id) = CallId::new(id) {
            return Some(id);
        }
        CallId::new(self.made_id(request, *number, (name, arguments))).ok()
    }

    fn made_id(&self, request: Option<u64>, number: usize, said: (&str, &str)) -> String {
        match (request, &self.id) {
            (Some(request), _) => made_id::of_request(request, number),
            (None, Some(id)) => made_id::of_answer(id, number),
            (None, None) => made_id::of_content(number, said.0, said.1),
        }
    }

    /// Makes the ids of calls that are made in words.
    pub(crate) fn spoken_id<'a>(&'a self, decoder: &Decoder) -> SpokenId<'a> {
        SpokenId { reply: self, request: decoder.request() }
    }

    /// The parts, with the calls that are made in words.
    fn heard(&self, parts: Vec<AssistantPart>, decoder: &Decoder) -> Vec<AssistantPart> {
        let Some(reader) = decoder.reader() else { return parts };
        let (id, is_cut) = (self.spoken_id(decoder), self.finish == Some(Finish::Cut));
        let mut n_calls = 0;
        let mut heard = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                AssistantPart::Text(text) => {
                    let spoken = reader.read(&text.text, is_cut);
                    let new = call_reader::parts(text, spoken, n_calls, &id);
                    let is_call = |part: &&AssistantPart| matches!(part, AssistantPart::Call(_));
                    n_calls += new.iter().filter(is_call).count();
                    heard.extend(new);
                }
                other => heard.push(other),
            }
        }
        heard
    }

    /// The reply. An empty answer is an empty text.
    pub(crate) fn build(mut self, decoder: &Decoder) -> Reply {
        let producer = self.producer(decoder);
        let ids: Vec<Option<CallId>> =
            self.slots.keys().map(|&key| self.call_id(key, decoder.request())).collect();
        let part = |(slot, id): (Slot, Option<CallId>)| slot.into_part(id, decoder, &producer);
        let slots = std::mem::take(&mut self.slots).into_values().zip(ids);
        let parts: Vec<AssistantPart> = slots.filter_map(part).collect();
        let n_made = self.n_calls;
        let parts = self.heard(parts, decoder);
        let is_call = |part: &&AssistantPart| matches!(part, AssistantPart::Call(_));
        let has_spoken =
            decoder.reader().is_some() && parts.iter().filter(is_call).count() > n_made;
        let has_calls = self.has_calls() || has_spoken;
        let parts =
            Parts::new(parts).unwrap_or_else(|_| Parts::one(AssistantPart::Text(Text::new(""))));
        let message = Message { extra: self.extra, ..Message::from(Body::Assistant(parts)) };
        // Several APIs report an ordinary stop when they want results.
        let finish = match self.finish {
            Some(Finish::Stop) if has_calls && (has_spoken || !self.keeps_stop) => {
                Finish::ToolCalls
            }
            None if has_calls => Finish::ToolCalls,
            Some(finish) => finish,
            None => Finish::Stop,
        };
        let request = decoder.request();
        Reply { message, finish, usage: self.usage, model: self.model, id: self.id, request }
    }
}

/// Makes the ids of calls that are made in words: by the same cause as those of calls that an
/// API gives without one.
pub(crate) struct SpokenId<'a> {
    reply: &'a ReplyBuilder,
    request: Option<u64>,
}

impl SpokenId<'_> {
    /// The id of the call of this number among those made in words.
    pub(crate) fn of(&self, number: usize, name: &ToolName, arguments: &Arguments) -> String {
        // Those that the API gives have the numbers before.
        let number = self.reply.n_calls + number;
        self.reply.made_id(self.request, number, (name.as_str(), arguments.as_str()))
    }
}

impl Slot {
    /// The part; `id` is its id if it is a call.
    fn into_part(
        self,
        id: Option<CallId>,
        decoder: &Decoder,
        producer: &Producer,
    ) -> Option<AssistantPart> {
        Some(match self {
            Self::Text { text, extra } => AssistantPart::Text(Text { text: text.into(), extra }),
            Self::Thinking { text, seal, extra } => {
                let producer = Some(producer.clone());
                AssistantPart::Thinking(Thinking { text: text.into(), seal, producer, extra })
            }
            Self::Call { name, arguments, extra, .. } => AssistantPart::Call(ToolCall {
                id: id?,
                name: decoder.names().original(&name),
                arguments: match Arguments::from_text(&arguments) {
                    Arguments::Object(json) => arguments::from_object(json),
                    invalid @ Arguments::Invalid(_) => invalid,
                },
                extra,
            }),
            Self::Image(image) => AssistantPart::Image(image),
            Self::File(file) => AssistantPart::File(file),
            Self::Opaque(opaque) => AssistantPart::Opaque(opaque),
        })
    }
}
