//! What is secret in the settings of a server, and a server that tells it.

use interleaf_mcp::{Reach, Server, ServerSettings};

use crate::double::SECRET;
use crate::site::Site;
use crate::world::World;

const TOKEN: &str = "hush-7-hush";

fn world() -> World {
    World::new(|settings| {
        let Reach::Command { env, .. } = &mut settings.reach else { unreachable!() };
        env.insert(SECRET.to_owned(), TOKEN.into());
    })
}

#[tokio::test]
async fn no_error_of_a_call_shows_what_the_settings_hide() {
    let world = world();
    for way in ["refuse", "die"] {
        let error = world.call("leak", way).await.unwrap_err();
        assert!(error.contains("***") && !error.contains(TOKEN), "{way}: {error}");
    }
    // What a tool says that failed is an error too.
    assert_eq!(world.call("leak", "fail").await, Ok("no: ***".to_owned()));
    // What it says otherwise is its own.
    assert_eq!(world.call("echo", TOKEN).await, Ok(format!("{TOKEN}!")));
}

#[tokio::test]
async fn no_error_of_a_program_that_does_not_start_shows_what_the_settings_hide() {
    let world = world();
    std::fs::write(world.notes.path().join("refuses-to-start"), "").unwrap();
    let error = world.server.connect().await.unwrap_err().to_string();
    assert!(error.contains("the license has expired: ***") && !error.contains(TOKEN), "{error}");
}

#[tokio::test]
async fn no_error_of_a_server_over_http_shows_the_token_of_a_header() {
    let site = Site::start().await;
    for (value, shown) in [(format!("Bearer {TOKEN}"), "\"***\""), (TOKEN.to_owned(), "\"***\"")] {
        let mut settings = ServerSettings::url(format!("http://{}/echo", site.address));
        let Reach::Url { headers, .. } = &mut settings.reach else { unreachable!() };
        headers.insert("Authorization".into(), value.into());
        let error = Server::new("site", settings).connect().await.unwrap_err().to_string();
        assert!(error.contains(shown) && !error.contains(TOKEN), "{error}");
    }
}
