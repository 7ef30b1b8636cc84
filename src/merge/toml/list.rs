//! Adding to a list, in the lines that it has.

use toml_edit::{Array, RawString, Value};

/// Where nothing shows how far the entries of a list of several lines are indented.
const INDENT: &str = "    ";

/// Adds `value` behind the last entry: on a line of its own if that begins one, or has a comment behind it, which stays
/// there. What stands before the bracket stays before it, and a comma is the last sign if one was.
pub fn push(list: &mut Array, value: Value) {
    let has_comma = list.trailing_comma();
    let behind = match list.iter_mut().last() {
        Some(last) if !has_comma => {
            let behind = text(last.decor().suffix()).to_owned();
            last.decor_mut().set_suffix("");
            behind
        }
        _ => text(Some(list.trailing())).to_owned(),
    };
    let (beside, below) = match behind.find('\n') {
        Some(end) => behind.split_at(end),
        None => ("", behind.as_str()),
    };
    let comment = beside.trim_end();
    let begins_line = match list.iter().last() {
        Some(last) => indent(last).is_some() || !comment.is_empty(),
        None => !below.trim_start_matches(' ').is_empty(),
    };
    let before = match begins_line {
        true => {
            let indent = list.iter().filter_map(indent).last().unwrap_or(INDENT);
            format!("{comment}\n{indent}")
        }
        false if list.is_empty() => String::new(),
        false => " ".to_owned(),
    };
    let (suffix, trailing) = match list.is_empty() {
        true if !begins_line => ("", ""),
        false if !has_comma => (below, ""),
        _ => ("", below),
    };
    list.push_formatted(value.decorated(before, suffix));
    list.set_trailing(trailing);
}

fn text(raw: Option<&RawString>) -> &str {
    raw.and_then(RawString::as_str).unwrap_or_default()
}

/// The white space before a value that begins a line.
fn indent(value: &Value) -> Option<&str> {
    let (_, indent) = text(value.decor().prefix()).rsplit_once('\n')?;
    Some(indent)
}

#[cfg(test)]
mod tests {
    use toml_edit::DocumentMut;

    #[test]
    fn an_entry_is_added_in_the_lines_that_there_are() {
        for (list, expected) in [
            ("[]", "[\"z\"]"),
            ("[ ]", "[\"z\"]"),
            ("[\"a\",\"b\"]", "[\"a\",\"b\", \"z\"]"),
            ("[ \"a\" ]", "[ \"a\", \"z\" ]"),
            ("[\"a\", ]", "[\"a\", \"z\", ]"),
            ("[\n  \"a\", \"b\"\n]", "[\n  \"a\", \"b\", \"z\"\n]"),
            ("[\n  \"a\"]", "[\n  \"a\",\n  \"z\"]"),
            ("[\n  \"a\",\n]", "[\n  \"a\",\n  \"z\",\n]"),
            ("[\n\t\"a\"\n]", "[\n\t\"a\",\n\t\"z\"\n]"),
            ("[\n]", "[\n    \"z\"\n]"),
        ] {
            check(list, expected);
        }
    }

    #[test]
    fn a_comment_stays_beside_its_entry() {
        for (list, expected) in [
            (
                "[\n  \"a\",   # a\n  \"b\"    # b\n]",
                "[\n  \"a\",   # a\n  \"b\",    # b\n  \"z\"\n]",
            ),
            ("[\n  \"a\",   # a\n]", "[\n  \"a\",   # a\n  \"z\",\n]"),
            ("[\"a\", # a\n]", "[\"a\", # a\n    \"z\",\n]"),
            (
                "[\n  \"a\", \"b\" # both\n]",
                "[\n  \"a\", \"b\", # both\n  \"z\"\n]",
            ),
            // Before the comma.
            (
                "[\n  \"a\" # a\n  , \"b\",\n]",
                "[\n  \"a\" # a\n  , \"b\", \"z\",\n]",
            ),
            // On lines of their own.
            (
                "[\n  # first\n  \"a\", # a\n\n  # more\n]",
                "[\n  # first\n  \"a\", # a\n  \"z\",\n\n  # more\n]",
            ),
            ("[\n  # none\n]", "[\n    \"z\"\n  # none\n]"),
            ("[ # none\n]", "[ # none\n    \"z\"\n]"),
        ] {
            check(list, expected);
        }
    }

    #[track_caller]
    fn check(list: &str, expected: &str) {
        let mut document: DocumentMut = format!("a = {list}\n").parse().unwrap();
        super::push(document["a"].as_array_mut().unwrap(), "z".into());
        assert_eq!(document.to_string(), format!("a = {expected}\n"));
        document.to_string().parse::<DocumentMut>().unwrap();
    }
}
