//! The worked example on every path, in every mode.

use interleaf_model::{Message, Reply, Role};
use interleaf_plan::{InXml, Job, JobState, Language, Mode, PlanSettings, Results, Templates};

use super::exchange::{calls, check, cut, run, says};
use super::logo;

const RENDER: &str = "local__web_render_image";
const PAGE: &str = "<img src=\"https://pictures.example/logo.png?a=1&b=2\">";

fn xml_call(parameters: &str) -> Reply {
    says(&format!("<tools><invoke name=\"{RENDER}\">{parameters}</invoke></tools>"))
}

fn good_xml() -> Reply {
    xml_call(&format!("<parameter name=\"html\">{PAGE}</parameter>"))
}

fn good_native() -> Reply {
    calls(RENDER, &serde_json::json!({"html": PAGE}).to_string())
}

fn wrong_xml() -> Reply {
    xml_call(
        "<parameter name=\"width\">0</parameter><parameter name=\"formats\">[\"png\",\"gif\"]</parameter>",
    )
}

fn wrong_native() -> Reply {
    calls(RENDER, r#"{"width":0,"formats":["png","gif"]}"#)
}

fn odd_xml() -> Reply {
    let parameters = "<parameter name=\"HTML\"><p>Alarm</p></parameter>\
                      <parameter name=\"width\">\"800\"</parameter>\
                      <parameter name=\"formats\">PNG</parameter>";
    xml_call(parameters)
}

fn odd_native() -> Reply {
    calls(RENDER, r#"{"html":"<p>Alarm</p>","width":"800","formats":"[\"png\",\"webp\"]"}"#)
}

macro_rules! path {
    ($name:ident, $mode:expr, $language:expr, $replies:expr) => {
        #[test]
        fn $name() {
            let printed = run(&logo(), 1, $mode, $language, &$replies);
            insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
                insta::assert_snapshot!(stringify!($name), printed);
            });
        }
    };
}

path!(first_try_by_xml, Mode::Xml, Language::En, [good_xml()]);
path!(first_try_by_native, Mode::Native, Language::En, [good_native()]);
path!(first_try_by_auto, Mode::Auto, Language::En, [good_native()]);
path!(first_try_by_xml_in_chinese, Mode::Xml, Language::Zh, [good_xml()]);
path!(first_try_by_native_in_chinese, Mode::Native, Language::Zh, [good_native()]);
path!(retry_by_xml, Mode::Xml, Language::En, [wrong_xml(), good_xml()]);
path!(retry_by_native, Mode::Native, Language::En, [wrong_native(), good_native()]);
path!(retry_by_auto, Mode::Auto, Language::Zh, [wrong_native(), good_native()]);
path!(repair_by_xml, Mode::Xml, Language::En, [odd_xml()]);
path!(repair_by_native, Mode::Native, Language::En, [odd_native()]);
path!(repair_by_auto, Mode::Auto, Language::En, [odd_native()]);
path!(no_call_by_xml, Mode::Xml, Language::En, [says("I would rather talk."), good_xml()]);
path!(no_call_by_native, Mode::Native, Language::En, [says("I would rather talk."), good_native()]);
path!(fallback_by_auto, Mode::Auto, Language::En, [says("I would rather talk."), good_xml()]);
path!(
    retry_after_a_fallback_by_auto,
    Mode::Auto,
    Language::En,
    [says("No."), wrong_xml(), good_xml()]
);
path!(
    failure_tells_all_attempts,
    Mode::Xml,
    Language::En,
    [says("No."), wrong_xml(), cut(says("<tools><invoke name=\"local__web_render_image\">"))]
);

#[test]
fn the_recommended_messages_are_system_assistant_user() {
    let (plan, results) = logo();
    let (templates, settings) = (Templates::built_in().unwrap(), PlanSettings::default());
    let xml = PlanSettings { mode: Mode::Xml, ..settings.clone() };
    let roles = |settings: &PlanSettings| {
        let job = Job::new(&plan, 1, &results, settings, &templates).unwrap();
        let JobState::Ask(request) = job.next().unwrap() else {
            panic!("nothing was answered yet")
        };
        request.messages.iter().map(Message::role).collect::<Vec<_>>()
    };
    assert_eq!(roles(&xml), [Role::System, Role::Assistant, Role::User]);
    assert_eq!(roles(&settings), [Role::System, Role::User, Role::Assistant, Role::User]);
}

