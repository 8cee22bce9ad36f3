//! Curves as an SVG picture: hot pages found against pages crawled.
//!
//! Labels stand beside the ends of lines, the best order on top, so that nobody has to go to and fro between a
//! legend and the lines. Colours are those of Okabe and Ito, which people with any kind of colour
//! vision can tell apart, a little lighter where the reader's page is dark; further orders have dashed
//! lines. The spread over the starts is a light band.

use std::fmt::Write;

use crate::Point;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 196.0;
const TOP: f64 = 78.0;
const BOTTOM: f64 = 62.0;
const LABEL_GAP: f64 = 19.0;
/// Characters of a name for which there is room.
const NAME_MAX: usize = 20;
/// Where lines are compared in numbers, in hundredths of all pages.
const COMPARED: usize = 30;
/// On white and on dark.
const COLOURS: [(&str, &str); 6] = [
    ("#0072b2", "#56a8e0"),
    ("#d55e00", "#f08a3c"),
    ("#009e73", "#2fc79b"),
    ("#b0508a", "#d98bb9"),
    ("#b98700", "#e6b422"),
    ("#56b4e9", "#b5e2fb"),
];
const DASHES: [&str; 3] = ["none", "7 4", "2 3"];

/// What is drawn.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The first line above it.
    pub title: String,
    /// The second.
    pub about: String,
    /// What the vertical axis counts.
    pub axis: String,
    /// Orders by name.
    pub lines: Vec<(String, Vec<Point>)>,
    /// What a crawler could come to that knows everything, at each hundredth.
    pub ideal: Vec<f64>,
    /// What a crawler comes to that fetches any page.
    pub random: Vec<f64>,
}

/// A name at the end of a line.
struct Label {
    class: String,
    text: String,
    /// Where the line ends, and where the name stands.
    end: f64,
    at: f64,
    worth: f64,
}

