//! The graph of a plan, as text for Mermaid and as a picture.

use std::fmt::Write as _;

use crate::Plan;

const BOX_WIDTH: usize = 180;
const BOX_HEIGHT: usize = 48;
const GAP_X: usize = 90;
const GAP_Y: usize = 22;
const MARGIN: usize = 20;
const MOST_CHARACTERS: usize = 24;

impl Plan {
    /// The graph of its steps, as text for Mermaid.
    pub fn to_mermaid(&self) -> String {
        mermaid(self)
    }

    /// The graph of its steps, as an SVG picture: a column for each layer, an arrow for
    /// each dependency.
    pub fn to_svg(&self) -> String {
        svg(self)
    }
}

/// Steps are numbered, for their names may be anything.
fn mermaid(plan: &Plan) -> String {
    let mut out = String::from("flowchart LR\n");
    // Writing into a String cannot fail.
    for (at, step) in plan.steps().iter().enumerate() {
        let label = format!("{} · {}", step.id, step.tool).replace('&', "#amp;");
        let label = label.replace('"', "#quot;").replace('<', "#lt;").replace(['\n', '\r'], " ");
        let _ = writeln!(out, "  s{at}[\"{label}\"]");
    }
    for (at, step) in plan.steps().iter().enumerate() {
        for needed in &step.depends_on {
            let _ = writeln!(out, "  s{needed} --> s{at}");
        }
    }
    out
}

fn svg(plan: &Plan) -> String {
    let layers = plan.layers();
    let n_layers = layers.iter().max().map_or(0, |deepest| deepest + 1);
    let mut heights = vec![0_usize; n_layers];
    let mut places = Vec::with_capacity(layers.len());
    for &layer in &layers {
        places.push((
            MARGIN + layer * (BOX_WIDTH + GAP_X),
            MARGIN + heights[layer] * (BOX_HEIGHT + GAP_Y),
        ));
        heights[layer] += 1;
    }
    let rows = heights.iter().copied().max().unwrap_or(0);
    let width = 2 * MARGIN + n_layers * BOX_WIDTH + n_layers.saturating_sub(1) * GAP_X;
    let height = 2 * MARGIN + rows * BOX_HEIGHT + rows.saturating_sub(1) * GAP_Y;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{}</title>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#567\"/></marker></defs>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
        escape(plan.objective())
    );
    for (at, step) in plan.steps().iter().enumerate() {
        for &needed in &step.depends_on {
            let (x1, y1) = (places[needed].0 + BOX_WIDTH, places[needed].1 + BOX_HEIGHT / 2);
            let (x2, y2) = (places[at].0, places[at].1 + BOX_HEIGHT / 2);
            let bend = (x2 - x1) / 2;
            let (c1, c2) = (x1 + bend, x2 - bend);
            let _ = writeln!(
                out,
                "<path d=\"M{x1} {y1}C{c1} {y1} {c2} {y2} {x2} {y2}\" fill=\"none\" \
                 stroke=\"#567\" marker-end=\"url(#tip)\"/>"
            );
        }
    }
    for (&(x, y), step) in places.iter().zip(plan.steps()) {
        let middle = x + BOX_WIDTH / 2;
        let _ = writeln!(
            out,
            "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" \
             height=\"{BOX_HEIGHT}\" rx=\"6\" fill=\"#eef3f8\" stroke=\"#567\"/>\
             <text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\
             <text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>",
            escape(&step.reason),
            y + 20,
            escape(&cut(step.id.as_str())),
            y + 37,
            escape(&cut(step.tool.as_str())),
        );
    }
    out.push_str("</svg>\n");
    out
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    // XML has no way to write others.
    let is_writable = |c: char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|c| if is_writable(c) { c } else { ' ' }).collect()
}
