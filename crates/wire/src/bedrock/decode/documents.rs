//! Documents of one name.

use std::collections::{HashMap, HashSet};

use interleaf_model::{Body, ContentPart, Extra, File, Message, Opaque, Parts};

use super::own;
use crate::bedrock::wire::{OWNER, object, own_field};
use crate::raw::{Fields, ObjectText, text};

/// Names of documents, in lower case.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    /// The last number that each of them got.
    numbers: HashMap<String, u64>,
}

impl Names {
    /// A name with the first number that is free.
    fn numbered(&mut self, name: &str) -> String {
        let number = self.numbers.entry(name.to_lowercase()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{name} {number}");
            if self.taken.insert(numbered.to_lowercase()) {
                return numbered;
            }
        }
    }
}

/// The encoder trusts a name that came with a body of this API, since such names are
/// unique. Of documents that share one the later lose that trust, so that they are sent
/// under another; those that only the API understands get the other at once.
pub(super) fn distrust_doubles(messages: &mut [Message]) -> Result<(), interleaf_model::Error> {
    let mut names = Names::default();
    for message in messages {
        let parts = match &mut message.body {
            Body::User(parts) => parts,
            Body::Tool(result) => &mut result.parts,
            Body::System(_) | Body::Assistant(_) => continue,
        };
        let mut changed = None;
        for (i, part) in parts.iter().enumerate() {
            let Some(name) = trusted_name(part) else { continue };
            if names.taken.insert(name.to_lowercase()) {
                continue;
            }
            let part = match part {
                ContentPart::File(file) => {
                    let extra = without_name(&file.extra)?;
                    ContentPart::File(File { extra, ..file.clone() })
                }
                ContentPart::Opaque(opaque) => {
                    ContentPart::Opaque(renamed(opaque, &name, &mut names)?)
                }
                ContentPart::Text(_) | ContentPart::Image(_) => continue,
            };
            changed.get_or_insert_with(|| parts.to_vec())[i] = part;
        }
        if let Some(changed) = changed {
            *parts = Parts::new(changed)?;
        }
    }
    Ok(())
}

/// The name that a document came with.
fn trusted_name(part: &ContentPart) -> Option<String> {
    let raw = match part {
        ContentPart::File(file) => own_field(&file.extra, "document")?,
        ContentPart::Opaque(opaque) => object(&opaque.value)?.peek("document")?,
        ContentPart::Text(_) | ContentPart::Image(_) => return None,
    };
    let document = Fields::read(raw).ok()?;
    Some(text(document.peek("name")?).ok()?.into_owned())
}

/// The same document with a number after its name.
fn renamed(
    opaque: &Opaque,
    name: &str,
    names: &mut Names,
) -> Result<Opaque, interleaf_model::Error> {
    let name = names.numbered(name);
    let mut block = ObjectText::default();
    if let Some(mut fields) = object(&opaque.value)
        && let Ok(Some(mut document)) = fields.take_object("document")
    {
        document.take("name");
        let mut inner = ObjectText::default();
        inner.push("name", &serde_json::Value::from(name).to_string());
        inner.push_all(&document);
        if let Some(inner) = inner.into_json()? {
            block.push("document", inner.as_str());
        }
        block.push_all(&fields);
    }
    let value = block.into_json()?.unwrap_or_else(|| opaque.value.clone());
    Ok(Opaque { owner: opaque.owner.clone(), value })
}

fn without_name(extra: &Extra) -> Result<Extra, interleaf_model::Error> {
    let mut left = ObjectText::default();
    if let Some(mut fields) = extra.get(OWNER).and_then(object) {
        if let Ok(Some(mut document)) = fields.take_object("document") {
            document.take("name");
            left.push_object("document", &document);
        }
        left.push_all(&fields);
    }
    own(left)
}
