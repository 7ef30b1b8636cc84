//! Where a top-level list stands in a file, and its text.

use std::ops::Range;

use super::list::{Entry, List};

/// The top-level keys, in their order.
pub fn keys(text: &str) -> Vec<&str> {
    text.lines().filter_map(key_of).collect()
}

/// The key that a line begins with, if it is a plain word.
pub fn key_of(line: &str) -> Option<&str> {
    let (key, _) = line.split_once(':')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (!key.is_empty() && key.chars().all(plain) && !key.starts_with('-')).then_some(key)
}

/// Of the line of a list's key, whether it says `[]`, and the comment at its end with the blanks before it.
pub fn head(line: &str) -> Option<(bool, &str)> {
    let (_, rest) = line.split_once(':')?;
    let empty = rest.trim_start().strip_prefix("[]");
    let comment = empty.unwrap_or(rest).trim_end();
    let is_comment = comment.starts_with([' ', '\t']) && comment.trim_start().starts_with('#');
    (comment.is_empty() || is_comment).then_some((empty.is_some(), comment))
}

/// The lines that hold the entries of the list at `key` and the comments around them; `None` where something else than a
/// block list stands. `[]` is an empty one, and so is nothing at all.
pub fn block(key: &str, lines: &[&str]) -> Option<Range<usize>> {
    let at = lines.iter().position(|line| key_of(line) == Some(key))?;
    let (is_empty, _) = head(lines[at])?;
    let mut end = at + 1;
    for (offset, line) in lines[at + 1..].iter().enumerate() {
        if line.starts_with("- ") || line.starts_with("  ") {
            end = at + 2 + offset;
        } else if !(line.trim().is_empty() || line.starts_with('#')) {
            break;
        }
    }
    let mut values = lines[at + 1..end]
        .iter()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let begins_list = |first: &&str| !is_empty && first.trim_start().starts_with("- ");
    let is_list = values.next().is_none_or(begins_list);
    is_list.then_some(at + 1..end)
}

/// The list at `key`, without its indentation.
pub fn list(key: &str, text: &str) -> Option<List> {
    let lines: Vec<&str> = text.lines().collect();
    let range = block(key, &lines)?;
    let indent = indent(&lines[range.clone()]);
    let mut list = List::default();
    for line in &lines[range] {
        let blank = line.len() - line.trim_start().len();
        let line = &line[indent.min(blank)..];
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            list.below.push_str(line);
            list.below.push('\n');
        } else if line.starts_with("- ") || list.entries.is_empty() {
            list.entries.push(Entry {
                above: std::mem::take(&mut list.below),
                body: format!("{line}\n"),
            });
        } else if let Some(entry) = list.entries.last_mut() {
            entry.body.push_str(&std::mem::take(&mut list.below));
            entry.body.push_str(line);
            entry.body.push('\n');
        }
    }
    Some(list)
}

/// The columns in front of the entries of a block.
fn indent(lines: &[&str]) -> usize {
    let first = |sign: &str| {
        lines
            .iter()
            .find(|line| line.trim_start().starts_with(sign))
    };
    // Where there is none, comments stand where entries would.
    let first = first("- ").or_else(|| first("#"));
    first.map_or(0, |line| line.len() - line.trim_start().len())
}

/// The comments between the entries of a block, and not those within one.
fn comments<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let indent = indent(lines);
    let (mut comments, mut between) = (Vec::new(), Vec::new());
    for line in lines {
        let blank = line.len() - line.trim_start().len();
        if line.trim_start().starts_with('#') {
            between.push(*line);
        } else if line[indent.min(blank)..].starts_with("- ") {
            comments.append(&mut between);
        } else if !line.trim().is_empty() {
            between.clear();
        }
    }
    comments.append(&mut between);
    comments
}

/// `text` with exactly `list` at `key`, indented as the list was, or else as `style` has it. Comments stay where they stood.
pub fn replace(key: &str, text: &str, list: &List, style: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let join = |lines: &[&str]| {
        lines
            .iter()
            .flat_map(|line| [*line, "\n"])
            .collect::<String>()
    };
    let place = block(key, &lines);
    let comment = place
        .clone()
        .and_then(|range| head(lines[range.start - 1]))
        .map_or("", |(_, comment)| comment);
    let empty = if list.entries.is_empty() { " []" } else { "" };
    let head = format!("{key}:{empty}{comment}\n");
    let model: Vec<&str> = style.lines().collect();
    let own = place
        .clone()
        .map(|range| &lines[range])
        .filter(|lines| lines.iter().any(|line| line.trim_start().starts_with("- ")));
    let columns = own
        .or(block(key, &model).map(|range| &model[range]))
        .map_or(0, indent);
    let mut comments = place
        .clone()
        .map_or(Vec::new(), |range| comments(&lines[range]));
    let indented = |line: &str| match line.is_empty() {
        true => "\n".to_owned(),
        false => format!("{:columns$}{line}\n", ""),
    };
    let mut as_it_stood = |line: &str| {
        let same = |old: &&str| old.trim_start() == line.trim_start();
        match comments.iter().position(same) {
            Some(at) if !line.trim().is_empty() => comments.remove(at).to_owned() + "\n",
            _ => indented(line),
        }
    };
    let mut body = String::new();
    for entry in &list.entries {
        body.extend(entry.above.lines().map(&mut as_it_stood));
        body.extend(entry.body.lines().map(indented));
    }
    body.extend(list.below.lines().map(as_it_stood));
    let mut replaced = match place {
        Some(range) => join(&lines[..range.start - 1]) + &head + &body + &join(&lines[range.end..]),
        None => join(&lines) + &head + &body,
    };
    if !text.is_empty() && !text.ends_with('\n') {
        replaced.pop();
    }
    replaced
}
