//! From values to places, and to words.

/// A stretch of values on a stretch of the picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    pub(super) values: (f64, f64),
    pub(super) places: (f64, f64),
}

impl Scale {
    pub(super) fn at(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let (start, end) = self.places;
        let part = if high > low { (value - low) / (high - low) } else { 0.5 };
        start + part * (end - start)
    }
}

/// Round values at even distances, about `n` of them, from `low` to at least `high`.
pub(super) fn ticks(low: f64, high: f64, n: usize) -> Vec<f64> {
    let rough = ((high - low) / n.max(1) as f64).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    let step = power * steps.into_iter().find(|step| step * power >= rough * 0.999).unwrap_or(10.0);
    let first = (low / step).floor();
    let count = (high / step).ceil() - first;
    (0..=count.clamp(1.0, 100.0) as u32).map(|i| (first + f64::from(i)) * step).collect()
}

/// The numbers of requests that are written at the axis, counted from 1.
pub(super) fn request_ticks(n: usize) -> Vec<usize> {
    let step = ticks(0.0, n as f64, 8);
    let step = step.get(1).map_or(1, |step| step.ceil().max(1.0) as usize);
    let mut numbers: Vec<usize> = (1..=n).filter(|number| number % step == 0).collect();
    if n > 0 && numbers.first() != Some(&1) {
        numbers.insert(0, 1);
    }
    numbers
}

/// A number of tokens: `900`, `1.2 k`, `33 k`, `1.16 M`.
pub fn tokens(n: f64) -> String {
    let short = |n: f64, unit: &str| {
        let digits = if n >= 99.95 {
            0
        } else if n >= 9.995 {
            1
        } else {
            2
        };
        let text = format!("{n:.digits$}");
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        format!("{text} {unit}")
    };
    match n {
        n if n >= 999_500.0 => short(n / 1e6, "M"),
        n if n >= 1_000.0 => short(n / 1e3, "k"),
        n => format!("{n:.0}"),
    }
}

/// An amount of money.
pub(super) fn money(n: f64) -> String {
    match n {
        0.0 => "0".to_owned(),
        n if n >= 100.0 => format!("{n:.0}"),
        n if n >= 1.0 => format!("{n:.2}"),
        n => format!("{n:.3}"),
    }
}

/// A part of a hundred.
pub(super) fn percent(n: f64) -> String {
    match n.fract() == 0.0 {
        true => format!("{n:.0} %"),
        false => format!("{n:.1} %"),
    }
}
