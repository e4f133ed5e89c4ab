//! Servers over HTTP.

use interleaf_mcp::{ErrorKind, Reach, Server, ServerSettings};

use crate::site::Site;
use crate::world::until;

async fn text(server: &Server, tool: &str) -> Result<String, String> {
    let answer = server.call(tool, "{}").await;
    answer.map(|answer| answer.text).map_err(|error| error.to_string())
}

fn server(site: &Site) -> Server {
    Server::new("site", ServerSettings::url(site.url()))
}

#[tokio::test]
async fn a_tool_is_called_over_http() {
    let site = Site::start().await;
    let server = server(&site);
    assert_eq!(text(&server, "look").await, Ok("look".to_owned()));
    assert_eq!(server.tools().len(), 7);
}

#[tokio::test]
async fn a_server_that_forgot_the_session_is_connected_anew_and_called_once() {
    for status in [404, 400] {
        let site = Site::start().await;
        *site.seen.unknown.lock().unwrap() = status;
        let server = server(&site);
        assert_eq!(text(&server, "write").await, Ok("write".to_owned()));
        *site.seen.session.lock().unwrap() += 1;
        assert_eq!(text(&server, "write").await, Ok("write".to_owned()), "{status}");
        assert_eq!(site.seen.calls().len(), 2);
    }
}

#[tokio::test]
async fn a_server_that_went_away_and_came_back_is_connected_anew() {
    let site = Site::start().await;
    let (server, address) = (server(&site), site.address);
    server.connect().await.unwrap();
    drop(site);
    let mut gone = server.call("write", "{}").await;
    // What accepts connections ends a moment after it was told to.
    while gone.is_ok() {
        gone = server.call("write", "{}").await;
    }
    let error = gone.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Lost | ErrorKind::Unreached), "{error}");
    let site = Site::start_at(address).await;
    assert_eq!(text(&server, "write").await, Ok("write".to_owned()));
    assert_eq!(site.seen.calls().len(), 1);
}

#[tokio::test]
async fn an_answer_that_is_cut_is_asked_for_again_only_if_the_tool_reads() {
    let site = Site::start().await;
    let server = server(&site);
    assert_eq!(text(&server, "cut_look").await, Ok("cut_look".to_owned()));
    let error = text(&server, "cut_write").await.unwrap_err();
    assert!(error.contains("It may have taken effect"), "{error}");
    assert_eq!(site.seen.calls(), ["cut_look", "cut_look", "cut_write"]);
}

#[tokio::test]
async fn fifty_megabytes_over_http_are_told_and_not_taken_in() {
    let site = Site::start().await;
    let server = server(&site);
    for tool in ["huge_json", "huge_events"] {
        let error = text(&server, tool).await.unwrap_err();
        assert!(error.contains("has more than 16777216 bytes"), "{tool}: {error}");
        assert_eq!(text(&server, "look").await, Ok("look".to_owned()));
    }
    assert_eq!(*site.seen.session.lock().unwrap(), 1);
}

#[tokio::test]
async fn late_tools_are_heard_of_over_http() {
    let site = Site::start().await;
    let server = server(&site);
    server.connect().await.unwrap();
    // The server tells whoever listens, and the connection listens a moment after its start.
    until("the late tool is there", || {
        let (grows, all) = (server.clone(), server.tools());
        tokio::spawn(async move { grows.call("grow", "{}").await });
        all.last().is_some_and(|tool| tool.name == "late")
    })
    .await;
    assert_eq!(server.tools().len(), 8);
}

#[tokio::test]
async fn no_error_shows_the_address_which_may_hold_a_key() {
    let site = Site::start().await;
    let gone = format!("{}?key=hush", site.url());
    drop(site);
    let server = Server::new("gone", ServerSettings::url(gone));
    loop {
        // What accepts connections ends a moment after it was told to.
        let Err(error) = server.connect().await else {
            server.close().await;
            continue;
        };
        assert!(!error.to_string().contains("hush"), "{error}");
        break;
    }
}

#[tokio::test]
async fn headers_are_sent_with_what_their_variables_say() {
    let site = Site::start().await;
    let mut settings = ServerSettings::url(site.url());
    let Reach::Url { headers, .. } = &mut settings.reach else { unreachable!() };
    // Some variable that every machine has.
    headers.insert("Authorization".into(), "Bearer ${PATH}".into());
    Server::new("site", settings.clone()).connect().await.unwrap();
    let path = std::env::var("PATH").unwrap();
    assert!(site.seen.keys.lock().unwrap().iter().all(|key| *key == format!("Bearer {path}")));
    let rows = [
        ("Authorization", "${NO_SUCH_VARIABLE}", "the variable NO_SUCH_VARIABLE is not set"),
        ("Mcp-Session-Id", "7", "`headers.Mcp-Session-Id` belongs to the protocol"),
        ("a b", "7", "`headers.a b` is no name of a header"),
    ];
    for (name, value, words) in rows {
        let mut settings = ServerSettings::url(site.url());
        let Reach::Url { headers, .. } = &mut settings.reach else { unreachable!() };
        headers.insert(name.into(), value.into());
        let error = Server::new("site", settings).connect().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Settings);
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_says_why_and_a_redirect_to_itself_is_followed() {
    let site = Site::start().await;
    let closed = format!("http://{}/closed", site.address);
    let error = Server::new("closed", ServerSettings::url(closed)).connect().await.unwrap_err();
    assert!(error.to_string().contains("HTTP 401 Unauthorized no key"), "{error}");
    let moved = Server::new("moved", ServerSettings::url(format!("http://{}/moved", site.address)));
    assert_eq!(text(&moved, "look").await, Ok("look".to_owned()));
}

#[tokio::test]
async fn an_error_of_a_server_that_cannot_be_reached_has_its_cause() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server::new("away", ServerSettings::url(format!("http://{free}/mcp")));
    let error = text(&server, "look").await.unwrap_err();
    assert!(error.to_lowercase().contains("connection refused"), "{error}");
    assert!(!error.contains("Client error"), "{error}");
}
