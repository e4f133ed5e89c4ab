//! Pieces of one candidate; the last, and only it, has a reason to finish.

use serde_json::Value;

use super::{Checked, ensure};

pub(super) fn check(events: &[String]) -> Checked {
    let mut is_finished = false;
    for data in events {
        ensure(!is_finished, "a piece after the last")?;
        let piece: Value = serde_json::from_str(data).map_err(|e| format!("{e}: {data}"))?;
        let [candidate] = piece["candidates"].as_array().map(Vec::as_slice).unwrap_or_default()
        else {
            return Err("not one candidate".to_owned());
        };
        ensure(candidate["index"] == 0, "another candidate")?;
        ensure(candidate["content"]["role"] == "model", "another role")?;
        for part in candidate["content"]["parts"].as_array().ok_or("no parts")? {
            let args = &part["functionCall"]["args"];
            ensure(args.is_null() || args.is_object(), "arguments that are no object")?;
            let is_called = part.get("functionCall").is_some();
            ensure(!is_called || part["functionCall"]["name"].is_string(), "a call in pieces")?;
        }
        is_finished = candidate.get("finishReason").is_some();
        ensure(is_finished || piece.get("usageMetadata").is_none(), "usage before the end")?;
    }
    ensure(is_finished, "no reason to finish")
}
