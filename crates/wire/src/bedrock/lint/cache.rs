//! Cache breakpoints.

use super::rules::{CACHE_POINT_COUNT, CACHE_POINT_ORDER, CACHE_POINT_PLACE};
use super::{Report, parts};
use crate::tree::Value;

/// The blocks after which no cache breakpoint may stand.
pub(in crate::bedrock) const UNMARKABLE: &[&str] =
    &["cachePoint", "document", "video", "reasoningContent"];

/// The most cache breakpoints in one request.
const MOST_CACHE_POINTS: usize = 4;

/// A breakpoint follows a block that it may follow.
pub(super) fn check_cache_point_places(blocks: &[Value], at: &str, report: &mut Report<'_>) {
    for (i, value) in blocks.iter().enumerate() {
        if value.get("cachePoint").is_none() {
            continue;
        }
        let before = i.checked_sub(1).and_then(|before| blocks.get(before));
        let before = before.map(|before| parts::kind(before).unwrap_or_default());
        let detail = match before {
            None => "nothing comes before it".to_owned(),
            Some(kind) if UNMARKABLE.contains(&kind) => format!("it follows {kind}"),
            Some(_) => continue,
        };
        report(&CACHE_POINT_PLACE, format!("{at}/{i}"), detail);
    }
}

/// The number of breakpoints, and that short-lived ones come last.
pub(super) fn check_cache_points(body: &Value, report: &mut Report<'_>) {
    let mut points: Vec<(String, &Value)> = Vec::new();
    collect_cache_points(body.pointer("/toolConfig/tools"), "/toolConfig/tools", &mut points);
    collect_cache_points(body.get("system"), "/system", &mut points);
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    for (i, message) in messages.enumerate() {
        let at = format!("/messages/{i}/content");
        collect_cache_points(message.get("content"), &at, &mut points);
    }
    if let Some((at, _)) = points.get(MOST_CACHE_POINTS) {
        report(&CACHE_POINT_COUNT, at.clone(), format!("there are {}", points.len()));
    }
    let mut is_short = false;
    for (at, point) in points {
        let is_long = point.get("ttl").and_then(Value::as_str) == Some("1h");
        if is_long && is_short {
            report(&CACHE_POINT_ORDER, at, String::new());
        }
        is_short |= !is_long;
    }
}

fn collect_cache_points<'a>(
    list: Option<&'a Value>,
    at: &str,
    points: &mut Vec<(String, &'a Value)>,
) {
    let list = list.and_then(Value::as_array).into_iter().flatten().enumerate();
    points.extend(
        list.filter_map(|(i, value)| Some((format!("{at}/{i}"), value.get("cachePoint")?))),
    );
}
