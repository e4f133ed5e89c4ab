//! Parts of every kind, with everything that a vendor may attach.

use std::sync::Arc;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use interleaf_model::{
    Arguments, AssistantPart, ContentPart, Extra, File, Image, Opaque, Parts, Producer, Seal,
    Source, SystemPart, Text, Thinking, ToolCall,
};

use super::json::{json, json_object};
use super::text::{call_id, name, text, tool_name, vendor};

/// What a model writes as arguments: objects, nothing, and what is no object.
pub fn arguments() -> impl Strategy<Value = Arguments> {
    let broken = select(&["{\"path\": \"a", "[1, 2]", "\"text\"", "null", "ls -la", "{}{}"][..]);
    prop_oneof![
        5 => json_object().prop_map(Arguments::from_json),
        1 => Just(Arguments::none()),
        1 => broken.prop_map(Arguments::from_text),
        1 => text().prop_map(|text| Arguments::from_text(&text)),
    ]
    .boxed()
}

pub(super) fn extra() -> impl Strategy<Value = Extra> {
    let some = btree_map(vendor(), json_object(), 1..3)
        .prop_filter_map("objects only", |map| Extra::from_map(map).ok());
    prop_oneof![5 => Just(Extra::NONE), 1 => some].boxed()
}

pub(super) fn system_parts() -> impl Strategy<Value = Parts<SystemPart>> {
    parts(prop_oneof![
        3 => text_part().prop_map(SystemPart::Text),
        1 => opaque().prop_map(SystemPart::Opaque),
    ])
}

pub(super) fn content_parts() -> impl Strategy<Value = Parts<ContentPart>> {
    parts(prop_oneof![
        4 => text_part().prop_map(ContentPart::Text),
        1 => image().prop_map(ContentPart::Image),
        1 => file().prop_map(ContentPart::File),
        1 => opaque().prop_map(ContentPart::Opaque),
    ])
}

pub(super) fn assistant_parts() -> impl Strategy<Value = Parts<AssistantPart>> {
    parts(prop_oneof![
        3 => text_part().prop_map(AssistantPart::Text),
        3 => tool_call().prop_map(AssistantPart::Call),
        2 => thinking().prop_map(AssistantPart::Thinking),
        1 => image().prop_map(AssistantPart::Image),
        1 => file().prop_map(AssistantPart::File),
        1 => opaque().prop_map(AssistantPart::Opaque),
    ])
}

fn parts<T: Clone + std::fmt::Debug + 'static>(
    part: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Parts<T>> {
    vec(part, 1..5).prop_filter_map("at least one part", |parts| Parts::new(parts).ok()).boxed()
}

fn text_part() -> impl Strategy<Value = Text> {
    (text(), extra()).prop_map(|(text, extra)| Text { text: text.into(), extra })
}

fn source() -> impl Strategy<Value = Source> {
    let base64 = select(&["", "aGk=", "iVBORw0KGgoAAAANSUhEUg=="][..]);
    let url = select(&["https://example.org/a.png", "data:,x", "", "not a url \u{202e}"][..]);
    prop_oneof![
        base64.prop_map(|data| Source::Base64(data.into())),
        url.prop_map(|url| Source::Url(url.into())),
        (vendor(), name()).prop_map(|(owner, id)| Source::Id { owner, id: id.into() }),
    ]
}

fn media_type() -> impl Strategy<Value = Option<&'static str>> {
    option::of(select(&["image/png", "application/pdf", "audio/wav; rate=8000", ""][..]))
}

fn image() -> impl Strategy<Value = Image> {
    (source(), media_type(), extra()).prop_map(|(source, media_type, extra)| Image {
        source,
        media_type: media_type.map(Into::into),
        extra,
    })
}

fn file() -> impl Strategy<Value = File> {
    (source(), media_type(), option::of(name()), extra()).prop_map(
        |(source, media_type, name, extra)| File {
            source,
            media_type: media_type.map(Into::into),
            name: name.map(Into::into),
            extra,
        },
    )
}

pub(super) fn thinking() -> impl Strategy<Value = Thinking> {
    let sealed = || text().prop_map(Arc::<str>::from);
    let seal = prop_oneof![
        sealed().prop_map(|signature| Some(Seal::Signature(signature))),
        sealed().prop_map(|data| Some(Seal::Encrypted(data))),
        Just(None),
    ];
    let producer = (vendor(), option::of(name()))
        .prop_map(|(vendor, model)| Producer { vendor, model: model.map(Into::into) });
    (text(), seal, option::of(producer), extra())
        .prop_map(|(text, seal, producer, extra)| Thinking {
            text: text.into(),
            seal,
            producer,
            extra,
        })
        .boxed()
}

fn tool_call() -> impl Strategy<Value = ToolCall> {
    (call_id(), tool_name(), arguments(), extra())
        .prop_map(|(id, name, arguments, extra)| ToolCall { id, name, arguments, extra })
}

fn opaque() -> impl Strategy<Value = Opaque> {
    (vendor(), json()).prop_map(|(owner, value)| Opaque { owner, value })
}
