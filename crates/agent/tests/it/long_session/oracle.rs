//! An oracle that knows the script: where the context block must stand in each request that the
//! double received, and what it must say.

use interleaf_doubles::{Asked, Exchange, Part, Role};

use super::script::{self, Folder, Moment};

/// A request as a list of what is said in it, whatever messages the API made of it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Item<'a> {
    Context(&'a str),
    User(&'a str),
    Assistant,
    Result,
}

fn items(asked: &Asked) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    for turn in &asked.turns {
        for piece in &turn.pieces {
            items.push(match (turn.role, &piece.part) {
                (_, Part::Result { .. }) => Item::Result,
                (Role::Assistant, _) => Item::Assistant,
                (_, Part::Text(text)) if text.starts_with("## Agent ") => Item::Context(text),
                (_, Part::Text(text)) => Item::User(text),
                (_, other) => panic!("{other:?}"),
            });
        }
    }
    items
}

/// Where the block goes among the other items: right after the third-last result (C3), before the
/// block of calls that it would stand in (C4), after the user's last words while there are fewer
/// results (C5).
fn place(items: &[Item<'_>]) -> usize {
    let results: Vec<usize> = (0..items.len()).filter(|&at| items[at] == Item::Result).collect();
    let Some(&third) = results.iter().rev().nth(2) else {
        let said = items.iter().rposition(|item| matches!(item, Item::User(_)));
        return said.unwrap() + 1;
    };
    if items.get(third + 1) != Some(&Item::Result) {
        return third + 1;
    }
    let before_results = items[..third].iter().rposition(|item| *item != Item::Result).unwrap();
    let before_calls = items[..=before_results].iter().rposition(|item| *item != Item::Assistant);
    before_calls.map_or(0, |at| at + 1)
}

/// Holds every request to the script.
pub(super) fn check(name: &str, exchanges: &[Exchange], folder: &Folder) {
    let (mut n_main, mut n_scouts) = (0, 0);
    for exchange in exchanges {
        let asked = exchange.asked.as_ref().unwrap();
        if script::is_for_summary(asked) {
            continue;
        }
        let place_in_script = script::place(asked);
        let (task, step) = place_in_script.unwrap_or_else(|| panic!("{name}: {}", exchange.number));
        let at = format!("{name}: request {}, task {task}, step {step}", exchange.number);
        let items = items(asked);
        let is_context = |item: &Item<'_>| matches!(item, Item::Context(_));
        let first = items.iter().position(is_context).unwrap_or_else(|| panic!("{at}: no block"));
        let n = items.iter().filter(|item| is_context(item)).count();
        // One block, together (C7).
        assert!(items[first..first + n].iter().all(is_context), "{at}: it is not together");
        let others: Vec<Item<'_>> =
            items.iter().filter(|item| !is_context(item)).copied().collect();
        assert_eq!(first, place(&others), "{at}: {items:?}");
        let texts: Vec<&str> = items[first..first + n]
            .iter()
            .filter_map(|item| match item {
                Item::Context(text) => Some(*text),
                _ => None,
            })
            .collect();
        match task {
            500.. => {
                n_scouts += 1;
                // They see the list and the information of the moment when they were sent, and
                // notes only on what they read themselves.
                let sent_at = script::moment(script::SCOUTS, 0);
                let seen = Moment { notes: Vec::new(), ..sent_at };
                assert_says(&at, &texts, &seen, "You look for causes.", None);
            }
            _ => {
                n_main += 1;
                let house = Some(folder.path());
                let now = script::moment(task, step);
                assert_says(&at, &texts, &now, "You mend lighthouses.", house);
            }
        }
    }
    assert!(n_main >= 60 && n_scouts == 4, "{name}: {n_main} and {n_scouts} requests");
}

fn assert_says(
    at: &str,
    texts: &[&str],
    now: &Moment,
    role: &str,
    house: Option<&std::path::Path>,
) {
    let Moment { todo, tide, notes, house_rule } = now;
    let of = |heading: &str| {
        let mut found = texts.iter().filter(|text| text.starts_with(heading));
        let text = found.next().copied();
        assert!(found.next().is_none(), "{at}: {heading} is there twice");
        text
    };
    // In this order, each left out if it is empty (C1).
    let headings = ["Role Definition", "TODO List", "Useful Information", "Folder Notes"];
    let there = [true, !todo.is_empty(), tide.is_some(), !notes.is_empty()];
    let expected = headings.iter().zip(there).filter(|(_, is_there)| *is_there);
    let expected: Vec<String> = expected.map(|(title, _)| format!("## Agent {title}")).collect();
    let got: Vec<&str> = texts.iter().map(|text| text.lines().next().unwrap()).collect();
    assert_eq!(got, expected, "{at}");

    let role_text = of("## Agent Role").unwrap();
    assert!(role_text.contains(role), "{at}: {role_text}");
    assert_eq!(role_text.contains(house_rule.as_str()), house.is_some(), "{at}: {role_text}");
    if let Some(house) = house {
        assert!(role_text.contains(&format!("Folder: {}", house.display())), "{at}: {role_text}");
    }
    let lines: Vec<&str> = of("## Agent TODO")
        .map(|text| text.lines().filter(|line| line.starts_with("- [")).collect())
        .unwrap_or_default();
    assert_eq!(&lines, todo, "{at}");
    if let Some(tide) = tide {
        let text = of("## Agent Useful").unwrap();
        assert!(text.contains(tide.trim_end()), "{at}: {text}");
        assert_eq!(text.matches("the tide stands at").count(), 1, "{at}: {text}");
    }
    let text = of("## Agent Folder").unwrap_or_default();
    let n_newest = notes.len().min(5);
    for (n, note) in notes.iter().rev().enumerate() {
        assert_eq!(text.contains(note.as_str()), n < n_newest, "{at}: {note} in {text}");
    }
}
