//! In what a vendor differs from its family.

use serde::Deserialize;

use crate::Family;
use crate::names::Alphabet;

/// Writes the struct of quirks and, for configuration, one that says only some of them.
macro_rules! quirks {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)*) => {
        /// In what a vendor differs from its family.
        ///
        /// ```
        /// use interleaf_wire::{Family, Quirks};
        ///
        /// let mut quirks = Quirks::of(Family::OpenaiChat);
        /// quirks.one_system = true;
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Quirks {
            $($(#[$doc])* pub $name: $kind,)*
        }

        /// Some quirks, as configuration says them.
        #[derive(Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub(super) struct SomeQuirks {
            $($name: Option<$kind>,)*
        }

        impl SomeQuirks {
            /// These, and for the rest those of the family.
            pub(super) fn over(self, family: Quirks) -> Quirks {
                Quirks { $($name: self.$name.unwrap_or(family.$name),)* }
            }
        }
    };
}

quirks! {
    /// Which call ids it takes.
    call_ids: Alphabet,
    /// Which tool names it takes.
    tool_names: Alphabet,
    /// Exactly one system message, at the head.
    one_system: bool,
    /// User and assistant must take turns: neighbours of one role become one.
    strict_alternation: bool,
    /// A user message may not follow a tool result: a short assistant turn is put between.
    bridge_after_results: bool,
    /// Content is a plain string wherever there is no media.
    plain_content: bool,
    /// `""` instead of `null` beside calls.
    empty_content: bool,
    /// Where thinking is sent back.
    reasoning: Reasoning,
    /// `max_completion_tokens` instead of `max_tokens`.
    completion_tokens: bool,
    /// Whether a tool can be forced: `required`, or one by name.
    forced_tools: bool,
    /// The chat API with all that is OpenAI's own: the developer role, custom tools,
    /// refusals, a cache key.
    native: bool,
    /// Thinking goes back beside calls and nowhere else, and there it must stand, if
    /// only as an empty text.
    reasoning_with_calls: bool,
    /// An assistant message at the end must say that it is a prefix.
    prefix_last: bool,
    /// Pictures travel inline, not by their address.
    inline_images: bool,
    /// Definitions in a tool's schema must stand where they are used.
    inline_definitions: bool,
    /// Whether there is a setting `top_k`.
    top_k: bool,
    /// Whether a stream tells its usage only if asked, with `stream_options`.
    stream_usage: bool,
    /// Vertex AI's stricter reading of Gemini: names in camel case only, a role in every
    /// content, no blank texts, and no setting for tools of both kinds side by side.
    vertex: bool,
    /// Whether fields that it does not know are refused: those of chat messages and their parts,
    /// and those at the top of a body of Anthropic's or Google's.
    known_fields: bool,
    /// Whether a body may leave out its model: the address names it, or the server has only
    /// one.
    optional_model: bool,
    /// How thinking is switched on and off.
    switch: Switch,
    /// Its models call no functions: tools, calls and results are written as text.
    text_tools: bool,
}

/// Where a chat vendor takes thinking back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reasoning {
    /// Nowhere.
    None,
    /// In `reasoning_content`.
    ReasoningContent,
    /// In `reasoning`.
    Reasoning,
    /// In both: one server reads one, one the other.
    Both,
    /// In a part of the content.
    Part,
}

/// How a chat vendor lets thinking be switched on and off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Switch {
    /// Not at all, or in a way that depends on the model.
    None,
    /// `thinking: {"type": "enabled"}`.
    Thinking,
    /// `enable_thinking: true`.
    EnableThinking,
}

impl Quirks {
    /// Those that every vendor of a family has, unless it is known to differ.
    pub const fn of(family: Family) -> Self {
        family.codec().quirks
    }

    /// No quirks, beside the alphabets.
    pub(crate) const fn none(call_ids: Alphabet, tool_names: Alphabet) -> Self {
        Self {
            call_ids,
            tool_names,
            one_system: false,
            strict_alternation: false,
            bridge_after_results: false,
            plain_content: false,
            empty_content: false,
            reasoning: Reasoning::None,
            completion_tokens: false,
            forced_tools: true,
            native: false,
            reasoning_with_calls: false,
            prefix_last: false,
            inline_images: false,
            inline_definitions: false,
            top_k: false,
            stream_usage: true,
            vertex: false,
            known_fields: false,
            optional_model: false,
            switch: Switch::None,
            text_tools: false,
        }
    }
}
