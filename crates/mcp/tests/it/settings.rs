//! Settings as a person writes them.

use interleaf_mcp::{Reach, ServerSettings};
use serde_json::{Value, json};

fn read(value: Value) -> Result<ServerSettings, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[test]
fn a_server_is_a_command_or_a_url() {
    let files = read(json!({"command": "files", "args": ["."], "timeout": 2.5})).unwrap();
    assert!(matches!(files.reach, Reach::Command { .. }));
    assert_eq!((files.timeout.as_millis(), files.start_timeout.as_secs()), (2_500, 60));
    let search = read(json!({"url": "https://a.example/mcp", "tools": ["find"]})).unwrap();
    assert!(search.offers("find") && !search.offers("delete"));
}

#[test]
fn what_is_wrong_with_settings_names_the_field() {
    let rows = [
        (json!({}), "a server needs a `command` or a `url`"),
        (json!({"command": "a", "url": "http://a"}), "`command` or a `url`, not both"),
        (json!({"command": " "}), "`command` is blank"),
        (json!({"command": "a", "headers": {}}), "`headers` is of servers with a `url`"),
        (json!({"url": "http://a", "env": {}}), "`env` is of servers with a `command`"),
        (json!({"url": "a.example"}), "`url` must begin with http:// or https://"),
        (json!({"command": "a", "timeout": 0}), "`timeout` must be a number of seconds above 0"),
        (json!({"command": "a", "start_timeout": -1}), "`start_timeout` must be a number"),
        (json!({"command": "a", "timeouts": 3}), "unknown field `timeouts`"),
        (json!(["a"]), "an object"),
    ];
    for (settings, words) in rows {
        let error = read(settings.clone()).unwrap_err();
        assert!(error.contains(words), "{settings}: {error}");
    }
}

#[test]
fn what_may_be_secret_is_not_printed() {
    let rows = [
        json!({"command": "a", "env": {"TOKEN": "hush"}}),
        json!({"url": "http://a", "headers": {"Authorization": "Bearer hush"}}),
    ];
    for settings in rows {
        let shown = format!("{:?}", read(settings).unwrap());
        assert!(shown.contains("***") && !shown.contains("hush"), "{shown}");
    }
}
