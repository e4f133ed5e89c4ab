//! Who is asked for arguments when the first model gives no answer.

use interleaf::store::Page;
use interleaf::wire::Family;
use interleaf_agent::{KeptPlan, PlanEnd, PlanEvent};
use interleaf_doubles::{Double, Fault, Planned, Settings};
use interleaf_transport::{Retries, Transport};

use super::{Ran, by_number, diamond, events, plan_of, runner, work};
use crate::world::{FAMILIES, double, session, target};

/// A transport that tries each model once.
fn transport() -> Transport {
    Transport::builder().no_proxy().retries(Retries::none()).build().unwrap()
}

/// A double that fails in this way.
async fn failing(fault: Fault, nth: Option<u64>) -> Double {
    let mut settings = Settings::new().with_brain(by_number);
    settings.faults.push(Planned { nth, fault });
    Double::start(settings).await.unwrap()
}

#[tokio::test]
async fn a_plan_falls_back_to_the_next_model_and_tells_who_answered_each_step() {
    for family in FAMILIES.into_iter().filter(|family| *family != Family::Anthropic) {
        // The first model answers the first step, and is gone then.
        let first = failing(Fault::status(503), Some(2)).await;
        let second = double(by_number).await;
        let ran = Ran::default();
        let other = target(family, &second);
        let (vendor, model) = (other.vendor.name.to_string(), other.options.model.to_string());
        let runner = runner(plan_of(&[("a", &[]), ("b", &["a"])]), &first);
        let runner = runner.with_target(other).with_tool(work(&ran));
        let mut run = runner.start(&transport(), session().await).await.unwrap();
        let all = events(&mut run).await;
        let ended = run.finish().await.unwrap();
        assert_eq!((&ended.end, ended.used.rounds), (&PlanEnd::Completed, 3), "{family}");
        let anthropic = ("anthropic".to_owned(), "claude-sonnet-4-5".to_owned());
        let by = [anthropic.clone(), (vendor.clone(), model.clone())].map(Some);
        assert_eq!(ended.steps.iter().map(|s| s.answered_by.clone()).collect::<Vec<_>>(), by);

        let told = all.iter().map(|event| event.in_words(&diamond())).collect::<Vec<_>>();
        assert!(
            told.iter().any(|line| line.starts_with("no answer, the next is asked: anthropic"))
        );
        let answered = format!("answered by {vendor} {model}: ");
        assert!(told.iter().any(|line| line.starts_with(&answered)), "{told:?}");
        let fell = all.iter().filter(|event| matches!(event, PlanEvent::FellBack { step: 1, .. }));
        assert_eq!(fell.count(), 1);

        // Each request is noted for whom it was made.
        let requests = ended.session.requests(Page::newest(10)).await.unwrap();
        let mut noted: Vec<_> = requests.iter().map(|r| (r.no, r.vendor.as_str())).collect();
        noted.sort_unstable();
        let (a, v) = ("anthropic", vendor.as_str());
        assert_eq!(noted.iter().map(|(_, vendor)| *vendor).collect::<Vec<_>>(), [a, a, v]);
        let kept = KeptPlan::of(&ended.session).await.unwrap().unwrap();
        assert_eq!(kept.asked, [anthropic, (vendor, model)]);

        // A run that goes on knows it from the log.
        let again = runner.start(&transport(), ended.session).await.unwrap();
        let again = again.finish().await.unwrap();
        assert_eq!(again.steps.iter().map(|s| s.answered_by.clone()).collect::<Vec<_>>(), by);
    }
}

#[tokio::test]
async fn a_request_that_is_wrong_in_itself_goes_to_no_other_model() {
    let first = failing(Fault::status(400), None).await;
    let second = double(by_number).await;
    let runner = runner(plan_of(&[("a", &[])]), &first);
    let runner =
        runner.with_target(target(Family::Gemini, &second)).with_tool(work(&Ran::default()));
    let run = runner.start(&transport(), session().await).await.unwrap();
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.end.to_string(), "1 step failed: a");
    assert!(second.requests().is_empty());
}

#[tokio::test]
async fn a_refused_key_ends_a_plan_only_if_nobody_else_can_be_asked() {
    let (first, second) = (failing(Fault::status(401), None).await, double(by_number).await);
    let third = failing(Fault::status(401), None).await;
    let one = runner(plan_of(&[("a", &[])]), &first).with_tool(work(&Ran::default()));
    let none = one.clone().with_target(target(Family::Gemini, &third));
    let ended = none.start(&transport(), session().await).await.unwrap().finish().await.unwrap();
    assert!(matches!(ended.end, PlanEnd::Failed(_)), "{:?}", ended.end);
    let two = one.with_target(target(Family::Gemini, &second));
    let ended = two.start(&transport(), session().await).await.unwrap().finish().await.unwrap();
    assert_eq!(ended.end, PlanEnd::Completed);
}

#[tokio::test]
async fn a_limit_on_requests_counts_those_of_a_fall_back() {
    let (first, second) = (failing(Fault::status(503), None).await, double(by_number).await);
    let mut limits = interleaf_agent::Limits::default();
    limits.rounds = Some(1);
    let runner = runner(plan_of(&[("a", &[])]), &first).with_limits(limits);
    let runner =
        runner.with_target(target(Family::Gemini, &second)).with_tool(work(&Ran::default()));
    let run = runner.start(&transport(), session().await).await.unwrap();
    assert!(matches!(run.finish().await.unwrap().end, PlanEnd::OutOfBudget(_)));
    assert!(second.requests().is_empty());
}
