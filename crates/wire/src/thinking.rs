//! Which thinking goes back, and to whom.

use interleaf_model::{AssistantPart, Body, Message, Parts, Producer, Thinking, VendorName};
use smol_str::SmolStr;

use crate::Family;
use crate::adjustment::AdjustmentKind;
use crate::encode::Context;

/// Whether a thought may be sent to a family; reports it if not.
///
/// It goes back to its producer only: the same family, and the same model where
/// both are known. Where the producer is not known the family decides by what the
/// thought has (a signature, say), and Bedrock takes a thought that is known to be
/// Anthropic's but not to be another model's. Thinking that the options call unbound
/// does not go back at all.
pub(crate) fn goes_back(cx: &mut Context<'_>, thinking: &Thinking, message: &Message) -> bool {
    let options = cx.options;
    let refused = if options.unbound_thinking.contains(&message.id) {
        Some("it was made for a different prefix")
    } else {
        foreign(thinking, cx.vendor.family, &options.model)
    };
    if let Some(reason) = refused {
        cx.adjustments.add(AdjustmentKind::ThinkingDropped, &message.id, reason);
    }
    refused.is_none()
}

fn foreign(thinking: &Thinking, family: Family, model: &str) -> Option<&'static str> {
    let producer = thinking.producer.as_ref()?;
    let (vendor, codec) = (producer.vendor.as_str(), family.codec());
    let same_vendor = vendor == family.owner()
        || codec.kin.contains(&vendor)
        || codec.hosted_makers.contains(&vendor) && producer.model.is_none();
    let same_model = match &producer.model {
        Some(made_by) => model.is_empty() || is_same_model(made_by, model),
        None => true,
    };
    if !same_vendor {
        Some("another vendor's model made it")
    } else if !same_model {
        Some("another model made it")
    } else {
        None
    }
}

/// Says of the thinking in a body that the body's model made it: it is the one that
/// takes it back.
pub(crate) fn name_producer(messages: &mut [Message], model: &SmolStr) {
    if model.is_empty() {
        return;
    }
    for message in messages {
        let Body::Assistant(parts) = &message.body else { continue };
        let is_unnamed = |part: &AssistantPart| match part {
            AssistantPart::Thinking(thinking) => {
                thinking.producer.as_ref().is_some_and(|producer| producer.model.is_none())
            }
            _ => false,
        };
        if !parts.iter().any(is_unnamed) {
            continue;
        }
        let mut parts = parts.to_vec();
        for part in parts.iter_mut().filter(|part| is_unnamed(part)) {
            if let AssistantPart::Thinking(Thinking { producer: Some(producer), .. }) = part {
                producer.model = Some(model.clone());
            }
        }
        if let Ok(parts) = Parts::new(parts) {
            message.body = Body::Assistant(parts);
        }
    }
}

/// Names the maker of signed thinking that names none: the maker of the body's model, where
/// the model's name tells who that is.
pub(crate) fn name_maker(messages: &mut [Message], model: &str) {
    const MAKERS: [(&str, &str); 2] = [("claude", "anthropic"), ("gemini", "google")];
    let model = model.to_ascii_lowercase();
    let Some((_, maker)) = MAKERS.iter().find(|(name, _)| model.contains(name)) else { return };
    for message in messages {
        let Body::Assistant(parts) = &message.body else { continue };
        let is_unnamed = |part: &AssistantPart| {
            let AssistantPart::Thinking(thinking) = part else { return false };
            thinking.producer.is_none() && thinking.seal.is_some()
        };
        if !parts.iter().any(is_unnamed) {
            continue;
        }
        let mut parts = parts.to_vec();
        for part in parts.iter_mut().filter(|part| is_unnamed(part)) {
            if let AssistantPart::Thinking(thinking) = part {
                let vendor = VendorName::new(maker);
                thinking.producer = Some(Producer { vendor, model: None });
            }
        }
        if let Ok(parts) = Parts::new(parts) {
            message.body = Body::Assistant(parts);
        }
    }
}

/// Whether two names mean one model: an answer names the dated snapshot where the
/// request may have named it without its date.
pub(crate) fn is_same_model(one: &str, other: &str) -> bool {
    let ((one, its_date), (other, other_date)) = (stem_and_date(one), stem_and_date(other));
    one == other && (its_date.is_none() || other_date.is_none() || its_date == other_date)
}

/// `claude-sonnet-4-20250514` is `claude-sonnet-4` with a date, `gpt-5-2025-08-07` is
/// `gpt-5` with one, and `claude-sonnet-4-0` is `claude-sonnet-4` without.
fn stem_and_date(name: &str) -> (&str, Option<&str>) {
    const FORMS: [&str; 2] = ["00000000", "0000-00-00"];
    let name = name.strip_suffix("-latest").unwrap_or(name);
    let fits = |date: &str, form: &str| {
        let same = |(byte, form): (u8, u8)| {
            if form == b'0' { byte.is_ascii_digit() } else { byte == form }
        };
        date.bytes().zip(form.bytes()).all(same)
    };
    let dated = FORMS.iter().find_map(|form| {
        let (before, date) = name.split_at_checked(name.len().checked_sub(form.len())?)?;
        let stem = before.strip_suffix(['-', '@'])?;
        fits(date, form).then_some((stem, Some(date)))
    });
    let (stem, date) = dated.unwrap_or((name, None));
    (stem.strip_suffix("-0").unwrap_or(stem), date)
}
