//! Adds and removes items of an attribute.

use super::{TextEdit, attribute::Item};

/// Adds `new` after an item: on a line of its own if the item has one, and after the comment on that line.
pub fn insert_after(text: &str, item: &Item, new: &str) -> TextEdit {
    let end = item.comma.unwrap_or(item.range.end);
    let line = Line::of(text, item.range.start, end);
    if !line.own {
        return TextEdit {
            range: item.range.end..item.range.end,
            text: format!(", {new}"),
        };
    }
    let rest = &text[end..line.end];
    TextEdit {
        range: item.range.end..line.end,
        text: match item.comma {
            Some(_) => format!(
                "{}{rest}\n{}{new},",
                &text[item.range.end..end],
                line.indent
            ),
            None => format!(",{rest}\n{}{new}", line.indent),
        },
    }
}

/// Removes an item with its comma, and with its line if nothing else is on it.
pub fn remove(text: &str, items: &[Item], at: usize) -> TextEdit {
    let item = &items[at];
    let end = item.comma.unwrap_or(item.range.end);
    let line = Line::of(text, item.range.start, end);
    let blank = |end: usize| text[end..].len() - text[end..].trim_start_matches(' ').len();
    let range = if line.own && text[end..line.end].trim().is_empty() {
        line.start..(line.end + 1).min(text.len())
    } else if item.comma.is_some() {
        item.range.start..end + blank(end)
    } else {
        let before = at.checked_sub(1).map(|before| &items[before]);
        let before = before.filter(|before| before.attribute == item.attribute);
        before.map_or(item.range.start, |before| before.range.end)..end
    };
    TextEdit {
        range,
        text: String::new(),
    }
}

/// The line of an item.
struct Line<'a> {
    start: usize,
    /// The byte of its line end.
    end: usize,
    indent: &'a str,
    /// Whether the item shares it with nothing but a comment.
    own: bool,
}

impl<'a> Line<'a> {
    fn of(text: &'a str, from: usize, to: usize) -> Self {
        let start = text[..from].rfind('\n').map_or(0, |at| at + 1);
        let end = text[to..].find('\n').map_or(text.len(), |at| to + at);
        let rest = text[to..end].trim();
        Self {
            start,
            end,
            indent: &text[start..from],
            own: text[start..from].trim().is_empty() && (rest.is_empty() || rest.starts_with("//")),
        }
    }
}
