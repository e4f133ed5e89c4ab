//! Where marks for the cache go.

use interleaf_model::{Entry, Message, PartRef, Prompt, Role};

use crate::{CacheMarks, Options, Vendor};

/// Where the marks for the cache stand in a request.
///
/// ```
/// # use interleaf_model::{Entry, Message, Prompt, Provenance};
/// use interleaf_wire::{Marks, Vendor};
///
/// # let entry = |message: Message| Entry { message: message.into(), provenance: Provenance::Original };
/// # let said = vec![entry(Message::user("Is it done?")), entry(Message::assistant("It is."))];
/// # let asked = interleaf_model::Requirements::NONE;
/// # let prompt = Prompt::check_for(asked, said, [].into()).unwrap();
/// let vendor = Vendor::named("openai").unwrap();
/// // The last message is the assistant's, and OpenAI takes no mark there.
/// assert_eq!(Marks::of(&prompt, vendor, "gpt-5.6").message, Some(0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Marks {
    /// Whether one stands at the end of the head: the tools and the system text.
    pub head: bool,
    /// The message among the prompt's entries that one stands after, which may be of the head.
    pub message: Option<usize>,
}

/// Which messages of a vendor's model can be marked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Marking {
    /// None: there are no marks, or they mean nothing.
    Nothing,
    /// Any.
    All,
    /// What is put in, and nothing that the model said.
    Inputs {
        /// Whether the first message is sent in a field that takes no mark.
        first_is_apart: fn(&Entry) -> bool,
    },
}

impl Marking {
    pub(super) fn of(vendor: &Vendor, options: &Options) -> Self {
        match options.cache {
            CacheMarks::Off => Self::Nothing,
            CacheMarks::On => (vendor.family.codec().marking)(vendor, &options.model),
        }
    }

    pub(super) fn is_any(self) -> bool {
        !matches!(self, Self::Nothing)
    }
}

impl Marks {
    /// Those that are set for a vendor's model with [`CacheMarks::On`].
    pub fn of(prompt: &Prompt, vendor: &Vendor, model: &str) -> Self {
        let entries = prompt.entries();
        match (vendor.family.codec().marking)(vendor, model) {
            Marking::Nothing => Self::default(),
            Marking::All => Self::anywhere(prompt),
            Marking::Inputs { first_is_apart } => {
                let n_head = entries.iter().take_while(|entry| is_system(entry)).count();
                let n_apart = usize::from(entries[..n_head].first().is_some_and(first_is_apart));
                let head = entries[n_apart..n_head].iter().any(|e| says_something(&e.message));
                let first = prompt.settled().map_or(0, |_| n_head);
                let message = prompt.breakpoint().and_then(|at| input(entries, first, at));
                Self { head, message }
            }
        }
    }

    /// Those for a model whose API takes marks on any message.
    pub fn anywhere(prompt: &Prompt) -> Self {
        Self { head: true, message: prompt.breakpoint() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The nearest message up to this one, and not before `first`, that is put in and says something. Of what the model
/// said, one turn is passed over and no more: what stands before that may be settled, and is
/// not written again.
fn input(entries: &[Entry], first: usize, upto: usize) -> Option<usize> {
    let is_said = |at: usize| entries[at].message.role() == Role::Assistant;
    let mut n_passed = 0;
    for at in (first..=upto).rev() {
        if is_said(at) {
            n_passed += usize::from(at == upto || !is_said(at + 1));
        } else if n_passed > 1 {
            return None;
        } else if says_something(&entries[at].message) {
            return Some(at);
        }
    }
    None
}

fn is_system(entry: &Entry) -> bool {
    entry.message.role() == Role::System
}

/// Whether something of it is written that can be marked.
fn says_something(message: &Message) -> bool {
    message.parts().any(is_markable)
}

/// Whether a part that is put in is written with a mark, if one is due. Of a picture or a file
/// that cannot be sent a text tells.
pub(crate) fn is_markable(part: PartRef<'_>) -> bool {
    match part {
        PartRef::Text(text) => !text.is_blank(),
        PartRef::Image(_) | PartRef::File(_) => true,
        PartRef::Thinking(_) | PartRef::Call(_) | PartRef::Opaque(_) => false,
    }
}
