//! The results of a search as a picture: a heat map if two parameters vary, bars otherwise.
//!
//! Colors follow the logarithm of the time from best to worst, so that differences among good variants remain visible
//! next to variants that are ten times slower. Colors also differ in lightness, for color-blind readers and for
//! print.

use std::fmt::Write;

use super::search::Row;
use super::table::{order, shown};

/// The maximum number of bars in a picture.
const MOST_BARS: usize = 60;
const LINE: usize = 20;
const FONT: &str = "font-family=\"sans-serif\" font-size=\"12\"";
/// Colors from the best time to the worst.
const SCALE: [[f64; 3]; 4] = [[26.0, 120.0, 84.0], [122.0, 196.0, 122.0], [246.0, 216.0, 128.0], [214.0, 96.0, 77.0]];
const NONE: &str = "#e4e4e4";

/// Draws the picture with `title` above it. `unit` follows numbers if it is not empty.
pub fn svg(rows: &[Row], title: &str, unit: &str) -> String {
    match varying(rows)[..] {
        [y, x] => heat_map(rows, (x, y), title, unit),
        _ => bars(rows, title, unit),
    }
}

/// The parameters with more than one value.
fn varying(rows: &[Row]) -> Vec<usize> {
    let count = rows.first().map_or(0, |r| r.point.0.len());
    let value = |row: &Row, i: usize| row.point.0[i].1.clone();
    (0..count).filter(|i| rows.iter().any(|r| value(r, *i) != value(&rows[0], *i))).collect()
}

/// Maps times to colors between the best and the worst.
struct Colours {
    best: f64,
    worst: f64,
}

impl Colours {
    fn of(rows: &[Row]) -> Colours {
        let times = || rows.iter().filter_map(|r| Some(r.result.as_ref().ok()?.time));
        Colours { best: times().fold(f64::INFINITY, f64::min), worst: times().fold(f64::NEG_INFINITY, f64::max) }
    }

