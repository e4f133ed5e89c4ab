//! One curve for each rule, with its name at its end.

use super::canvas::{Canvas, LABELS, through};
use super::labels::spread;
use super::scale::ticks;

/// More requests are drawn in groups, each by its mean.
const MOST: usize = 240;

/// How many styles there are beside that of the session without context.
const STYLES: usize = 7;

/// A picture of curves.
pub(super) struct Curves<'a> {
    pub(super) title: &'a str,
    pub(super) subtitle: String,
    pub(super) curves: Vec<Curve>,
    /// Whether values are parts of a hundred; else they begin at zero.
    pub(super) is_percent: bool,
    pub(super) write: fn(f64) -> String,
    pub(super) marks: Vec<(usize, String)>,
}

/// A curve.
pub(super) struct Curve {
    pub(super) name: String,
    /// What stands beside the name.
    pub(super) figure: String,
    /// A value for each request; none, if it was refused.
    pub(super) values: Vec<Option<f64>>,
}

impl Curves<'_> {
    pub(super) fn draw(mut self) -> String {
        let n = self.curves.iter().map(|curve| curve.values.len()).max().unwrap_or(0);
        let size = n.div_ceil(MOST).max(1);
        if size > 1 && self.is_percent {
            self.subtitle.push_str(&format!(" · means of {size} requests"));
        }
        let label = |curve: &Curve| curve.name().chars().count() + curve.figure.chars().count() + 1;
        let longest = self.curves.iter().map(label).max().unwrap_or(0);
        let ticks = self.ticks();
        let range = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(1.0));
        let first = |curve: &Curve| curve.values.first().copied().flatten();
        let is_below = |curve: &Curve| first(curve).is_some_and(|value| value < range.0);
        if self.is_percent && self.curves.iter().any(is_below) {
            self.subtitle.push_str(" · without the first request, which finds the cache cold");
        }
        let mut canvas = Canvas::new((self.title, &self.subtitle), n, range, longest);
        canvas.axes(&ticks, self.write);
        canvas.marks(&self.marks);
        let low = canvas.y.at(range.0);
        let mut ends = Vec::with_capacity(self.curves.len());
        let mut style = 0;
        let mut drawn: Vec<(usize, String)> = Vec::new();
        let mut lies_over = Vec::new();
        for (index, curve) in self.curves.iter().enumerate() {
            lies_over.push(self.curves[..index].iter().any(|other| curve.covers(other, range)));
            let at = |(x, y): (f64, f64)| (canvas.x.at(x), canvas.y.at(y).min(low));
            let points = curve.points(size, self.is_percent, range.0);
            let last = points.iter().rev().find_map(|point| *point);
            ends.push(last.map_or(low, |last| at(last).1));
            style = if curve.is_reference() { style } else { style % STYLES + 1 };
            let number = if curve.is_reference() { 0 } else { style };
            drawn.push((number, through(points.into_iter().map(|point| point.map(at)))));
        }
        for ((number, path), lies_over) in drawn.iter().zip(lies_over) {
            let more = match (*number, lies_over) {
                (0, _) => " thin",
                (_, true) => " over",
                (_, false) => "",
            };
            canvas.path(&format!("curve s{number}{more}"), path);
        }
        self.name(&mut canvas, &drawn, &ends);
        self.refused(&mut canvas, &drawn);
        canvas.finish()
    }

    /// The names, each at the end of its curve.
    fn name(&self, canvas: &mut Canvas, drawn: &[(usize, String)], ends: &[f64]) {
        let places = spread(ends, LABELS);
        // A curve whose last requests were refused ends before the others.
        let edge = canvas.x.places.1;
        let x = edge + 26.0;
        for ((curve, (number, _)), (end_y, y)) in
            self.curves.iter().zip(drawn).zip(ends.iter().zip(places))
        {
            let path = through([(edge + 4.0, *end_y), (x - 14.0, y), (x - 4.0, y)].map(Some));
            canvas.path(&format!("leader s{number}"), &path);
            let class = format!("t{number}");
            let words = [(class.as_str(), curve.name()), ("number", curve.figure.as_str())];
            canvas.tspans((x, y + 4.0), "start", &words);
        }
    }

    /// A cross at the bottom for each request that was refused.
    fn refused(&self, canvas: &mut Canvas, drawn: &[(usize, String)]) {
        let bottom = canvas.y.places.0;
        for (row, (curve, (number, _))) in self.curves.iter().zip(drawn).enumerate() {
            let refused = curve.values.iter().enumerate().filter(|(_, value)| value.is_none());
            let y = bottom - 6.0 - 7.0 * row as f64;
            let crosses: String = refused
                .map(|(index, _)| {
                    let x = canvas.x.at(index as f64 + 1.0);
                    let cross = [(x - 3.0, y - 3.0), (x + 3.0, y + 3.0)].map(Some);
                    let other = [(x - 3.0, y + 3.0), (x + 3.0, y - 3.0)].map(Some);
                    through(cross) + &through(other)
                })
                .collect();
            if !crosses.is_empty() {
                canvas.path(&format!("curve s{number}"), &crosses);
            }
        }
    }

    fn ticks(&self) -> Vec<f64> {
        let values = self.curves.iter().flat_map(|curve| {
            // Nothing of the first request can be cached.
            curve.values.iter().skip(usize::from(self.is_percent)).flatten().copied()
        });
        match self.is_percent {
            true => {
                let low = values.fold(100.0, f64::min);
                let low = (low / 10.0).floor() * 10.0;
                ticks(low.min(90.0), 100.0, 5)
            }
            false => match values.fold(0.0, f64::max) {
                high if high > 0.0 => ticks(0.0, high, 5),
                _ => ticks(0.0, 1.0, 5),
            },
        }
    }
}

impl Curve {
    /// What it is called in the picture.
    fn name(&self) -> &str {
        if self.is_reference() { "no context" } else { &self.name }
    }

    fn is_reference(&self) -> bool {
        self.name == "none"
    }

    /// Whether it would hide another: nearly all of its values are the same to the eye.
    fn covers(&self, other: &Self, (low, high): (f64, f64)) -> bool {
        let near = (high - low) / 150.0;
        let pairs = || self.values.iter().flatten().zip(other.values.iter().flatten());
        let n_near = pairs().filter(|(a, b)| (*a - *b).abs() < near).count();
        !other.is_reference() && 10 * n_near >= 8 * pairs().count()
    }

    /// Its points, each that of a group of requests: their mean, or the last of them. A first
    /// request below the axis is left out.
    fn points(&self, size: usize, is_mean: bool, low: f64) -> Vec<Option<(f64, f64)>> {
        let is_below = |at: usize, value: &Option<f64>| at == 0 && value.is_some_and(|it| it < low);
        let kept = |(at, value): (usize, &Option<f64>)| value.filter(|_| !is_below(at, value));
        let kept: Vec<Option<f64>> = self.values.iter().enumerate().map(kept).collect();
        let point = |(group, values): (usize, &[Option<f64>])| {
            let n = values.iter().flatten().count();
            let value = match is_mean {
                true => (n > 0).then(|| values.iter().flatten().sum::<f64>() / n as f64),
                false => values.iter().flatten().last().copied(),
            };
            let middle = (group * size) as f64 + (values.len() as f64 + 1.0) / 2.0;
            value.map(|value| (middle, value))
        };
        kept.chunks(size).enumerate().map(point).collect()
    }
}
