//! An MCP server whose tools stall, die, lose, grow and flood, as a program of its own: this
//! test binary, started anew for the one test below. It knows nothing of the crate, nor of the
//! SDK. The tests of agents have it too.

use std::fs::OpenOptions;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use interleaf_mcp::{Reach, ServerSettings};
use serde_json::{Value, json};

/// What tells the program that it is the server; its value is a folder where it notes what
/// happened.
const NOTES: &str = "INTERLEAF_MCP_DOUBLE";

/// The variable in which it has a secret.
pub(crate) const SECRET: &str = "INTERLEAF_MCP_SECRET";

fn secret() -> String {
    std::env::var(SECRET).unwrap_or_default()
}

/// How the server is started.
pub(crate) fn settings(notes: &Path) -> ServerSettings {
    let test = "double::the_server_that_other_tests_start";
    let program = std::env::current_exe().unwrap().display().to_string();
    // With one thread, the name of the test would be printed into the first message.
    let args = ["--ignored", "--exact", test, "--nocapture", "--test-threads=2"];
    let mut settings = ServerSettings::command(program, args);
    if let Reach::Command { env, .. } = &mut settings.reach {
        env.insert(NOTES.to_owned(), notes.display().to_string().into());
    }
    settings
}

/// What the server noted under a name, line by line.
pub(crate) fn noted(notes: &Path, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(notes.join(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "it is the server that other tests start"]
fn the_server_that_other_tests_start() {
    if let Ok(notes) = std::env::var(NOTES) {
        serve(Path::new(&notes));
    }
}

/// Where messages go out, and who waits for the answer to a question.
#[derive(Clone)]
struct Double {
    notes: Arc<Path>,
    out: Arc<Mutex<std::io::Stdout>>,
    answers: Arc<Mutex<Option<mpsc::Sender<Value>>>>,
    has_grown: Arc<Mutex<bool>>,
    /// Held while nothing may be listed.
    listing: Arc<Mutex<()>>,
    subscription: Arc<Mutex<Option<Value>>>,
}

fn serve(notes: &Path) {
    let double = Double {
        notes: notes.into(),
        out: Arc::new(Mutex::new(std::io::stdout())),
        answers: Arc::default(),
        has_grown: Arc::default(),
        listing: Arc::default(),
        subscription: Arc::default(),
    };
    double.note("started", &std::process::id().to_string());
    if notes.join("refuses-to-start").exists() {
        eprintln!("the license has expired: {}", secret());
        std::process::exit(3);
    }
    while notes.join("hangs-at-the-start").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("\na line that is no message");
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let message: Value = serde_json::from_str(&line).unwrap();
        double.note("heard", message["method"].as_str().unwrap_or("answer"));
        let double = double.clone();
        std::thread::spawn(move || double.hear(&message));
    }
    std::process::exit(0);
}

impl Double {
    fn note(&self, name: &str, text: &str) {
        let file = OpenOptions::new().create(true).append(true).open(self.notes.join(name));
        // In one piece: calls that run at the same time note under the same name.
        file.unwrap().write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    fn say(&self, message: &Value) {
        let mut out = self.out.lock().unwrap();
        writeln!(out, "{message}").unwrap();
        out.flush().unwrap();
    }

    /// Whether it speaks the protocol as it is without a greeting.
    fn is_modern(&self) -> bool {
        self.notes.join("modern").exists()
    }

    /// Tells something by itself, under the subscription if there is one.
    fn tell(&self, what: &str, mut params: Value) {
        if let Some(id) = &*self.subscription.lock().unwrap() {
            params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": id});
        }
        let method = format!("notifications/{what}");
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn hear(&self, message: &Value) {
        let id = &message["id"];
        match message["method"].as_str() {
            Some("initialize") if self.is_modern() => {
                let error = json!({"code": -32601, "message": "Method not found"});
                self.say(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
            Some("server/discover") => {
                let can = json!({"tools": {"listChanged": true}});
                let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                    "capabilities": can, "ttlMs": 0, "cacheScope": "private"});
                self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
            Some("subscriptions/listen") => {
                *self.subscription.lock().unwrap() = Some(id.clone());
                let wanted = &message["params"]["notifications"];
                self.tell("subscriptions/acknowledged", json!({"notifications": wanted}));
            }
            Some("initialize") => {
                let info = json!({"name": "double", "version": "1"});
                let version = &message["params"]["protocolVersion"];
                let can = json!({"tools": {"listChanged": true}});
                let result =
                    json!({"protocolVersion": version, "capabilities": can, "serverInfo": info});
                self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
            Some("tools/list") => {
                let _turn = self.listing.lock().unwrap();
                let tools = self.tools();
                self.say(&json!({"jsonrpc": "2.0", "id": id, "result": {"tools": tools}}));
            }
            Some("tools/call") => self.call(message),
            Some(_) => {}
            None => {
                let waits = self.answers.lock().unwrap().take();
                waits.unwrap().send(message["result"].clone()).unwrap();
            }
        }
    }

    fn tools(&self) -> Vec<Value> {
        let has_grown = *self.has_grown.lock().unwrap();
        let reads = [
            "echo", "stall", "slow", "look", "huge", "grow", "ask", "must_ask", "kinds",
            "nonsense", "refuse", "fail", "leak", "clamor",
        ];
        let changes = ["early", "die", "strike", "write", "breed", "cover"];
        let tool = |name: &str, hints: Value| {
            let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
            json!({"name": name, "description": format!("Does {name}."), "inputSchema": schema,
                "annotations": hints})
        };
        let reads = reads.map(|name| tool(name, json!({"readOnlyHint": true})));
        let changes = changes.map(|name| match name {
            "cover" => tool(name, json!({"idempotentHint": true})),
            _ => tool(name, json!({})),
        });
        let mut tools = Vec::from(reads);
        tools.extend(changes);
        // One that no client can read.
        tools.push(json!({"name": 7}));
        if has_grown {
            tools.retain(|tool| tool["name"] != "early");
            tools.insert(0, tool("late", json!({})));
        }
        tools
    }

    fn call(&self, message: &Value) {
        let (id, params) = (&message["id"], &message["params"]);
        let said = params["arguments"]["text"].as_str().unwrap_or_default();
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        let name = params["name"].as_str().unwrap();
        self.note("called", name);
        let result = match name {
            "echo" | "late" | "early" => text(&format!("{said}!")),
            "stall" => loop {
                std::thread::sleep(Duration::from_secs(60));
            },
            // Six seconds of work, in steps that it tells.
            "slow" => {
                for n in 0..30 {
                    std::thread::sleep(Duration::from_millis(200));
                    let told = json!({"progressToken": params["_meta"]["progressToken"],
                        "progress": n});
                    let method = "notifications/progress";
                    self.say(&json!({"jsonrpc": "2.0", "method": method, "params": told}));
                }
                text("done")
            }
            "die" => {
                eprintln!("out of memory");
                std::process::exit(3);
            }
            // Takes effect and dies, the first time.
            "look" | "strike" | "cover" => {
                self.note(name, "taken effect");
                if super::double::noted(&self.notes, name).len() == 1 {
                    std::process::exit(3);
                }
                text("it is done")
            }
            "write" => {
                self.note("written", said);
                text("written")
            }
            "breed" => {
                let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
                self.note("bred", &child.id().to_string());
                std::thread::spawn(move || child.wait());
                text("bred")
            }
            "huge" => return self.flood(id, said.parse().unwrap()),
            "grow" => {
                *self.has_grown.lock().unwrap() = true;
                self.tell("tools/list_changed", json!({}));
                text("grown")
            }
            "ask" if self.is_modern() => match params.get("inputResponses") {
                Some(answers) if params["requestState"] == "s" => text(&answers.to_string()),
                _ => {
                    let params = json!({"message": "Who?", "requestedSchema": schema(false)});
                    let asked = json!({"method": "elicitation/create", "params": params});
                    json!({"resultType": "input_required", "inputRequests": {"who": asked},
                        "requestState": "s"})
                }
            },
            "ask" | "must_ask" => text(&self.ask(name == "must_ask").to_string()),
            "kinds" => json!({
                "content": [
                    {"type": "text", "text": "a text"},
                    {"type": "image", "data": "aGk=", "mimeType": "image/png"},
                    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
                    {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
                    {"type": "resource", "resource":
                        {"uri": "file:///b", "blob": "aGk=", "mimeType": "image/gif"}},
                    {"type": "resource_link", "uri": "file:///c", "name": "c"},
                ],
                "structuredContent": {"n": 1},
            }),
            "nonsense" => {
                self.say(&json!({"jsonrpc": "2.0", "id": id, "outcome": 7}));
                return;
            }
            "refuse" => {
                let error = json!({"code": -32602, "message": "text must be shorter"});
                self.say(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
                return;
            }
            // Tells its secret, in the way that is asked for.
            "leak" => match said {
                "refuse" => {
                    let error = json!({"code": -32602, "message": secret()});
                    self.say(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
                    return;
                }
                "fail" => {
                    let told = format!("no: {}", secret());
                    json!({"content": [{"type": "text", "text": told}], "isError": true})
                }
                _ => {
                    eprintln!("{}", secret());
                    std::process::exit(3);
                }
            },
            // Says over and over that its list has changed, before it gives any.
            "clamor" => {
                let _turn = self.listing.lock().unwrap();
                for _ in 0..1_000 {
                    self.tell("tools/list_changed", json!({}));
                }
                self.say(&json!({"jsonrpc": "2.0", "id": id, "result": text("quiet")}));
                return;
            }
            "fail" => json!({"content": [{"type": "text", "text": "no"}], "isError": true}),
            other => panic!("{other}"),
        };
        self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// A result of so many bytes, in pieces.
    fn flood(&self, id: &Value, n_bytes: usize) {
        let mut out = self.out.lock().unwrap();
        write!(out, r#"{{"result":{{"content":[{{"type":"text","text":""#).unwrap();
        let piece = "a".repeat(64 * 1024);
        let mut left = n_bytes;
        while left > 0 {
            let n = left.min(piece.len());
            out.write_all(&piece.as_bytes()[..n]).unwrap();
            left -= n;
        }
        writeln!(out, r#""}}]}},"jsonrpc":"2.0","id":{id}}}"#).unwrap();
        out.flush().unwrap();
    }

    /// Asks the user, and gives the answer.
    fn ask(&self, is_required: bool) -> Value {
        let (tell, told) = mpsc::channel();
        *self.answers.lock().unwrap() = Some(tell);
        let properties =
            json!({"name": {"type": "string"}, "n": {"type": "integer", "default": 3}});
        let required: &[&str] = if is_required { &["name"] } else { &[] };
        let schema = json!({"type": "object", "properties": properties, "required": required});
        let params = json!({"message": "Who?", "requestedSchema": schema});
        let method = "elicitation/create";
        self.say(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        told.recv().unwrap()
    }
}

/// What it wants to know.
fn schema(is_required: bool) -> Value {
    let properties = json!({"name": {"type": "string"}, "n": {"type": "integer", "default": 3}});
    let required: &[&str] = if is_required { &["name"] } else { &[] };
    json!({"type": "object", "properties": properties, "required": required})
}
