//! The client that the official conformance suite drives, by `tests/conformance/run`: it connects
//! to the server at an address, and calls each of its tools once.
//!
//! ```sh
//! cargo run -p interleaf-mcp --example conformance -- http://localhost:3000/mcp
//! ```

use std::process::ExitCode;

use interleaf_mcp::{Server, ServerSettings, ServerTool};
use serde_json::{Map, Value};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(url) = std::env::args().nth(1) else {
        eprintln!("usage: conformance URL");
        return ExitCode::from(2);
    };
    let server = Server::new("conformance", ServerSettings::url(url));
    match call_all(&server).await {
        Ok(()) => {
            server.close().await;
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn call_all(server: &Server) -> Result<(), interleaf_mcp::Error> {
    server.connect().await?;
    for tool in server.tools() {
        let answer = server.call(&tool.name, &arguments(&tool)).await?;
        println!("{}: {}", tool.name, answer.text);
    }
    Ok(())
}

/// Something for each argument that a tool takes.
fn arguments(tool: &ServerTool) -> String {
    let schema = tool.schema.to_value();
    let properties = schema.get("properties").and_then(Value::as_object);
    let something = |(name, schema): (&String, &Value)| {
        let value = match schema.get("type").and_then(Value::as_str) {
            Some("number" | "integer") => Value::from(5),
            Some("boolean") => Value::from(true),
            _ => Value::from("something"),
        };
        (name.clone(), value)
    };
    let values: Map<String, Value> = properties.into_iter().flatten().map(something).collect();
    Value::from(values).to_string()
}
