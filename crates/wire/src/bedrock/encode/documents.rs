//! Which documents a turn takes, and under which names.
//!
//! Names are unique in a whole request, but a turn is written without regard to the
//! others. So a name ends with a few digits made from its message, unless it is known
//! to come from a body of this API, where names are unique already.

use interleaf_model::{File, Json, Message, Source};
use xxhash_rust::xxh3::xxh3_64;

use crate::bedrock::media::{self, Format};
use crate::bedrock::wire::{object, own_field};
use crate::raw::{self, Fields};

/// The most documents in one request; those of one turn are held to it here.
pub(in crate::bedrock) const MOST_DOCUMENTS: usize = 5;

/// The documents of a turn.
#[derive(Default)]
pub(super) struct Documents {
    /// Their names, in lower case.
    names: Vec<String>,
}

impl Documents {
    /// The name for one more document, if there is room for it.
    pub(super) fn admit(
        &mut self,
        file: &File,
        message: &Message,
        format: &Format,
    ) -> Option<String> {
        let given = file.name.as_deref().unwrap_or_default();
        let name = if is_own_name(file) && !self.names.contains(&given.to_lowercase()) {
            given.to_owned()
        } else {
            let digits = digits(file, message, self.names.len());
            format!("{}-{digits}", media::document_name(given, format.name))
        };
        self.take(&name).then_some(name)
    }

    /// Whether there is room for a document that is given back as it came.
    pub(super) fn admit_own(&mut self, block: &Json) -> bool {
        let document = object(block).and_then(|mut block| block.take_object("document").ok()?);
        let name = document.and_then(|mut document| document.take_text("name").ok()?);
        self.take(&name.unwrap_or_default())
    }

    fn take(&mut self, name: &str) -> bool {
        let name = name.to_lowercase();
        let is_taken = self.names.len() < MOST_DOCUMENTS && !self.names.contains(&name);
        if is_taken {
            self.names.push(name);
        }
        is_taken
    }
}

/// Whether the name is what a body of this API said.
fn is_own_name(file: &File) -> bool {
    let own =
        own_field(&file.extra, "document").and_then(|raw| Fields::read(raw).ok()?.peek("name"));
    let own = own.and_then(|name| raw::text(name).ok());
    own.as_deref() == file.name.as_deref() && own.is_some_and(|name| media::is_document_name(&name))
}

/// A few digits that no other document of a conversation has.
fn digits(file: &File, message: &Message, number: usize) -> String {
    /// 36 to the power of the six digits that are shown.
    const MOST: u64 = 36_u64.pow(6);
    /// Enough of a file to tell it from others.
    const LOOKED_AT: usize = 4096;
    let data = match &file.source {
        Source::Base64(data) | Source::Url(data) => data,
        Source::Id { id, .. } => id,
    };
    let data = data.as_bytes();
    let call = message.as_result().map_or("", |result| result.call.as_str());
    let mut seen = format!("{}\n{call}\n{number}\n{}\n", message.id, data.len()).into_bytes();
    seen.extend_from_slice(&data[..data.len().min(LOOKED_AT)]);
    seen.extend_from_slice(message.text().as_bytes());
    let mut hash = xxh3_64(&seen) % MOST;
    let mut out = String::new();
    for _ in 0..6 {
        out.push(char::from_digit((hash % 36) as u32, 36).unwrap_or('0'));
        hash /= 36;
    }
    out
}

/// The format of a file and where it is, if it can travel.
pub(super) fn format_and_source(file: &File) -> Option<(&'static Format, &Source)> {
    let name = file.name.as_deref().unwrap_or_default();
    let format = sendable(&file.source, file.media_type.as_deref(), name)?;
    Some((format, &file.source))
}

/// The format of a medium, if both it and its source can travel.
pub(super) fn sendable(
    source: &Source,
    media_type: Option<&str>,
    name: &str,
) -> Option<&'static Format> {
    match source {
        Source::Base64(data) if media::is_base64(data) => media::detect(media_type, name, data),
        Source::Url(url) if url.starts_with("s3://") => {
            let by_name = media::detect(media_type, name, "");
            by_name.or_else(|| media::detect(media_type, url, ""))
        }
        Source::Url(url) => {
            let (own_type, data) = media::split_data_url(url)?;
            let known = media_type.filter(|media_type| !media_type.is_empty());
            media::is_base64(data).then(|| media::detect(known.or(Some(own_type)), name, data))?
        }
        Source::Base64(_) | Source::Id { .. } => None,
    }
}
