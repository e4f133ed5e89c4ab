//! The texts: replaced, and checked when they are loaded.

use interleaf_plan::{Job, JobState, Mode, PlanSettings, Templates};

use super::logo;

fn refused(path: &str, source: &str) -> String {
    Templates::with([(path, source)]).unwrap_err().to_string()
}

#[test]
fn an_unknown_variable_is_an_error_with_file_and_line() {
    let source = "objective\n{{ objective }}\n{% if reason %}{{ raeson }}{% endif %}\n";
    let expected = "en/xml/task.jinja, line 3: unknown variable \"raeson\": this text gets \
                    objective, step, steps, tool, reason, description, required, draft, parameters";
    assert_eq!(refused("en/xml/task.jinja", source), expected);
    assert_eq!(
        refused("zh/system.jinja", "\n\n{{ name }}"),
        "zh/system.jinja, line 3: unknown variable \"name\": this text gets nothing"
    );
}

#[test]
fn an_unknown_field_and_a_syntax_error_have_file_and_line() {
    let source = "{% for parameter in parameters %}\n{{ parameter.nmae }}\n{% endfor %}";
    let found = refused("en/native/task.jinja", source);
    assert!(found.starts_with("en/native/task.jinja, line 2: "), "{found}");
    let found = refused("en/native/task.jinja", "a\nb {% if %}");
    assert!(found.starts_with("en/native/task.jinja, line 2: syntax error"), "{found}");
    let found = refused("en/native/task.jinja", "a\n{{ tool | shout }}");
    assert!(found.starts_with("en/native/task.jinja, line 2: "), "{found}");
    let found = refused("en/xml/tasks.jinja", "");
    assert_eq!(found, "en/xml/tasks.jinja: no file of this name is read");
}

#[test]
fn every_built_in_text_can_be_replaced_by_itself() {
    let all: Vec<_> = Templates::files().collect();
    assert_eq!(all.len(), 38);
    assert!(all.iter().all(|(_, text)| !text.trim().is_empty()));
    Templates::with(all).unwrap();
}

#[test]
fn a_replaced_text_is_used_and_its_values_are_escaped_where_they_stand_in_xml() {
    let (mut_plan, results) = logo();
    let text = super::fixture("logo.json").replace("绘制Logo", "a < b & \\\"c\\\"");
    let plan = interleaf_plan::Plan::read(&text, &[]).unwrap();
    assert_eq!(mut_plan.steps().len(), plan.steps().len());
    let templates = Templates::with([
        ("en/xml/task.jinja", "<mine why=\"{{ reason }}\"/>"),
        ("en/xml/instruction.jinja", "{{ tool }} {{ '<' }} {{ '<' | xml }}"),
    ]);
    let templates = templates.unwrap();
    let settings = PlanSettings { mode: Mode::Xml, ..PlanSettings::default() };
    let job = Job::new(&plan, 0, &results, &settings, &templates).unwrap();
    let JobState::Ask(request) = job.next().unwrap() else { panic!("nothing was answered yet") };
    let expected = "<mine why=\"a &lt; b &amp; &quot;c&quot;\"/>\n\nlocal__image_draw < &lt;";
    assert_eq!(request.messages[1].text(), expected);
}

#[test]
fn overlays_stand_between_the_protocol_and_the_stages_text() {
    let (plan, results) = logo();
    let templates = Templates::with([
        ("en/xml/policy.jinja", "POLICY"),
        ("en/precedence.jinja", "FIRST"),
        ("en/system.jinja", "STAGE"),
    ]);
    let templates = templates.unwrap();
    let overlays = vec!["ONE".to_owned(), "  ".to_owned(), "TWO".to_owned()];
    let settings = PlanSettings { mode: Mode::Xml, overlays, ..PlanSettings::default() };
    let job = Job::new(&plan, 0, &results, &settings, &templates).unwrap();
    let JobState::Ask(request) = job.next().unwrap() else { panic!("nothing was answered yet") };
    assert_eq!(request.messages[0].text(), "POLICY\n\nFIRST\n\nONE\n\nTWO\n\nSTAGE");
}
