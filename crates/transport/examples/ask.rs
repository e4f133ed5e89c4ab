//! One question to a model, streamed, in a session.
//!
//! ```text
//! ANTHROPIC_API_KEY=… cargo run -p interleaf-transport --example ask -- \
//!     anthropic claude-sonnet-4-5 "Which planets have rings?" [BASE-URL]
//! ```

use std::io::Write as _;
use std::time::Duration;

use interleaf::assemble::Recipe;
use interleaf::model::Message;
use interleaf::wire::Delta;
use interleaf::{Session, Target, store};
use interleaf_transport::{Retries, Timeouts, Transport};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(vendor), Some(model), Some(question)) = (words.next(), words.next(), words.next())
    else {
        println!("usage: ask VENDOR MODEL QUESTION [BASE-URL]");
        return Ok(());
    };
    let mut target = Target::new(&vendor, &model)?;
    if let Some(url) = words.next() {
        target.vendor = target.vendor.base_url(url);
    }

    // Keys are in the variables of the vendors' rows, such as ANTHROPIC_API_KEY.
    let transport = Transport::builder()
        .timeouts(Timeouts::default().idle(Duration::from_secs(60)))
        .retries(Retries::at_most(2))
        .build()?;

    let mut session = Session::create(store::open("memory:").await?, "a question").await?;
    session.append(Message::user(&question)).await?;
    let recipe = Recipe::new().with_system("You answer in one sentence.");

    // The pieces while they come; the session takes in the answer at the end.
    let mut asking = transport.ask_streaming(&mut session, &recipe, &[target]).await?;
    while let Some(piece) = asking.next().await {
        if let Delta::Text { text, .. } = piece? {
            print!("{text}");
            std::io::stdout().flush()?;
        }
    }
    let answer = asking.finish().await?;
    println!();
    if let Some(spent) = answer.spent {
        let price = answer.price.map_or("unknown".to_owned(), |price| price.to_string());
        eprintln!(
            "{} tokens sent, {} made, price {price}",
            spent.sent(),
            spent.total() - spent.sent()
        );
    }
    Ok(())
}