#[test]
fn another_tools_call_is_not_accepted_in_any_mode() {
    let other = calls("local__image_draw", r#"{"prompt":"x"}"#);
    let as_text = says(
        "<invoke name=\"local__image_draw\"><parameter name=\"prompt\">x</parameter></invoke>",
    );
    for (mode, reply) in [(Mode::Native, other.clone()), (Mode::Auto, other), (Mode::Xml, as_text)]
    {
        let printed = run(&logo(), 1, mode, Language::En, &[reply.clone(), reply.clone(), reply]);
        assert!(printed.contains("=== failed after 3 attempts"), "{printed}");
        assert!(printed.contains("\"local__image_draw\" was called, which is not"), "{printed}");
    }
}

#[test]
fn a_call_that_ends_with_the_text_is_asked_for_again() {
    let half = says(&format!("<invoke name=\"{RENDER}\"><parameter name=\"html\">a</parameter>"));
    for reply in [half.clone(), cut(half)] {
        let printed = run(&logo(), 1, Mode::Xml, Language::En, &[reply]);
        assert!(printed.contains("it ends inside the call"), "{printed}");
    }
    let half = cut(calls(RENDER, r#"{"html":"a"#));
    let printed = run(&logo(), 1, Mode::Native, Language::En, &[half]);
    assert!(printed.contains("it ends inside the call"), "{printed}");
}

#[test]
fn an_integer_of_more_than_64_bits_is_kept_exact() {
    let schema = serde_json::json!({"type": "object", "properties":
        {"n": {"type": "integer"}, "tags": {"type": "array"}}});
    let plan = serde_json::json!({"objective": "o", "tools": [{"name": "f", "parameters": schema}],
        "steps": [{"tool": "f"}]});
    let plan = interleaf_plan::Plan::read(&plan.to_string(), &[]).unwrap();
    let (results, templates) = (Results::default(), Templates::built_in().unwrap());
    let wide = "123456789012345678901234567890";
    let call = |body: &str| format!("<invoke name=\"f\">{body}</invoke>");
    for (mode, reply) in [
        (Mode::Native, calls("f", &format!("{{\"n\":{wide}}}"))),
        // What is mended keeps its digits too: a string, and a list of one.
        (Mode::Native, calls("f", &format!("{{\"n\":\"{wide}\"}}"))),
        (Mode::Native, calls("f", &format!("{{\"n\":[{wide}],\"tags\":\"a\"}}"))),
        (Mode::Xml, says(&call(&format!("<parameter name=\"n\">{wide}</parameter>")))),
        (Mode::Xml, says(&call(&format!("{{\"n\": {wide}}}")))),
    ] {
        let settings = PlanSettings { mode, ..PlanSettings::default() };
        let mut job = Job::new(&plan, 0, &results, &settings, &templates).unwrap();
        job.give(&reply).unwrap();
        let JobState::Done(found) = job.next().unwrap() else { panic!("{reply:?}") };
        assert!(
            found.arguments.as_str().contains(&format!(":{wide}"))
                || found.arguments.as_str().contains(&format!(": {wide}")),
            "{:?}",
            found.arguments
        );
    }
    // A result keeps them on its way to the next step.
    let text = format!("{{\"0\": {{\"data\": {{\"n\": {wide}}}}}}}");
    let results = Results::read(&text, &plan).unwrap();
    assert!(results.write(&plan).contains(wide));
}

#[test]
fn different_calls_in_one_reply_leave_doubt_and_equal_ones_none() {
    let call = |html: &str| {
        format!("<invoke name=\"{RENDER}\"><parameter name=\"html\">{html}</parameter></invoke>")
    };
    let printed = run(&logo(), 1, Mode::Xml, Language::En, &[says(&(call("a") + &call("b")))]);
    assert!(printed.contains("it has 2 different calls"), "{printed}");
    let twice = call("a") + &call("b") + &call("a");
    let printed = run(&logo(), 1, Mode::Xml, Language::En, &[says(&twice)]);
    assert!(printed.contains("it has 2 different calls"), "{printed}");
    let printed = run(&logo(), 1, Mode::Xml, Language::En, &[says(&(call("a") + &call("a")))]);
    assert!(printed.contains("=== done"), "{printed}");
}

#[test]
fn a_draft_is_shown_and_never_taken_for_an_answer() {
    let text = super::fixture("logo.json")
        .replace("\"depends_on\": [0]", "\"draft\": {\"html\": \"<draft>\"}");
    let plan = interleaf_plan::Plan::read(&text, &[]).unwrap();
    let pair = (plan, Results::default());
    let replies = [says("no"), says("no"), says("no")];
    let printed = run(&pair, 1, Mode::Xml, Language::En, &replies);
    assert!(
        printed.contains("<draft_arguments>{&quot;html&quot;:&quot;&lt;draft&gt;&quot;}"),
        "{printed}"
    );
    assert!(printed.contains("=== failed after 3 attempts"), "{printed}");
}

#[test]
fn the_conversation_is_left_out_of_xml_unless_it_is_kept() {
    let (plan, results) = logo();
    let templates = Templates::built_in().unwrap();
    let conversation =
        vec![Message::user("hello"), Message::assistant("hi"), Message::user("draw")];
    let texts = |mode, conversation_in_xml| {
        let conversation = conversation.clone();
        let settings =
            PlanSettings { mode, conversation, conversation_in_xml, ..PlanSettings::default() };
        let job = Job::new(&plan, 1, &results, &settings, &templates).unwrap();
        let JobState::Ask(request) = job.next().unwrap() else {
            panic!("nothing was answered yet")
        };
        check(&request);
        request.messages.iter().map(|m| m.text().into_owned()).collect::<Vec<_>>().join("\n@@\n")
    };
    assert!(!texts(Mode::Xml, InXml::LeaveOut).contains("hello"));
    assert!(texts(Mode::Xml, InXml::Keep).contains("hello"));
    assert!(texts(Mode::Native, InXml::LeaveOut).contains("draw\n\nNow use local__image_draw."));
}

#[test]
fn a_step_whose_dependency_has_no_result_is_not_asked_for() {
    let (plan, _) = logo();
    let (results, settings) = (Results::default(), PlanSettings::default());
    let templates = Templates::built_in().unwrap();
    let error = Job::new(&plan, 1, &results, &settings, &templates).unwrap_err();
    assert_eq!(error.to_string(), "steps[1]: step 1 needs the result of step 0, which is missing");
}

#[test]
fn a_job_that_is_over_takes_no_reply() {
    let (plan, results) = logo();
    let settings = PlanSettings { mode: Mode::Native, tries: 1, ..PlanSettings::default() };
    let templates = Templates::built_in().unwrap();
    let mut job = Job::new(&plan, 1, &results, &settings, &templates).unwrap();
    job.give(&good_native()).unwrap();
    assert!(job.give(&good_native()).is_err());
    assert!(matches!(job.next().unwrap(), JobState::Done(_)));
}