impl Plot {
    /// The picture.
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        self.write(&mut svg).expect("a text can grow");
        svg
    }

    fn write(&self, svg: &mut String) -> std::fmt::Result {
        let (title, about) = (escaped(&self.title), escaped(&self.about));
        writeln!(
            svg,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{title}">"#
        )?;
        writeln!(svg, "<title>{title}</title>\n<desc>{about}</desc>\n<style>{}</style>", style())?;
        writeln!(svg, r#"<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="8"/>"#)?;
        writeln!(svg, r#"<text class="title" x="{LEFT}" y="32">{title}</text>"#)?;
        writeln!(svg, r#"<text class="about" x="{LEFT}" y="53">{about}</text>"#)?;
        self.axes(svg)?;
        for (at, (_, points)) in self.lines.iter().enumerate() {
            band(svg, at, points)?;
        }
        line(svg, "ideal", &self.ideal)?;
        line(svg, "chance", &self.random)?;
        for (at, (_, points)) in self.lines.iter().enumerate() {
            let values: Vec<f64> = points.iter().map(|point| point.hot).collect();
            line(svg, &format!("line {}", class(at)), &values)?;
        }
        self.labels(svg)?;
        writeln!(svg, "</svg>")
    }

    fn axes(&self, svg: &mut String) -> std::fmt::Result {
        for percent in (0..=100).step_by(10) {
            let (x, y) = (x(f64::from(percent) / 100.0), y(f64::from(percent) / 100.0));
            let (left, right, bottom) = (LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM);
            writeln!(svg, r#"<path class="grid" d="M{left} {y:.1}H{right}"/>"#)?;
            if percent % 20 == 0 {
                writeln!(svg, r#"<path class="tick" d="M{x:.1} {bottom}v5"/>"#)?;
                let (tx, ty) = (bottom + 20.0, y + 4.0);
                writeln!(
                    svg,
                    r#"<text class="mark" x="{x:.1}" y="{tx}" text-anchor="middle">{percent} %</text>"#
                )?;
                writeln!(
                    svg,
                    r#"<text class="mark" x="{}" y="{ty:.1}" text-anchor="end">{percent} %</text>"#,
                    left - 8.0
                )?;
            }
        }
        let (bottom, middle) = (HEIGHT - BOTTOM, (LEFT + WIDTH - RIGHT) / 2.0);
        writeln!(svg, r#"<path class="axis" d="M{LEFT} {bottom}H{}"/>"#, WIDTH - RIGHT)?;
        let below = HEIGHT - 18.0;
        writeln!(
            svg,
            r#"<text class="name" x="{middle}" y="{below}" text-anchor="middle">pages crawled</text>"#
        )?;
        let half = (TOP + bottom) / 2.0;
        let axis = escaped(&self.axis);
        writeln!(
            svg,
            r#"<text class="name" transform="translate(18 {half}) rotate(-90)" text-anchor="middle">{axis}</text>"#
        )
    }

    fn labels(&self, svg: &mut String) -> std::fmt::Result {
        let label = |class: String, name: &str, values: Vec<f64>| {
            let compared = values.get(COMPARED - 1).copied().unwrap_or(0.0);
            let end = y(values.last().copied().unwrap_or(0.0));
            let short: String = name.chars().take(NAME_MAX).collect();
            let text = format!("{} {:.0} %", escaped(&short), 100.0 * compared);
            Label { class, text, end, at: end, worth: values.iter().sum() }
        };
        let mut labels = vec![
            label("ideal".into(), "ideal", self.ideal.clone()),
            label("chance".into(), "any page", self.random.clone()),
        ];
        for (at, (name, points)) in self.lines.iter().enumerate() {
            let values = points.iter().map(|point| point.hot).collect();
            labels.push(label(format!("line {}", class(at)), name, values));
        }
        spread_out(&mut labels);
        let (from, x) = (WIDTH - RIGHT, WIDTH - RIGHT + 34.0);
        for Label { class, text, end, at, .. } in &labels {
            // A name far from the end of its line has its colour beside it and no line across others.
            let is_near = (at - end).abs() < LABEL_GAP / 2.0;
            let begin = if is_near { from + 4.0 } else { from + 12.0 };
            writeln!(svg, r#"<path class="{class} lead" d="M{begin} {at:.1}H{}"/>"#, x - 6.0)?;
            writeln!(svg, r#"<text class="label" x="{x}" y="{:.1}">{text}</text>"#, at + 4.0)?;
        }
        let under = labels.last().map_or(TOP, |label| label.at) + LABEL_GAP + 8.0;
        writeln!(
            svg,
            r#"<text class="about" x="{x}" y="{under:.1}">(after {COMPARED} % crawled)</text>"#
        )
    }
}

/// Lets labels stand one below the other, the best first, as near to the ends of their lines as can be.
fn spread_out(labels: &mut [Label]) {
    labels.sort_by(|a, b| a.end.total_cmp(&b.end).then(b.worth.total_cmp(&a.worth)));
    let mut least = TOP;
    for label in labels.iter_mut() {
        label.at = label.at.max(least);
        least = label.at + LABEL_GAP;
    }
    // What would stand below the axis moves up again.
    let mut most = HEIGHT - BOTTOM;
    for label in labels.iter_mut().rev() {
        label.at = label.at.min(most);
        most = label.at - LABEL_GAP;
    }
}

fn band(svg: &mut String, at: usize, points: &[Point]) -> std::fmt::Result {
    if points.iter().all(|point| point.spread == 0.0) {
        return Ok(());
    }
    let edge = |point: &Point, sign: f64| {
        let value = (point.hot + sign * point.spread).clamp(0.0, 1.0);
        format!("{:.1} {:.1}", x(point.crawled), y(value))
    };
    let upper = points.iter().map(|point| edge(point, 1.0));
    let lower = points.iter().rev().map(|point| edge(point, -1.0));
    let path: Vec<String> = upper.chain(lower).collect();
    writeln!(svg, r#"<path class="band {}" d="M{}Z"/>"#, class(at), path.join("L"))
}

/// A line through values at each hundredth, from the origin on.
fn line(svg: &mut String, class: &str, values: &[f64]) -> std::fmt::Result {
    let hundredths = values.len().max(1) as f64;
    let mut path =
        format!("M{:.1} {:.1}", x(0.0), y(if values.first() == Some(&1.0) { 1.0 } else { 0.0 }));
    for (at, value) in values.iter().enumerate() {
        write!(path, "L{:.1} {:.1}", x((at + 1) as f64 / hundredths), y(*value))?;
    }
    writeln!(svg, r#"<path class="{class}" d="{path}"/>"#)
}

fn x(share: f64) -> f64 {
    LEFT + share * (WIDTH - LEFT - RIGHT)
}

fn y(share: f64) -> f64 {
    HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
}

fn class(at: usize) -> String {
    format!("c{} d{}", at % COLOURS.len(), at / COLOURS.len() % DASHES.len())
}

fn style() -> String {
    let mut style = String::from(
        "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#333a42}\
         .paper{fill:#fff}.title{font-size:18px;font-weight:600;fill:#14181d}.about{font-size:12px;fill:#5b6570}\
         .mark,.label{font-size:13px}.label{font-weight:500}.name{font-size:13px;fill:#5b6570}\
         path{fill:none}.grid{stroke:#e3e7eb}.tick,.axis{stroke:#8a949e}\
         .line{stroke-width:2.4;stroke-linejoin:round}.ideal{stroke:#6b7580;stroke-width:1.6;stroke-dasharray:9 5}\
         .chance{stroke:#6b7580;stroke-width:1.6;stroke-dasharray:2 4}path.band{stroke:none;fill-opacity:.16}\
         path.lead{stroke-width:2.4}",
    );
    let mut dark = String::from(
        "text{fill:#d5dbe1}.paper{fill:#15181c}.title{fill:#f2f4f6}.about,.name{fill:#9aa5b0}\
         .grid{stroke:#2a3037}.tick,.axis{stroke:#6b7580}.ideal,.chance{stroke:#98a2ad}",
    );
    for (at, (light_colour, dark_colour)) in COLOURS.iter().enumerate() {
        for (style, colour) in [(&mut style, light_colour), (&mut dark, dark_colour)] {
            style.push_str(&format!(".line.c{at}{{stroke:{colour}}}.band.c{at}{{fill:{colour}}}"));
        }
    }
    for (at, dash) in DASHES.iter().enumerate() {
        style.push_str(&format!(".line.d{at}{{stroke-dasharray:{dash}}}"));
    }
    format!("{style}@media(prefers-color-scheme:dark){{{dark}}}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