    fn place(&self, time: f64) -> f64 {
        let (low, high, at) =
            if self.best > 0.0 { (self.best.ln(), self.worst.ln(), time.ln()) } else { (self.best, self.worst, time) };
        if high > low { ((at - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The color of a cell, and the color of text on it.
    fn of_time(&self, time: f64) -> (String, &'static str) {
        let place = self.place(time) * (SCALE.len() - 1) as f64;
        let left = (place.floor() as usize).min(SCALE.len() - 2);
        let share = place - left as f64;
        let mix = |i: usize| (SCALE[left][i] * (1.0 - share) + SCALE[left + 1][i] * share).round() as u8;
        let (red, green, blue) = (mix(0), mix(1), mix(2));
        let light = 0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue);
        (format!("#{red:02x}{green:02x}{blue:02x}"), if light > 140.0 { "#1c1c1c" } else { "#ffffff" })
    }
}

/// The tooltip of a row.
fn tip(row: &Row, unit: &str) -> String {
    let point = row.point.shown();
    match &row.result {
        Ok(measured) => format!("{point}: {} {unit}", shown(measured.time)).trim_end().to_owned(),
        Err(failure) => format!("{point}: {}: {}", failure.stage.label(), failure.reason),
    }
}

fn heat_map(rows: &[Row], (x, y): (usize, usize), title: &str, unit: &str) -> String {
    let values = |parameter: usize| {
        let mut values: Vec<&str> = vec![];
        for row in rows {
            let value = row.point.0[parameter].1.as_str();
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    let (columns, lines) = (values(x), values(y));
    let name = |parameter: usize| &rows[0].point.0[parameter].0;
    let label = |texts: &[&str]| texts.iter().map(|t| width_of(t)).max().unwrap_or(0);
    let cell = label(&columns).max(52) + 12;
    let left = label(&lines) + 44;
    let (top, height) = (64, 34);
    let full_width = (left + columns.len() * cell + 16).max(width_of(title) + 32);
    let full_height = top + lines.len() * height + 62;
    let mut out = head(full_width, full_height, title);
    let middle = left + columns.len() * cell / 2;
    _ = writeln!(out, "<text x=\"{middle}\" y=\"38\" text-anchor=\"middle\" fill=\"#555\">{}</text>", escaped(name(x)));
    for (i, value) in columns.iter().enumerate() {
        let at = left + i * cell + cell / 2;
        _ = writeln!(out, "<text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{}</text>", top - 8, escaped(value));
    }
    let centre = top + lines.len() * height / 2;
    _ = writeln!(
        out,
        "<text transform=\"translate(18 {centre}) rotate(-90)\" text-anchor=\"middle\" fill=\"#555\">{}</text>",
        escaped(name(y))
    );
    for (i, value) in lines.iter().enumerate() {
        let at = top + i * height + height / 2 + 4;
        _ = writeln!(out, "<text x=\"{}\" y=\"{at}\" text-anchor=\"end\">{}</text>", left - 8, escaped(value));
    }
    let colours = Colours::of(rows);
    let best = order(rows).first().copied();
    for (n, row) in rows.iter().enumerate() {
        let place = |list: &[&str], parameter: usize| list.iter().position(|v| *v == row.point.0[parameter].1);
        let (Some(column), Some(line)) = (place(&columns, x), place(&lines, y)) else { continue };
        let (at_x, at_y) = (left + column * cell, top + line * height);
        let (fill, ink, text) = match &row.result {
            Ok(measured) => {
                let (fill, ink) = colours.of_time(measured.time);
                (fill, ink, shown(measured.time))
            }
            Err(failure) => (NONE.to_owned(), "#777", failure.stage.label().to_owned()),
        };
        let is_best = Some(n) == best && row.result.is_ok();
        let (stroke, bold) = if is_best { ("#000\" stroke-width=\"2", " font-weight=\"bold\"") } else { ("#fff", "") };
        _ = writeln!(
            out,
            "<g><title>{}</title><rect x=\"{at_x}\" y=\"{at_y}\" width=\"{}\" height=\"{}\" fill=\"{fill}\" stroke=\"{stroke}\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{ink}\"{bold}>{}</text></g>",
            escaped(&tip(row, unit)),
            cell - 2,
            height - 2,
            at_x + cell / 2 - 1,
            at_y + height / 2 + 3,
            escaped(&text),
        );
    }
    let below = top + lines.len() * height + 16;
    legend(&mut out, &colours, left, below, unit);
    out + "</svg>\n"
}

/// Draws the color scale.
fn legend(out: &mut String, colours: &Colours, left: usize, top: usize, unit: &str) {
    if !colours.best.is_finite() {
        return;
    }
    const STEPS: usize = 24;
    const STEP: usize = 6;
    for i in 0..STEPS {
        // Equal steps on the scale that `Colours::place` uses.
        let share = i as f64 / (STEPS - 1) as f64;
        let time = if colours.best > 0.0 {
            colours.best * (colours.worst / colours.best).powf(share)
        } else {
            colours.best + (colours.worst - colours.best) * share
        };
        let (fill, _) = colours.of_time(time);
        let x = left + i * STEP;
        _ = writeln!(out, "<rect x=\"{x}\" y=\"{top}\" width=\"{STEP}\" height=\"10\" fill=\"{fill}\"/>");
    }
    let y = top + 24;
    let (best, worst) = (shown(colours.best), shown(colours.worst));
    _ = writeln!(out, "<text x=\"{left}\" y=\"{y}\">{best}</text>");
    let right = left + STEPS * STEP;
    _ = writeln!(out, "<text x=\"{right}\" y=\"{y}\" text-anchor=\"end\">{worst} {}</text>", escaped(unit));
}

fn bars(rows: &[Row], title: &str, unit: &str) -> String {
    let order = order(rows);
    let measured = order.iter().filter(|i| rows[**i].result.is_ok()).count();
    let drawn = measured.min(MOST_BARS);
    let parameters = varying(rows);
    let name = |row: &Row| {
        let parts = parameters.iter().map(|i| &row.point.0[*i]);
        let text = parts.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
        if text.is_empty() { row.point.shown() } else { text }
    };
    let left = order[..drawn].iter().map(|i| width_of(&name(&rows[*i]))).max().unwrap_or(0) + 24;
    const LENGTH: usize = 420;
    let top = 40;
    let full_width = (left + LENGTH + 90).max(width_of(title) + 32);
    let mut out = head(full_width, top + (drawn + 1) * LINE + 16, title);
    let colours = Colours::of(rows);
    // Bars start at zero, so their lengths are proportional to times.
    let longest = order[..drawn].iter().filter_map(|i| Some(rows[*i].result.as_ref().ok()?.time)).fold(0.0, f64::max);
    for (line, at) in order[..drawn].iter().enumerate() {
        let row = &rows[*at];
        let Ok(result) = &row.result else { continue };
        let y = top + line * LINE;
        let length =
            if longest > 0.0 { (result.time.max(0.0) / longest * LENGTH as f64).round().max(1.0) } else { 1.0 };
        let (fill, _) = colours.of_time(result.time);
        _ = writeln!(
            out,
            "<g><title>{}</title><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{left}\" y=\"{}\" width=\"{length}\" height=\"{}\" fill=\"{fill}\"/>\
             <text x=\"{}\" y=\"{}\">{}</text></g>",
            escaped(&tip(row, unit)),
            left - 8,
            y + 14,
            escaped(&name(row)),
            y + 2,
            LINE - 4,
            left as f64 + length + 6.0,
            y + 14,
            escaped(&shown(result.time)),
        );
    }
    let (more, failed) = (measured - drawn, rows.len() - measured);
    let mut below = "shorter is better".to_owned();
    if !unit.is_empty() {
        below += &format!("; {unit}");
    }
    if more > 0 {
        below += &format!("; {more} slower variants are not shown");
    }
    if failed > 0 {
        below += &format!("; {failed} failed");
    }
    let y = top + drawn * LINE + 18;
    _ = writeln!(out, "<text x=\"{left}\" y=\"{y}\" fill=\"#555\">{}</text>", escaped(&below));
    out + "</svg>\n"
}

fn head(width: usize, height: usize, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" {FONT}>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"16\" y=\"20\" font-weight=\"bold\">{}</text>\n",
        escaped(title)
    )
}

/// The approximate width of a text in pixels.
fn width_of(text: &str) -> usize {
    text.chars().count() * 8
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    // XML documents cannot contain control characters.
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::row;
    use super::*;

    #[test]
    fn two_parameters_are_a_heat_map() {
        let mut rows = vec![];
        for (t, u, time) in
            [("64", "1", Some(40.0)), ("64", "2", None), ("128", "1", Some(10.0)), ("128", "2", Some(20.0))]
        {
            rows.push(row(&format!("T={t} F=1 U={u}"), time));
        }
        let svg = svg(&rows, "k <1>", "us");
        assert!(svg.contains("k &lt;1&gt;") && svg.ends_with("</svg>\n"));
        // Four cells, and the steps of the legend.
        assert_eq!(svg.matches("<g><title>").count(), 4);
        assert_eq!(svg.matches("stroke-width=\"2\"").count(), 1);
        assert!(svg.contains("<title>T=128 F=1 U=1: 10.00 us</title>") && svg.contains(">compile</text>"));
        // The best time, the worst time, and a failure.
        for colour in ["#1a7854", "#d6604d", NONE] {
            assert!(svg.contains(&format!("fill=\"{colour}\"")), "{colour}");
        }
        assert_eq!(svg.matches("<g>").count(), svg.matches("</g>").count());
    }

    #[test]
    fn others_are_bars() {
        let rows: Vec<Row> = (1..100).map(|i| row(&format!("T={i}"), (i != 5).then_some(f64::from(i)))).collect();
        let svg = svg(&rows, "k", "us");
        assert_eq!(svg.matches("<g><title>").count(), MOST_BARS);
        assert!(svg.contains("shorter is better; us; 38 slower variants are not shown; 1 failed"));
        // The longest bar shown.
        assert!(svg.contains("width=\"420\"") && svg.contains(">61.00</text>"));
        assert!(svg.contains("T=1</text>"));
    }

    #[test]
    fn nothing_is_a_picture_too() {
        for rows in [vec![], vec![row("T=1", None)], vec![row("T=1 U=1", None), row("T=2 U=2", None)]] {
            let svg = svg(&rows, "k", "us");
            assert!(svg.starts_with("<svg") && !svg.contains("NaN") && !svg.contains("inf"));
        }
        let zeros = svg(&[row("T=1", Some(0.0)), row("T=2", Some(-1.0))], "k", "us");
        assert!(!zeros.contains("NaN") && !zeros.contains("inf"));
    }
}
