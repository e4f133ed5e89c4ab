//! Messages, each for itself, and the documents of all.

use std::collections::HashSet;

use super::cache::check_cache_point_places;
use super::rules::{
    CONTENT_EMPTY, DOCUMENT_COUNT, DOCUMENT_NAME_UNIQUE, DOCUMENT_TEXT, MESSAGE_SHAPE,
    RESULTS_ALONE, SIGNED, SYSTEM_SHAPE,
};
use super::{Place, Report, blocks_of, parts};
use crate::bedrock::encode::MOST_DOCUMENTS;
use crate::bedrock::models::results_stand_alone;
use crate::tree::Value;

pub(super) fn check_system(system: Option<&Value>, report: &mut Report<'_>) {
    match system {
        None | Some(Value::Null) => {}
        Some(Value::Array(blocks)) => {
            for (i, value) in blocks.iter().enumerate() {
                parts::check(value, Place::System, &format!("/system/{i}"), report);
            }
            check_cache_point_places(blocks, "/system", report);
        }
        Some(_) => report(&SYSTEM_SHAPE, "/system".to_owned(), String::new()),
    }
}

pub(super) fn check_message(message: &Value, at: &str, model: &str, report: &mut Report<'_>) {
    let place = match message.get("role").and_then(Value::as_str) {
        Some("user") => Place::User,
        Some("assistant") => Place::Assistant,
        Some("system") => Place::System,
        _ => {
            let detail = "role must be user or assistant".to_owned();
            report(&MESSAGE_SHAPE, format!("{at}/role"), detail);
            return;
        }
    };
    let at = format!("{at}/content");
    let Some(Value::Array(content)) = message.get("content") else {
        report(&MESSAGE_SHAPE, at, "content must be a list".to_owned());
        return;
    };
    if content.is_empty() {
        report(&CONTENT_EMPTY, at, String::new());
        return;
    }
    for (i, value) in content.iter().enumerate() {
        parts::check(value, place, &format!("{at}/{i}"), report);
    }
    check_cache_point_places(content, &at, report);
    check_beside_results(content, &at, model, report);
    let thoughts = content.iter().enumerate().filter(|_| model.contains("claude"));
    for (i, block) in thoughts {
        let inner = "/reasoningContent/reasoningText";
        if block.pointer(inner).is_some_and(|thought| thought.get("signature").is_none()) {
            report(&SIGNED, format!("{at}/{i}{inner}"), String::new());
        }
    }
    let has = |kind: &str| content.iter().any(|value| value.get(kind).is_some());
    if has("document") && !has("text") {
        report(&DOCUMENT_TEXT, at, String::new());
    }
}

fn check_beside_results(content: &[Value], at: &str, model: &str, report: &mut Report<'_>) {
    let has_results = content.iter().any(|value| value.get("toolResult").is_some());
    if !has_results || !results_stand_alone(model) {
        return;
    }
    for (i, value) in content.iter().enumerate() {
        let Some(kind) = parts::kind(value) else { continue };
        if !matches!(kind, "toolResult" | "cachePoint") {
            report(&RESULTS_ALONE, format!("{at}/{i}"), kind.to_owned());
        }
    }
}

pub(super) fn check_documents(messages: &[Value], report: &mut Report<'_>) {
    let mut names: HashSet<String> = HashSet::new();
    let mut n_documents = 0;
    let mut see = |document: &Value, at: String, report: &mut Report<'_>| {
        let name = document.get("name").and_then(Value::as_str).unwrap_or_default();
        let name = name.to_lowercase();
        if names.contains(&name) {
            report(&DOCUMENT_NAME_UNIQUE, format!("{at}/name"), name);
        } else {
            names.insert(name);
        }
        n_documents += 1;
        if n_documents == MOST_DOCUMENTS + 1 {
            report(&DOCUMENT_COUNT, at, String::new());
        }
    };
    for (i, value, at) in blocks_of(messages) {
        if let Some(document) = value.get("document") {
            see(document, format!("/messages/{i}{at}/document"), report);
        }
        let inner = value.get("toolResult").and_then(|result| result.get("content"));
        for (j, value) in inner.and_then(Value::as_array).into_iter().flatten().enumerate() {
            if let Some(document) = value.get("document") {
                let at = format!("/messages/{i}{at}/toolResult/content/{j}/document");
                see(document, at, report);
            }
        }
    }
}
