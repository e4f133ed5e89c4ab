//! One session, asked of five APIs.
//!
//! `cargo run -p interleaf --example five_apis`

use interleaf::assemble::Recipe;
use interleaf::model::Message;
use interleaf::wire::{Family, Vendor};
use interleaf::{Session, Target, store};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut session = Session::create(store::open("memory:").await?, "").await?;
    session.append(Message::user("Which files are here?")).await?;
    let recipe = Recipe::new().with_system("You are a careful agent.");
    for family in Family::ALL {
        let target = Target::of(Vendor::of(family).clone(), "a-model").with_key("sk-123");
        if let Some(request) = session.preview(&recipe, &target).await?.request() {
            println!("{family}: {}", String::from_utf8(request.body.to_bytes())?);
        }
    }
    Ok(())
}
