//! Descriptions as doc comments.

/// The widest text of a doc comment that is not wrapped.
const WIDTH: usize = 100;

/// A description in Rust source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Doc {
    /// The lines of the doc comment.
    pub lines: Vec<String>,
    /// What gives the text back.
    pub from: Source,
}

/// What schemars takes a description from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The doc comment, as it is.
    Comment,
    /// The doc comment, with its lines joined again by the generated function `unwrapped`.
    Unwrapped,
    /// An attribute with the text.
    Attribute,
}

/// The doc comment of a description.
pub(crate) fn of(description: &str) -> Doc {
    let exact: Vec<String> = description.split('\n').map(str::to_owned).collect();
    let fits = exact.iter().all(|line| line.chars().count() <= WIDTH);
    if fits && is_harmless(&exact) && text(&exact) == description {
        return Doc {
            lines: exact,
            from: Source::Comment,
        };
    }
    let mut wrapped = Vec::new();
    for (index, line) in exact.iter().enumerate() {
        if index > 0 {
            wrapped.push(String::new());
        }
        wrap(line, &mut wrapped);
    }
    if is_harmless(&wrapped) && unwrapped(&text(&wrapped)) == description {
        return Doc {
            lines: wrapped,
            from: Source::Unwrapped,
        };
    }
    Doc {
        lines: prose(description),
        from: Source::Attribute,
    }
}

/// What schemars makes of a doc comment without a title.
fn text(lines: &[String]) -> String {
    let text = lines.join("\n");
    text.trim_matches(|c: char| c.is_ascii_whitespace())
        .to_owned()
}

/// What the generated function `unwrapped` makes of a wrapped text: paragraphs are lines again.
fn unwrapped(text: &str) -> String {
    let paragraphs = text
        .split("\n\n")
        .map(|paragraph| paragraph.replace('\n', " "));
    paragraphs.collect::<Vec<_>>().join("\n")
}

/// Whether neither rustc, rustdoc, clippy nor rustfmt finds anything in the lines but prose.
fn is_harmless(lines: &[String]) -> bool {
    let plain = |line: &String| {
        let strange = |c: char| c.is_control() || is_direction(c);
        !line.contains(strange)
            && !line.ends_with(char::is_whitespace)
            && !line.starts_with("    ")
            && !line.trim_start().starts_with("```")
            && !line.trim_start().starts_with("~~~")
            && !line.trim_start().starts_with('#')
    };
    lines.iter().all(plain)
}

/// Whether a character changes the direction of the text after it, which rustc refuses in comments.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
}

/// Adds the words of a line, in lines that fit.
fn wrap(line: &str, lines: &mut Vec<String>) {
    let mut current: Option<String> = None;
    for word in line.split(' ') {
        current = Some(match current {
            None => word.to_owned(),
            Some(line) if line.chars().count() + 1 + word.chars().count() > WIDTH - 8 => {
                lines.push(line);
                word.to_owned()
            }
            Some(line) => line + " " + word,
        });
    }
    lines.extend(current);
}

/// The words of a text that is no prose, so that nothing in it is taken for code.
pub(crate) fn prose(description: &str) -> Vec<String> {
    let shown = |c: char| {
        if c.is_control() || is_direction(c) {
            ' '
        } else {
            c
        }
    };
    let clean: String = description.chars().map(shown).collect();
    let mut lines = Vec::new();
    let words = clean.split_whitespace().map(|word| match word {
        fence if fence.starts_with("```") || fence.starts_with("~~~") => "",
        word => word,
    });
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut current = String::new();
    for word in words {
        let starts = current.is_empty();
        if !starts && current.chars().count() + 1 + word.chars().count() > WIDTH - 8 {
            lines.push(std::mem::take(&mut current));
        }
        if current.is_empty() {
            // No title, and no list.
            if word.starts_with(['#', '-', '*', '+', '=', '>', '|'])
                || word.ends_with(['.', ')']) && word.starts_with(|c: char| c.is_ascii_digit())
            {
                current.push('\\');
            }
        } else {
            current.push(' ');
        }
        current.push_str(word);
    }
    if !current.is_empty() {
        lines.push(current);
    }
    lines
}
