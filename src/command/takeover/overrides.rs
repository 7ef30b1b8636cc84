//! The overrides of an entry of `watches.yaml`: operator-sdk replaces variables in them as Go's `os.ExpandEnv` does, renders them as a
//! template, and sets them as `helm --set-string` does.

use crate::template::Part;

/// The characters that are the name of a variable alone, whatever follows.
const SPECIAL: [char; 17] = [
    '*', '#', '$', '@', '!', '?', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9',
];

/// The parts of an override.
///
/// Errors: the reason that it cannot be said in a call of `Values::set`.
pub fn parts(path: &str, text: &str) -> Result<Vec<Part>, &'static str> {
    if text.contains("{{") {
        return Err("it is a template");
    }
    if path.is_empty() || path.contains(['[', ']', '{', '}', ',', '=']) {
        return Err("its path names an item of a list, or several values");
    }
    if text.starts_with('{') || text.contains([',', '\\']) {
        return Err("it has a list, several values, or a backslash");
    }
    Ok(expand(text))
}

/// The texts and variables in a text.
fn expand(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        plain += &rest[..at];
        let after = &rest[at + 1..];
        let (name, length) = variable(after);
        rest = &after[length..];
        match name {
            // A `$` before something else stays; broken braces vanish.
            "" if length == 0 => plain.push('$'),
            "" => {}
            // Variables of shells, such as that of `$$`: no process has one in its environment.
            name if is_special(name) => {}
            name => {
                if !plain.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                }
                parts.push(Part::Variable(name.to_owned()));
            }
        }
    }
    plain += rest;
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    parts
}

/// Whether a name is one that shells give a meaning, such as `$`: Go takes it as one, too.
fn is_special(name: &str) -> bool {
    name.len() == 1 && name.contains(SPECIAL)
}

/// The name of the variable that a text behind `$` starts with, and how much of the text it takes.
fn variable(text: &str) -> (&str, usize) {
    if let Some(inner) = text.strip_prefix('{') {
        return match inner.find('}') {
            Some(end) => (&inner[..end], end + 2),
            None => ("", 1),
        };
    }
    if text.starts_with(SPECIAL) {
        return (&text[..1], 1);
    }
    let is_other = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let end = text.find(is_other).unwrap_or(text.len());
    (&text[..end], end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_those_of_go() {
        let check = |text: &str, expected: &[&str]| {
            let parts = expand(text).into_iter();
            let shown = parts.map(|part| match part {
                Part::Text(text) => text,
                Part::Variable(name) => format!("${name}"),
            });
            assert_eq!(shown.collect::<Vec<_>>(), expected, "{text}");
        };
        check("", &[]);
        check("a", &["a"]);
        check("$TAG", &["$TAG"]);
        check("${TAG}", &["$TAG"]);
        check("a/$B:${C}d", &["a/", "$B", ":", "$C", "d"]);
        check("5 $", &["5 $"]);
        check("$/a", &["$/a"]);
        check("$1a", &["a"]);
        check("a$$B", &["aB"]);
        check("$$$B", &["$B"]);
        check("a${$}b${*}", &["ab"]);
        check("a$$", &["a"]);
        check("${}a${b", &["ab"]);
    }

    #[test]
    fn what_cannot_be_said_is_left_out() {
        for (path, text) in [
            ("a", "{{ .x }}"),
            ("a[0]", "b"),
            ("a", "{b}"),
            ("a", "b,c=d"),
            ("a", "b\\n"),
        ] {
            assert!(parts(path, text).is_err(), "{path}: {text}");
        }
    }
}
