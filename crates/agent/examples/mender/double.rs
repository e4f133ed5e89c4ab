//! The model's part, where no model is asked.

use interleaf::Target;
use interleaf_doubles::{Answer, Asked, Double, Role, Settings};
use interleaf_transport::Transport;
use serde_json::json;

pub(crate) type Error = Box<dyn std::error::Error>;

fn brain(asked: &Asked) -> Answer {
    let is_scout = asked.texts().any(|text| text.contains("You look for causes."));
    let n_said = asked.turns.iter().filter(|turn| turn.role == Role::Assistant).count();
    match (is_scout, n_said) {
        (true, 0) => Answer::new().with_call("look", &json!({"name": "valve"})),
        (true, _) => Answer::text("It is the valve: it is worn."),
        (false, 0) => Answer::new().with_call("scout", &json!({"task": "Why does it leak?"})),
        (false, 1) => Answer::new().with_call("replace", &json!({"name": "valve"})),
        _ if asked.texts().any(|text| text.contains("- [ ] 1 test the new valve")) => {
            Answer::text("The valve is new; it is yet to be tested.")
        }
        _ => Answer::text("I have nothing to do."),
    }
}

/// Has a double play the model.
pub(crate) async fn play(
    mend: impl AsyncFn(&Transport, Target, &str) -> Result<String, Error>,
) -> Result<(), Error> {
    let double = Double::start(Settings::new().with_brain(brain)).await?;
    let mut target = Target::new("anthropic", "claude-sonnet-4-5")?.with_key("any");
    target.vendor = target.vendor.base_url(double.base_url());
    let transport = Transport::builder().no_proxy().build()?;
    let said = mend(&transport, target, "The horn leaks. Mend it.").await?;
    match said.as_str() {
        "The valve is new; it is yet to be tested." => Ok(()),
        _ => Err(format!("the double said {said:?}").into()),
    }
}
