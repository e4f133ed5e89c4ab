//! A picture on its way: its frame, its axes and its words.

use std::fmt::Write as _;

use super::MADE_BY;
use super::scale::{Scale, request_ticks};

pub(super) const WIDTH: f64 = 880.0;
pub(super) const HEIGHT: f64 = 420.0;
/// Where the plot itself begins and ends.
pub(super) const LEFT: f64 = 66.0;
const TOP: f64 = 86.0;
const BOTTOM: f64 = 368.0;

/// About how wide a character is.
const CHARACTER: f64 = 7.0;

/// The colours are told apart by eyes that see few of them (Okabe and Ito), and the picture
/// has a ground of its own, so that it is readable on any page.
const STYLE: &str = "
  text { font: 12px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #57606a }
  .ground { fill: #ffffff; stroke: #d0d7de }
  .title { font-size: 16px; font-weight: 600; fill: #1f2328 }
  .grid { stroke: #e4e8ec; stroke-width: 1 } .axis { stroke: #8c959f; stroke-width: 1 }
  .mark { stroke: #8c959f; stroke-width: 1; stroke-dasharray: 2 3 } .event { font-size: 11px }
  .strong { fill: #1f2328; font-weight: 600 } .number { font-variant-numeric: tabular-nums }
  .curve { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round }
  .thin { stroke-width: 1.4; stroke-dasharray: 5 4 }
  .over { stroke-dasharray: 9 9 }
  .leader { fill: none; stroke-width: 1; opacity: .55 }
  .edge { stroke: #ffffff; stroke-width: .7 }
  .s0 { stroke: #6e7781 } .s1 { stroke: #0072b2 } .s2 { stroke: #d55e00 } .s3 { stroke: #009e73 }
  .s4 { stroke: #b0559a } .s5 { stroke: #b58900 } .s6 { stroke: #3a9bd8 } .s7 { stroke: #7a4fbf }
  .t0 { fill: #57606a } .t1 { fill: #00609a } .t2 { fill: #b84e00 } .t3 { fill: #007a59 }
  .t4 { fill: #96417f } .t5 { fill: #8a6800 } .t6 { fill: #2279b0 } .t7 { fill: #6a3fb0 }
  .a0 { fill: #8c959f } .a1 { fill: #b6bec7 } .a2 { fill: #d3d9df }
  .b0 { fill: #0a4f7d } .b1 { fill: #2b83ba } .b2 { fill: #8cc4e6 }
  .c0 { fill: #a63c00 } .c1 { fill: #e0690f } .c2 { fill: #f4a04a } .c3 { fill: #f9cd8b } .c4 { fill: #c9a227 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 } .ground { fill: #0d1117; stroke: #3d444d } .title, .strong { fill: #f0f6fc }
    .grid { stroke: #262c36 } .axis, .mark { stroke: #656c76 } .edge { stroke: #0d1117 }
    .s0 { stroke: #9198a1 } .s1 { stroke: #4aa8e8 } .s2 { stroke: #ff8b4d } .s3 { stroke: #2fcb9b }
    .s4 { stroke: #e394c9 } .s5 { stroke: #e3b341 } .s6 { stroke: #8fd3fb } .s7 { stroke: #b794f4 }
    .t0 { fill: #9198a1 } .t1 { fill: #4aa8e8 } .t2 { fill: #ff8b4d } .t3 { fill: #2fcb9b }
    .t4 { fill: #e394c9 } .t5 { fill: #e3b341 } .t6 { fill: #8fd3fb } .t7 { fill: #b794f4 }
    .a0 { fill: #656c76 } .a1 { fill: #474e58 } .a2 { fill: #30363d }
    .b0 { fill: #1f6fa5 } .b1 { fill: #3f97d1 } .b2 { fill: #93c9ee }
    .c0 { fill: #b8490b } .c1 { fill: #e5732a } .c2 { fill: #f0a35e } .c3 { fill: #f7d3a1 } .c4 { fill: #d7b441 }
  }
";

/// A picture on its way.
pub(super) struct Canvas {
    svg: String,
    pub(super) x: Scale,
    pub(super) y: Scale,
    n_requests: usize,
}

impl Canvas {
    /// A picture of these requests, whose labels at the right have at most this many
    /// characters.
    pub(super) fn new(
        (title, subtitle): (&str, &str),
        n_requests: usize,
        values: (f64, f64),
        longest_label: usize,
    ) -> Self {
        let margin = (longest_label as f64 * CHARACTER + 40.0).clamp(90.0, 300.0);
        let x =
            Scale { values: (1.0, n_requests.max(2) as f64), places: (LEFT + 6.0, WIDTH - margin) };
        let y = Scale { values, places: (BOTTOM, TOP) };
        let (name, words) = (escaped(title), escaped(subtitle));
        let svg = format!(
            "{MADE_BY}\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"{name}\">\n\
             <title>{name}</title>\n<desc>{words}</desc>\n<style>{STYLE}</style>\n\
             <rect class=\"ground\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
            WIDTH - 1.0,
            HEIGHT - 1.0,
        );
        let mut canvas = Self { svg, x, y, n_requests };
        canvas.text((20.0, 32.0), "title", "start", title);
        canvas.text((20.0, 52.0), "", "start", subtitle);
        canvas
    }

    /// Lines and values at the left, and the numbers of requests at the bottom.
    pub(super) fn axes(&mut self, ticks: &[f64], write: fn(f64) -> String) {
        let (start, end) = (LEFT, self.x.places.1 + 6.0);
        for &tick in ticks {
            let y = self.y.at(tick);
            let class = if tick == self.y.values.0 { "axis" } else { "grid" };
            self.line(class, (start, y), (end, y));
            self.text((start - 8.0, y + 4.0), "number", "end", &write(tick));
        }
        for number in request_ticks(self.n_requests) {
            let x = self.x.at(number as f64);
            self.line("axis", (x, BOTTOM), (x, BOTTOM + 4.0));
            self.text((x, BOTTOM + 18.0), "number", "middle", &number.to_string());
        }
        let middle = (start + end) / 2.0;
        self.text((middle, BOTTOM + 38.0), "", "middle", "request");
    }

    /// What happened before requests: a line for each, and words where there is room.
    pub(super) fn marks(&mut self, marks: &[(usize, String)]) {
        const SHOWN: usize = 26;
        let mut free_from = LEFT;
        for (index, words) in marks {
            // It happened between two requests.
            let x = self.x.at(*index as f64 + 0.5).max(LEFT);
            self.line("mark", (x, TOP - 8.0), (x, BOTTOM));
            let mut words: String = words.chars().take(SHOWN + 1).collect();
            if words.chars().count() > SHOWN {
                words = format!("{}…", words.chars().take(SHOWN - 1).collect::<String>());
            }
            let width = words.chars().count() as f64 * 6.4;
            if x - 2.0 >= free_from && x + width < WIDTH - 12.0 {
                self.text((x + 4.0, TOP - 12.0), "event", "start", &words);
                free_from = x + width + 14.0;
            }
        }
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        // Writing into a String cannot fail.
        let _ = writeln!(
            self.svg,
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        );
    }

    pub(super) fn path(&mut self, class: &str, path: &str) {
        let _ = writeln!(self.svg, "<path class=\"{class}\" d=\"{path}\"/>");
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), class: &str, anchor: &str, text: &str) {
        self.tspans((x, y), anchor, &[(class, text)]);
    }

    /// A line of words in several styles.
    pub(super) fn tspans(&mut self, (x, y): (f64, f64), anchor: &str, words: &[(&str, &str)]) {
        let _ = write!(self.svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">");
        for (i, (class, text)) in words.iter().enumerate() {
            let apart = if i > 0 { " dx=\"6\"" } else { "" };
            let text = escaped(text);
            let _ = write!(self.svg, "<tspan class=\"{class}\"{apart}>{text}</tspan>");
        }
        self.svg.push_str("</text>\n");
    }

    pub(super) fn swatch(&mut self, class: &str, (x, y): (f64, f64)) {
        let _ = writeln!(
            self.svg,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"11\" height=\"11\" rx=\"2\"/>",
            y - 5.5
        );
    }

    pub(super) fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

/// The stretch in which labels stand.
pub(super) const LABELS: (f64, f64) = (TOP + 2.0, BOTTOM - 2.0);

/// A path through places; where one is missing, it begins anew.
pub(super) fn through(places: impl IntoIterator<Item = Option<(f64, f64)>>) -> String {
    let (mut path, mut is_down) = (String::new(), false);
    for place in places {
        let Some((x, y)) = place else {
            is_down = false;
            continue;
        };
        let _ = write!(path, "{}{x:.1} {y:.1}", if is_down { 'L' } else { 'M' });
        is_down = true;
    }
    path
}

/// The text as XML has it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML has no way to write others.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
