//! What the prompts are made of, one layer upon the other.

use std::collections::BTreeSet;

use super::canvas::{Canvas, LABELS, through};
use super::labels::spread;
use super::scale::{ticks, tokens};
use crate::replay::{Play, Reading};

/// A layer: its style, what it is called, and its tokens in each request.
struct Layer {
    class: String,
    name: String,
    values: Vec<Option<u64>>,
}

/// Draws the prompts of a session that was played in one way.
pub(super) fn draw(title: &str, subtitle: &str, play: &Play, marks: &[(usize, String)]) -> String {
    let layers = layers(play);
    let n = play.requests.len();
    let mut sums: Vec<Vec<Option<f64>>> = vec![vec![Some(0.0); n]];
    for layer in &layers {
        let below = sums.last().map_or(&[][..], Vec::as_slice);
        let sum = below.iter().zip(&layer.values).map(|(b, v)| Some((*b)? + (*v)? as f64));
        sums.push(sum.collect());
    }
    let highest = sums.last().into_iter().flatten().flatten().copied().fold(1.0, f64::max);
    let ticks = ticks(0.0, highest, 5);
    let range = (0.0, ticks.last().copied().unwrap_or(1.0));
    let figures: Vec<String> = layers.iter().map(Layer::figure).collect();
    let label = |(layer, figure): (&Layer, &String)| {
        layer.name.chars().count() + figure.chars().count() + 3
    };
    let longest = layers.iter().zip(&figures).map(label).max().unwrap_or(0);
    let mut canvas = Canvas::new((title, subtitle), n, range, longest);
    canvas.axes(&ticks, tokens);
    let mut ends = Vec::with_capacity(layers.len());
    for (layer, pair) in layers.iter().zip(sums.windows(2)) {
        let [below, above] = pair else { continue };
        let at = |(i, value): (usize, f64)| (canvas.x.at(i as f64 + 1.0), canvas.y.at(value));
        let mut path = String::new();
        for (start, end) in stretches(above) {
            let upper = (start..end).filter_map(|i| Some(at((i, above[i]?))));
            let lower = (start..end).rev().filter_map(|i| Some(at((i, below[i]?))));
            path.push_str(&through(upper.chain(lower).map(Some)));
            path.push('Z');
        }
        canvas.path(&format!("edge {}", layer.class), &path);
        let last = (0..n).rev().find_map(|i| Some((below[i]? + above[i]?) / 2.0));
        ends.push(canvas.y.at(last.unwrap_or(0.0)));
    }
    canvas.marks(marks);
    let x = canvas.x.places.1 + 26.0;
    let start = canvas.x.places.1;
    let labels = layers.iter().zip(&figures).zip(ends.iter().zip(spread(&ends, LABELS)));
    for ((layer, figure), (end, y)) in labels {
        let leader = through([(start + 2.0, *end), (x - 14.0, y), (x - 5.0, y)].map(Some));
        canvas.path("leader s0", &leader);
        canvas.swatch(&layer.class, (x - 2.0, y));
        canvas.tspans((x + 14.0, y + 4.0), "start", &[("strong", &layer.name), ("number", figure)]);
    }
    canvas.finish()
}

/// The requests that were made, in stretches without one that was not.
fn stretches(values: &[Option<f64>]) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for (i, _) in values.iter().enumerate().filter(|(_, value)| value.is_some()) {
        match stretches.last_mut() {
            Some((_, end)) if *end == i => *end = i + 1,
            _ => stretches.push((i, i + 1)),
        }
    }
    stretches
}

impl Layer {
    /// Its tokens in the last request that was made.
    fn figure(&self) -> String {
        let last = self.values.iter().rev().find_map(|value| *value);
        tokens(last.unwrap_or(0) as f64)
    }

    fn is_empty(&self) -> bool {
        self.values.iter().all(|value| value.is_none_or(|tokens| tokens == 0))
    }
}

/// The layers, from the head up to the context; those that never have a token are left out.
fn layers(play: &Play) -> Vec<Layer> {
    let of = |class: &str, name: &str, value: &dyn Fn(&Reading) -> u64| Layer {
        class: class.to_owned(),
        name: name.to_owned(),
        values: play.requests.iter().map(|request| request.made().map(value)).collect(),
    };
    let mut layers = vec![
        of("a0", "tools", &|made| made.tools),
        of("a1", "system", &|made| made.system),
        of("a2", "summary", &|made| made.summary),
        of("b0", "user", &|made| made.shares.user),
        of("b1", "assistant", &|made| made.shares.assistant),
        of("b2", "tool results", &|made| made.shares.results),
    ];
    let made = play.requests.iter().filter_map(|request| request.made());
    let names: BTreeSet<_> = made.flat_map(|made| made.shares.context.keys()).collect();
    let known = ["role", "todo", "info", "notes"];
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_by_key(|name| known.iter().position(|known| known == name).unwrap_or(known.len()));
    for (i, name) in names.into_iter().enumerate() {
        let value = |made: &Reading| made.shares.context.get(name).copied().unwrap_or(0);
        layers.push(of(&format!("c{}", i % 5), &format!("{name} (context)"), &value));
    }
    layers.retain(|layer| !layer.is_empty());
    layers
}
