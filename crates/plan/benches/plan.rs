//! Reading a long reply, and building a large request; each beside the library that does
//! most of the work alone.

#![expect(clippy::unwrap_used, reason = "a bench fails like a test")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use interleaf_model::{Extra, Json, Tool};
use interleaf_plan::calls::{Call, TextTools};
use interleaf_plan::{Job, Mode, Plan, PlanSettings, Results, Schema, StepResult, Templates};
use minijinja::value::Serde;
use serde_json::{Map, Value, json};

fn tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "html": {"type": "string"},
            "rows": {"type": "array", "items": {"type": "object", "properties": {
                "name": {"type": "string"}, "count": {"type": "integer"},
            }}},
        },
        "required": ["html"],
    });
    Tool {
        name: "render".into(),
        description: None,
        parameters: Some(Json::from(&schema)),
        strict: None,
        extra: Extra::NONE,
    }
}

/// Arguments of about 100 KB, half of them code and half of them rows.
fn arguments() -> Map<String, Value> {
    let line = "<p class=\"x\">if (a < b && c > d) { return Vec<T>; }</p>\n";
    let rows: Vec<Value> =
        (0..1_300).map(|i| json!({"name": format!("row <{i}> & more"), "count": i})).collect();
    let html = line.repeat(50_000 / line.len());
    Map::from_iter([
        ("html".to_owned(), Value::String(html)),
        ("rows".to_owned(), Value::Array(rows)),
    ])
}

fn reading(c: &mut Criterion) {
    let text_tools = TextTools::new([&tool()]);
    let call = Call::new("render", arguments());
    let escaped = text_tools.write(std::slice::from_ref(&call));
    let given = call.arguments.to_value();
    let html = given["html"].as_str().unwrap();
    let rows = given["rows"].to_string();
    // As models write it: with nothing escaped.
    let raw = format!(
        "Here it is:\n```xml\n<tools><invoke name=\"render\"><parameter name=\"html\">{html}</parameter>\
         <parameter name=\"rows\">{rows}</parameter></invoke></tools>\n```"
    );
    let as_json = call.arguments.as_str().to_owned();
    assert!([&escaped, &raw, &as_json].iter().all(|text| text.len() > 98_000));
    assert_eq!(text_tools.read(&escaped).calls, std::slice::from_ref(&call));
    assert_eq!(text_tools.read(&raw).calls[0].arguments.to_value()["rows"], given["rows"]);
    let schema = Schema::of_tool(&tool()).unwrap();
    let mut group = c.benchmark_group("100 KB reply");
    group.bench_function("read, escaped", |b| b.iter(|| text_tools.read(black_box(&escaped))));
    group.bench_function("read, raw", |b| b.iter(|| text_tools.read(black_box(&raw))));
    group.bench_function("serde_json alone", |b| {
        b.iter(|| serde_json::from_str::<Value>(black_box(&as_json)).unwrap());
    });
    let value = call.arguments.to_value();
    group
        .bench_function("check against the schema", |b| b.iter(|| schema.check(black_box(&value))));
    group.finish();
}

fn building(c: &mut Criterion) {
    let mut steps: Vec<Value> =
        (0..50).map(|i| json!({"tool": "render", "reason": format!("page {i}")})).collect();
    steps.push(
        json!({"tool": "render", "reason": "all", "depends_on": (0..50).collect::<Vec<_>>()}),
    );
    let plan = json!({"objective": "fifty pages, then one", "steps": steps});
    let plan = Plan::read(&plan.to_string(), &[tool()]).unwrap();
    let mut results = Results::default();
    for step in 0..50 {
        let arguments = Map::from_iter([("html".to_owned(), json!("<p>page</p>".repeat(10)))]);
        let data = json!({"path": format!("/pages/{step}.png"), "size": [800, 600]});
        let (arguments, data) = (Value::Object(arguments).into(), data.into());
        results.insert(step, StepResult { success: true, arguments, data });
    }
    let templates = Templates::built_in().unwrap();
    let mut group = c.benchmark_group("50 dependencies");
    for mode in [Mode::Xml, Mode::Native] {
        let settings = PlanSettings { mode, ..PlanSettings::default() };
        let job = Job::new(&plan, 50, &results, &settings, &templates).unwrap();
        group.bench_function(mode.as_str(), |b| b.iter(|| black_box(&job).next().unwrap()));
    }
    // The texts of the native way, with nothing around them.
    let mut engine = minijinja::Environment::new();
    for (path, source) in Templates::files() {
        engine.add_template(path, source).unwrap();
    }
    let pairs: Vec<(Value, Value)> = results
        .iter()
        .map(|(_, result)| {
            let (arguments, data) = (result.arguments.as_str(), result.data.as_str());
            let given = json!({"arguments": arguments, "result": data});
            (json!({"tool": "render", "reason": "page"}), given)
        })
        .collect();
    let all: String = pairs.iter().map(|(_, given)| given.to_string()).collect();
    group.bench_function("template engine alone", |b| {
        b.iter(|| {
            let user = engine.get_template("en/native/history_user.jinja").unwrap();
            let assistant = engine.get_template("en/native/history_assistant.jinja").unwrap();
            let last = engine.get_template("en/native/dependencies.jinja").unwrap();
            let mut length = last.render(Serde(&json!({"results": all}))).unwrap().len();
            for (ours, theirs) in &pairs {
                length += user.render(Serde(ours)).unwrap().len();
                length += assistant.render(Serde(theirs)).unwrap().len();
            }
            length
        });
    });
    let steps: Vec<Value> =
        results.iter().map(|(_, r)| json!([r.arguments.to_value(), r.data.to_value()])).collect();
    group.bench_function("serde_json alone", |b| {
        b.iter(|| serde_json::to_string_pretty(black_box(&steps)).unwrap());
    });
    group.finish();
}

/// Plans whose steps each depend on all before them.
fn dense(c: &mut Criterion) {
    for n in [500_usize, 1_000, 2_000] {
        let steps = (0..n).map(|at| {
            let needed: Vec<usize> = (0..at).collect();
            json!({"tool": "render", "reason": "a page", "depends_on": needed})
        });
        let steps: Vec<Value> = steps.collect();
        let text = json!({"objective": "each on all before it", "steps": steps}).to_string();
        let plan = Plan::read(&text, &[tool()]).unwrap();
        let mut group = c.benchmark_group(format!("{n} steps on all before them"));
        group.sample_size(10);
        group.bench_function("read", |b| b.iter(|| Plan::read(black_box(&text), &[tool()])));
        group.bench_function("all chains", |b| {
            b.iter(|| (0..n).map(|at| black_box(&plan).chain(at).len()).sum::<usize>());
        });
        group.bench_function("serde_json alone", |b| {
            b.iter(|| serde_json::from_str::<Value>(black_box(&text)).unwrap());
        });
        group.finish();
    }
}

criterion_group!(benches, reading, building, dense);
criterion_main!(benches);
