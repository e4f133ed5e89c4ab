use std::mem::size_of;

use interleaf_model::{
    Blocks, CallId, Error, Extra, Json, Message, MessageId, Parts, Role, Text, Timestamp,
    Transcript, Usage, notation,
};

fn shared<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}

#[test]
fn every_word_can_be_shared_between_threads() {
    shared::<Message>();
    shared::<Transcript>();
    shared::<Json>();
    shared::<Error>();
}

#[test]
fn an_error_and_an_absent_extra_cost_one_word() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Extra>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Timestamp>>(), 2 * size_of::<u64>());
}

#[test]
fn a_message_has_at_least_one_part() {
    assert!(Parts::<Text>::new(Vec::new()).is_err());
    assert_eq!(Parts::one(Text::new("")).len(), 1);
}

#[test]
fn a_call_id_is_never_blank() {
    for blank in ["", " ", "\t\n", "\u{3000}"] {
        assert!(CallId::new(blank).is_err());
        assert!(serde_json::from_value::<CallId>(blank.into()).is_err());
    }
    assert_eq!(CallId::new(" c1 ").unwrap().as_str(), " c1 ");
}

#[test]
fn an_id_is_unassigned_until_it_has_a_text() {
    assert!(MessageId::default().is_unassigned());
    assert_eq!(MessageId::of_index(7).as_str(), "m7");
}

#[test]
fn a_role_reads_back_from_its_name() {
    for role in Role::ALL {
        assert_eq!(role.as_str().parse(), Ok(role));
        assert_eq!(serde_json::to_value(role).unwrap(), role.as_str());
    }
    assert_eq!(
        "owner".parse::<Role>().unwrap_err().to_string(),
        "unknown role \"owner\": it must be system, user, assistant or tool"
    );
}

#[test]
fn a_timestamp_is_written_in_utc_and_cut_to_microseconds() {
    let at: Timestamp = "2026-11-15T10:00:00.123456789+02:00".parse().unwrap();
    assert_eq!(at.to_string(), "2026-11-15T08:00:00.123456Z");
    assert!("2026-11-15T10:00:00".parse::<Timestamp>().is_err());
    assert!(Timestamp::from_microseconds(i64::MAX).is_err());
    let late = "9999-12-31T23:59:59Z".parse::<Timestamp>().unwrap_err().to_string();
    let range = "instants go from -009999-01-02T01:59:59Z to 9999-12-30T22:00:00Z";
    assert_eq!(late, format!("\"9999-12-31T23:59:59Z\" is out of range: {range}"));
    assert!("9999-12-30T22:00:00Z".parse::<Timestamp>().is_ok());
}

#[test]
fn sums_of_tokens_stop_at_the_largest_number() {
    let most = Usage { prompt: u64::MAX, completion: 1, ..Usage::default() };
    assert_eq!((most + most).prompt, u64::MAX);
    assert_eq!(most.total(), u64::MAX);
}

#[test]
fn thinking_and_white_space_say_nothing() {
    let line = |line: &str| interleaf_model::notation::parse(line).unwrap().remove(0);
    assert!(line("a [think a lot]  \\n").is_blank());
    assert!(line("u [empty]").is_blank());
    assert!(!line("a [call c1 ls]").is_blank());
    assert!(!line("u [{\"type\":\"image\",\"url\":\"https://example.org/a.png\"}]").is_blank());
    assert_eq!(line("a one [think x] two [+] three").text(), "one\ntwo\nthree");
}

#[test]
fn agents_that_name_their_calls_alike_have_blocks_of_their_own() {
    let messages = notation::parse(
        "u go\n\
         a [call c1 scout]\n\
         a{agent=scout} [call c1 look]\n\
         t{agent=scout} c1= a tower\n\
         t c1= the scout saw a tower\n",
    )
    .unwrap();
    assert_eq!(Blocks::find(messages.iter()).positions(), [vec![1, 4], vec![2, 3]]);
}

#[test]
fn a_result_that_names_no_agent_belongs_to_the_only_message_that_made_its_call() {
    let messages = notation::parse("u go\na{agent=scout} [call c7 look]\nt c7= a tower\n").unwrap();
    assert_eq!(Blocks::find(messages.iter()).positions(), [vec![1, 2]]);
}

/// It does not end in time if each result is looked for among all calls.
#[test]
fn parallel_calls_without_number_are_one_block() {
    const CALLS: usize = 40_000;
    let calls: String = (0..CALLS).map(|n| format!(" [call c{n} ls]")).collect();
    let results: String = (0..CALLS).rev().map(|n| format!("t c{n}= src\n")).collect();
    let messages = notation::parse(&format!("u go\na{calls}\n{results}")).unwrap();
    assert_eq!(Blocks::find(messages.iter()).positions(), [Vec::from_iter(1..CALLS + 2)]);
}
