//! A job and the replies that it is given, printed for people.

use std::fmt::Write as _;

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, Extra, Finish, Message, Parts, Reply, Role, ToolCall,
};
use interleaf_plan::{
    Job, JobState, Language, Mode, Plan, PlanSettings, Results, StepRequest, Templates,
};

/// A reply of plain text.
pub(crate) fn says(text: &str) -> Reply {
    reply(Message::assistant(text), Finish::Stop)
}

/// A reply with a native call.
pub(crate) fn calls(tool: &str, arguments: &str) -> Reply {
    let call = ToolCall {
        id: CallId::new("call_1").unwrap(),
        name: tool.into(),
        arguments: Arguments::from_text(arguments),
        extra: Extra::NONE,
    };
    let body = Body::Assistant(Parts::one(AssistantPart::Call(call)));
    reply(body.into(), Finish::ToolCalls)
}

/// The same reply, stopped at the output limit.
pub(crate) fn cut(reply: Reply) -> Reply {
    Reply { finish: Finish::Length, ..reply }
}

fn reply(message: Message, finish: Finish) -> Reply {
    Reply::new(message, finish)
}

/// Runs a job on these replies and prints every request and the end.
pub(crate) fn run(
    (plan, results): &(Plan, Results),
    step: usize,
    mode: Mode,
    language: Language,
    replies: &[Reply],
) -> String {
    let settings = PlanSettings { mode, language, ..PlanSettings::default() };
    let templates = Templates::built_in().unwrap();
    let mut job = Job::new(plan, step, results, &settings, &templates).unwrap();
    let mut replies = replies.iter();
    let mut out = String::new();
    let mut before: Option<StepRequest> = None;
    loop {
        match job.next().unwrap() {
            JobState::Ask(request) => {
                check(&request);
                print(&mut out, &request, before.as_ref());
                before = Some(*request);
            }
            JobState::Done(answer) => {
                let arguments = serde_json::to_string_pretty(&answer.arguments.to_value()).unwrap();
                let repairs: Vec<String> = answer
                    .repairs
                    .iter()
                    .map(|repair| format!("{}: {}", repair.path, repair.kind.as_str()))
                    .collect();
                let fell = if answer.fell_back { ", fell back from native" } else { "" };
                writeln!(out, "=== done by {}{fell}\n{arguments}", answer.way.as_str()).unwrap();
                repairs.iter().for_each(|repair| writeln!(out, "mended: {repair}").unwrap());
                answer.notes.iter().for_each(|n| writeln!(out, "note: {}", n.as_str()).unwrap());
                return out;
            }
            JobState::Failed(failure) => {
                writeln!(out, "=== failed after {} attempts", failure.attempts.len()).unwrap();
                for attempt in failure.attempts {
                    writeln!(out, "--- by {}\n{}", attempt.way.as_str(), attempt.call).unwrap();
                    attempt.objections.iter().for_each(|o| writeln!(out, "wrong: {o}").unwrap());
                }
                return out;
            }
        }
        match replies.next() {
            Some(reply) => job.give(reply).unwrap(),
            None => return out,
        }
    }
}

/// No two user messages in a row, one at the end, and valid for any API.
pub(crate) fn check(request: &StepRequest) {
    let roles: Vec<Role> = request.messages.iter().map(Message::role).collect();
    assert!(!roles.windows(2).any(|pair| pair[0] == pair[1] && pair[0] != Role::Tool), "{roles:?}");
    assert_eq!(roles.last(), Some(&Role::User));
    let prompt = request.to_prompt().unwrap();
    let roles: Vec<Role> = prompt.messages().map(|message| message.role()).collect();
    assert!(!roles.windows(2).any(|pair| pair == [Role::User, Role::User]), "{roles:?}");
}

fn print(out: &mut String, request: &StepRequest, before: Option<&StepRequest>) {
    let force = request.force.as_ref().map(|tool| format!(", forces {tool}")).unwrap_or_default();
    let fell = if request.fell_back { ", fell back" } else { "" };
    let way = request.way.as_str();
    writeln!(out, "=== request by {way}, try {}{force}{fell}", request.attempt).unwrap();
    let before = before.filter(|before| before.way == request.way);
    for (i, message) in request.messages.iter().enumerate() {
        let old = before.and_then(|before| before.messages.get(i));
        let text = message.text();
        let role = message.role();
        match old.map(|old| old.text().into_owned()) {
            Some(old) if old == text => writeln!(out, "[{role}] as before").unwrap(),
            Some(old) => {
                // What was added after the last instruction.
                let common = old.split("\n\n").zip(text.split("\n\n"));
                let same: usize =
                    common.take_while(|(old, new)| old == new).map(|(old, _)| old.len() + 2).sum();
                let rest = text.get(same..).unwrap_or_default();
                writeln!(out, "[{role}] as before, then:\n{rest}").unwrap();
            }
            None => writeln!(out, "[{role}]\n{text}").unwrap(),
        }
    }
}
