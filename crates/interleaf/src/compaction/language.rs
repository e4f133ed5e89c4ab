//! Which language a summary is in.

use whatlang::{Lang, detect};

use crate::Error;

/// Codes of two letters, and those of three that stand for the same language.
const SHORT: [(&str, &str); 30] = [
    ("ar", "ara"),
    ("bg", "bul"),
    ("bn", "ben"),
    ("ca", "cat"),
    ("cs", "ces"),
    ("da", "dan"),
    ("de", "deu"),
    ("el", "ell"),
    ("en", "eng"),
    ("es", "spa"),
    ("fa", "pes"),
    ("fi", "fin"),
    ("fr", "fra"),
    ("he", "heb"),
    ("hi", "hin"),
    ("hu", "hun"),
    ("id", "ind"),
    ("it", "ita"),
    ("ja", "jpn"),
    ("ko", "kor"),
    ("nl", "nld"),
    ("pl", "pol"),
    ("pt", "por"),
    ("ro", "ron"),
    ("ru", "rus"),
    ("sv", "swe"),
    ("tr", "tur"),
    ("uk", "ukr"),
    ("vi", "vie"),
    ("zh", "cmn"),
];

fn named(code: &str) -> Option<Lang> {
    let long = SHORT.iter().find(|(short, _)| *short == code).map_or(code, |(_, long)| long);
    Lang::from_code(long)
}

/// Whether a code names a language that can be told.
pub(super) fn known(code: &str) -> Result<(), Error> {
    match named(code) {
        Some(_) => Ok(()),
        None => Err(Error::rule(format!(
            "`language` is {code:?}: it must be a code of ISO 639, such as `en` or `deu`"
        ))),
    }
}

/// The name of the language, in English.
pub(super) fn name(code: &str) -> &str {
    named(code).map_or(code, |lang| lang.eng_name())
}

/// The language of a text, if it is surely another than the one asked for.
pub(super) fn other(text: &str, asked: &str) -> Option<&'static str> {
    let asked = named(asked)?;
    let found = detect(text).filter(|found| found.is_reliable() && found.lang() != asked)?;
    Some(found.lang().eng_name())
}
