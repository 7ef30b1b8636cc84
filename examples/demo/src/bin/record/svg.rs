//! A session as an animated drawing: commands are typed, their output appears, and the screen scrolls.

use std::fmt::Write;

const COLUMNS: usize = 110;
const ROWS: usize = 30;
/// The size of a character, in pixels.
const CELL: (f64, f64) = (8.4, 19.0);
const MARGIN: f64 = 18.0;
/// Seconds for a character that is typed, a line that is printed, and to read an output.
const TYPED: f64 = 0.02;
const PRINTED: f64 = 0.03;
const READ: f64 = 1.2;
/// Seconds for which the last screen stays.
const END: f64 = 6.0;

/// The words at the start of a line that the tools print in color.
const VERBS: [&str; 5] = ["Create", "Update", "Done", "Compiling", "Finished"];

/// A line on the screen.
struct Line {
    text: String,
    /// When it appears.
    at: f64,
    /// How long typing it takes.
    typing: f64,
}

/// Draws a session of `$ command` lines and outputs.
pub fn draw(session: &str) -> String {
    let mut lines: Vec<Line> = Vec::new();
    let mut now = 0.5;
    for line in session.lines() {
        let is_command = line.starts_with("$ ");
        if is_command && !lines.is_empty() {
            now += READ;
        }
        for (at, part) in wrapped(line).into_iter().enumerate() {
            let typing = match is_command {
                true => TYPED * part.chars().count() as f64,
                false => 0.0,
            };
            let text = if at > 0 { format!("  {part}") } else { part };
            lines.push(Line {
                text,
                at: now,
                typing,
            });
            now += typing + PRINTED;
        }
    }
    let length = now + END;
    let (width, height) = (
        CELL.0 * COLUMNS as f64 + 2.0 * MARGIN,
        CELL.1 * ROWS as f64 + 2.0 * MARGIN,
    );
    let mut style = String::new();
    let mut body = String::new();
    for (row, line) in lines.iter().enumerate() {
        let y = CELL.1 * (row as f64 + 0.75);
        let _ = writeln!(
            body,
            r#"<text{} y="{y:.1}">{}</text>"#,
            if line.typing > 0.0 {
                String::new()
            } else {
                format!(r#" class="l{row}""#)
            },
            colored(&line.text, line.typing > 0.0)
        );
        let percent = |time: f64| 100.0 * time / length;
        let from = percent(line.at);
        let _ = if line.typing > 0.0 {
            // A cover moves off what has been typed.
            let (to, count) = (percent(line.at + line.typing), line.text.chars().count());
            let after = to + 0.001;
            let (top, right) = (CELL.1 * row as f64, CELL.0 * count as f64);
            let _ = writeln!(
                body,
                r##"<rect class="l{row}" y="{top:.1}" width="100%" height="{:.1}" fill="#1e1e1e"/>"##,
                CELL.1
            );
            writeln!(
                style,
                ".l{row}{{animation:k{row} {length:.2}s steps({count}) infinite}}@keyframes k{row}{{0%,{from:.3}%{{transform:none}}{to:.3}%{{transform:translateX({right:.1}px)}}{after:.3}%,100%{{transform:translateX({width:.0}px)}}}}"
            )
        } else {
            writeln!(
                style,
                ".l{row}{{animation:k{row} {length:.2}s step-end infinite}}@keyframes k{row}{{0%{{visibility:hidden}}{from:.3}%,100%{{visibility:visible}}}}"
            )
        };
    }
    let mut scroll = String::from("0%{transform:translateY(0)}");
    for (row, line) in lines.iter().enumerate().skip(ROWS) {
        let up = CELL.1 * (row + 1 - ROWS) as f64;
        let _ = write!(
            scroll,
            "{:.3}%{{transform:translateY(-{up:.1}px)}}",
            100.0 * line.at / length
        );
    }
    let up = CELL.1 * lines.len().saturating_sub(ROWS) as f64;
    let _ = write!(scroll, "100%{{transform:translateY(-{up:.1}px)}}");
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" role="img" aria-label="A terminal: the commands and outputs of docs/recording/session.console">
<style>
text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d4d4d4;white-space:pre}}
.p{{fill:#6a9fb5}}.c{{fill:#ffffff;font-weight:bold}}.v{{fill:#8ec07c;font-weight:bold}}
.s{{animation:s {length:.2}s step-end infinite}}@keyframes s{{{scroll}}}
{style}</style>
<rect width="100%" height="100%" rx="8" fill="#1e1e1e"/>
<svg x="{MARGIN}" y="{MARGIN}" width="{:.1}" height="{:.1}"><g class="s">
{body}</g></svg>
</svg>
"##,
        width - 2.0 * MARGIN,
        height - 2.0 * MARGIN,
    )
}

/// A line in parts that fit on the screen; commands are cut at spaces.
fn wrapped(line: &str) -> Vec<String> {
    let width = COLUMNS - 2;
    let mut parts = vec![String::new()];
    for word in line.split_inclusive(' ') {
        let part = parts.last_mut().expect("it has one");
        if part.chars().count() + word.trim_end().chars().count() > width && !part.trim().is_empty()
        {
            if line.starts_with("$ ") {
                part.push('\\');
            }
            parts.push(word.to_owned());
        } else {
            part.push_str(word);
        }
    }
    parts
}

/// The text of a line with its colors, for SVG.
fn colored(text: &str, is_command: bool) -> String {
    let escaped = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    };
    if is_command {
        let (prompt, command) = text.split_at(2);
        return format!(
            r#"<tspan class="p">{prompt}</tspan><tspan class="c">{}</tspan>"#,
            escaped(command)
        );
    }
    let verb = text.split_whitespace().next().unwrap_or_default();
    match text.split_once(verb) {
        Some((before, after)) if VERBS.contains(&verb) => {
            format!(
                r#"{before}<tspan class="v">{verb}</tspan>{}"#,
                escaped(after)
            )
        }
        _ => escaped(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_commands_are_cut_at_spaces() {
        let line = format!("$ {}", "word ".repeat(30));
        let parts = wrapped(&line);
        assert_eq!(parts.len(), 2);
        assert!(parts[0].ends_with("word \\"), "{parts:?}");
        assert!(parts.iter().all(|part| part.len() <= COLUMNS), "{parts:?}");
    }

    #[test]
    fn what_svg_would_read_is_escaped() {
        assert_eq!(colored("a < b", false), "a &lt; b");
        assert_eq!(
            colored("   Done 3", false),
            "   <tspan class=\"v\">Done</tspan> 3"
        );
    }
}
