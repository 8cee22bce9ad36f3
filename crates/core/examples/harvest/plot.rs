//! Harvest against share fetched, as an SVG: a row for each universe, a column for each topic.

use std::fmt::Write;

use crate::trial::{Method, Panel, TOPICS, UNIVERSES};

const WIDTH: f64 = 210.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 34.0;
const TOP: f64 = 34.0;
/// Between two panels.
const GAP: f64 = 26.0;
/// Hundredths that are drawn.
const SHARE_MAX: usize = 50;

const CURVES: [(Method, &str, &str); 4] = [
    (Method::Breadth, "#777", "none"),
    (Method::Random, "#bbb", "4 3"),
    (Method::Query, "#0b6", "none"),
    (Method::Like, "#06c", "none"),
];

/// All panels.
pub fn svg(panels: &[Panel]) -> String {
    let width = LEFT + (WIDTH + GAP) * TOPICS.len() as f64;
    let height = TOP + (HEIGHT + GAP + 14.0) * UNIVERSES.len() as f64 + 30.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for panel in panels {
        let column = TOPICS.iter().position(|topic| topic.0 == panel.class).unwrap_or_default();
        let row = UNIVERSES.iter().position(|universe| *universe == panel.universe);
        let x = LEFT + (WIDTH + GAP) * column as f64;
        let y = TOP + (HEIGHT + GAP + 14.0) * row.unwrap_or_default() as f64;
        draw(&mut svg, panel, x, y);
    }
    legend(&mut svg, LEFT + (WIDTH + GAP) * 4.0, TOP);
    let _ = write!(
        svg,
        "<text x=\"{LEFT}\" y=\"{}\">across: share of the pages in reach that was fetched, to {SHARE_MAX} %; \
         up: harvest, the share of relevant pages among those fetched, to 100 %</text>\n</svg>\n",
        height - 10.0
    );
    svg
}

fn draw(svg: &mut String, panel: &Panel, x: f64, y: f64) {
    let Panel { universe, class, share, .. } = panel;
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{}\" font-weight=\"bold\">{universe}: {class}</text>",
        y - 6.0
    );
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fafafa\" stroke=\"#ccc\"/>"
    );
    let at_20 = x + WIDTH * 20.0 / SHARE_MAX as f64;
    let _ = writeln!(
        svg,
        "<line x1=\"{at_20}\" y1=\"{y}\" x2=\"{at_20}\" y2=\"{}\" stroke=\"#ddd\"/>",
        y + HEIGHT
    );
    let ideal = |hundredths: usize| (share * 100.0 / hundredths as f64).min(1.0);
    line(svg, (x, y), ("#c60", "2 3"), &ideal);
    for (method, colour, dashes) in CURVES {
        let runs = &panel.runs[&method];
        line(svg, (x, y), (colour, dashes), &|hundredths| runs.harvest(hundredths).0);
    }
    for (text, at) in [("1", y + 8.0), ("0", y + HEIGHT)] {
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{at}\" text-anchor=\"end\" fill=\"#888\">{text}</text>",
            x - 4.0
        );
    }
    for (text, at) in [("20 %", at_20), ("50 %", x + WIDTH)] {
        let _ = writeln!(
            svg,
            "<text x=\"{at}\" y=\"{}\" text-anchor=\"middle\" fill=\"#888\">{text}</text>",
            y + HEIGHT + 13.0
        );
    }
}

fn line(
    svg: &mut String,
    (x, y): (f64, f64),
    (colour, dashes): (&str, &str),
    of: &dyn Fn(usize) -> f64,
) {
    let _ = write!(
        svg,
        "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-dasharray=\"{dashes}\" points=\""
    );
    for hundredths in 1..=SHARE_MAX {
        let (right, up) = (hundredths as f64 / SHARE_MAX as f64, of(hundredths));
        let _ = write!(svg, "{:.1},{:.1} ", x + WIDTH * right, y + HEIGHT * (1.0 - up));
    }
    let _ = writeln!(svg, "\"/>");
}

fn legend(svg: &mut String, x: f64, y: f64) {
    let ideal = ("at best", "#c60", "2 3");
    let curves = CURVES.map(|(method, colour, dashes)| (method.name(), colour, dashes));
    for (number, (name, colour, dashes)) in curves.into_iter().chain([ideal]).enumerate() {
        let at = y + 14.0 + 18.0 * number as f64;
        let _ = writeln!(
            svg,
            "<line x1=\"{x}\" y1=\"{at}\" x2=\"{}\" y2=\"{at}\" stroke=\"{colour}\" stroke-width=\"1.6\" \
             stroke-dasharray=\"{dashes}\"/><text x=\"{}\" y=\"{}\">{name}</text>",
            x + 30.0,
            x + 38.0,
            at + 4.0
        );
    }
}
