#![doc = include_str!("../README.md")]

mod keys;

use std::{borrow::Cow, fmt};

use serde::{
    Serialize,
    de::{DeserializeOwned, DeserializeSeed, IgnoredAny},
};
use serde_yaml::{Deserializer, Value};

use self::keys::Keys;

/// The most brackets that may be open: more than prose and patterns leave open, and few enough to be quick.
const DEEPEST: usize = 1_000;

/// The most aliases in a text with several anchors.
const ALIASES: usize = 500;

const TAB: &str = "a tab stands where YAML takes nothing but spaces";

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The message, without the place.
    pub what: String,
    /// Line and column, from 1.
    pub at: Option<(usize, usize)>,
}

impl Error {
    /// `name:line:column`, which editors open.
    pub fn place(&self, name: &str) -> String {
        match self.at {
            Some((line, column)) => format!("{name}:{line}:{column}"),
            None => name.to_owned(),
        }
    }

    fn new(text: &str, error: &serde_yaml::Error) -> Self {
        let mut what = error.to_string();
        let at = error.location().map(|at| (at.line(), at.column()));
        if let Some((line, column)) = at {
            what = what.replacen(&format!(" at line {line} column {column}"), "", 1);
            let stands = text
                .lines()
                .nth(line - 1)
                .and_then(|line| line.chars().nth(column - 1));
            if stands == Some('\t') {
                what = TAB.to_owned();
            }
        }
        Self { what, at }
    }

    /// An error at a byte of `text`.
    fn at(text: &str, byte: usize, what: String) -> Self {
        let before = &text[..byte];
        let line = before.split('\n').next_back().unwrap_or_default();
        let at = (before.matches('\n').count() + 1, line.chars().count() + 1);
        Self { what, at: Some(at) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match self.at {
            Some((line, column)) => write!(f, " at line {line} column {column}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// A value as YAML that every reader takes for the same: kubectl reads YAML 1.1, where `yes` is a boolean, and `0644`, `1_000` or
/// `1:30` is a number.
pub fn text(value: &impl Serialize) -> String {
    serde_saphyr::to_string(value).expect("a value of JSON is YAML")
}

/// [`text`] with each scalar on one line, however long it is: for files of which people read and merge the lines.
pub fn lines(value: &impl Serialize) -> String {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    serde_saphyr::to_string_with_options(value, options).expect("a value of JSON is YAML")
}

/// A text as a scalar, in quotes where some version of YAML reads the plain word as another type.
pub fn scalar(text: &str) -> String {
    self::text(&text).trim_end().to_owned()
}

/// Reads a text of one document.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    check(text)?;
    serde_yaml::from_str(text).map_err(|error| explain(text, &error))
}

/// Reads all documents of a text.
pub fn documents<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, Error> {
    check(text)?;
    let documents = Deserializer::from_str(text).map(T::deserialize);
    documents
        .collect::<Result<_, _>>()
        .map_err(|error| explain(text, &error))
}

/// The syntax error of a text. `None` for YAML that breaks a limit: too many brackets or aliases, too deep, a tab, a control
/// character.
pub fn broken(text: &str) -> Option<Error> {
    check(text).ok()?;
    let error = serde_yaml::from_str::<IgnoredAny>(text).err()?;
    let is_deep = error.to_string().contains("recursion limit");
    let error = Error::new(text, &error);
    Some(error).filter(|error| !is_deep && error.what != TAB)
}

/// The error for a text. For a duplicate key, the parser gives the place of its mapping, and this the place of the key.
fn explain(text: &str, error: &serde_yaml::Error) -> Error {
    let key = match error.to_string().contains("duplicate") {
        true => odd_key(text, true),
        false => None,
    };
    key.unwrap_or_else(|| Error::new(text, error))
}

/// The first invalid key of a text: a duplicate, a list or a mapping, or a `<<` that may not merge its value. `merge`: whether `<<`
/// is allowed at all.
pub fn odd_key(text: &str, merge: bool) -> Option<Error> {
    let mut documents = Deserializer::from_str(text);
    let error = documents.find_map(|document| Keys { merge }.deserialize(document).err());
    error.map(|error| Error::new(text, &error))
}

/// Whether no key is a list, a mapping, or `<<`: a text with one cannot be written as it was.
pub fn keys_are_words(value: &Value) -> bool {
    match value {
        Value::Mapping(mapping) => mapping
            .iter()
            .all(|(key, value)| is_word(key) && keys_are_words(value)),
        Value::Sequence(list) => list.iter().all(keys_are_words),
        Value::Tagged(tagged) => keys_are_words(&tagged.value),
        _ => true,
    }
}

fn is_word(key: &Value) -> bool {
    !key.is_mapping() && !key.is_sequence() && key != "<<"
}

/// Changes the value of a top-level key in all documents of `text`; `None` where no line is `key: from`. The rest of the line
/// stays: quotes, a comment, the line end.
pub fn with_value(text: &str, key: &str, from: &str, to: &str) -> Option<String> {
    let mut found = false;
    let lines = text.split_inclusive('\n').map(|line| {
        let changed = line_with_value(line, key, from, to);
        found |= changed.is_some();
        changed.map_or(Cow::Borrowed(line), Cow::Owned)
    });
    let text = lines.collect();
    found.then_some(text)
}

/// Changes `metadata.name` in the first document of `text` that has it on a line of its own; `None` if there is none. The rest of
/// the line stays.
pub fn with_name(text: &str, new: impl FnOnce(&str) -> String) -> Option<String> {
    let mut is_metadata = false;
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let inside = line.trim_start_matches([' ', '\t']);
        if inside.len() == line.len() && !line.trim().is_empty() {
            is_metadata = line.trim_end() == "metadata:";
        } else if is_metadata && let Some(value) = inside.strip_prefix("name:") {
            let value = value.split(" #").next().unwrap_or_default().trim();
            let name = value.trim_matches(['"', '\'']);
            let changed = line_with_value(inside, "name", name, &new(name))?;
            let start = begin + line.len() - inside.len();
            return Some([&text[..start], &changed, &text[begin + line.len()..]].concat());
        }
        begin += line.len();
    }
    None
}

fn line_with_value(line: &str, key: &str, from: &str, to: &str) -> Option<String> {
    let quotes = ["", "\"", "'"];
    let rest = quotes.iter().find_map(|quote| {
        line.strip_prefix(&format!("{quote}{key}{quote}"))?
            .trim_start_matches([' ', '\t'])
            .strip_prefix(':')
    })?;
    let value = rest.trim_start_matches([' ', '\t']);
    let (quote, tail) = quotes.iter().find_map(|quote| {
        let tail = value.strip_prefix(&format!("{quote}{from}{quote}"))?;
        Some((*quote, tail))
    })?;
    let is_comment = tail.starts_with([' ', '\t']) && tail.trim_start().starts_with('#');
    if value.len() == rest.len() || !(is_comment || tail.trim().is_empty()) {
        return None;
    }
    let new = match quote {
        "" => scalar(to),
        quote => format!("{quote}{to}{quote}"),
    };
    let before = &line[..line.len() - value.len()];
    Some(format!("{before}{new}{tail}"))
}

fn check(text: &str) -> Result<(), Error> {
    let (mut open, mut anchors, mut aliases) = (0_usize, 0, 0);
    let (mut before, mut bomb) = (b' ', None);
    for (at, byte) in text.bytes().enumerate() {
        let next = text.as_bytes().get(at + 1);
        let begins_word = matches!(before, b' ' | b'\t' | b'\n' | b'[' | b'{' | b',');
        let begins_name = begins_word && next.is_some_and(u8::is_ascii_alphanumeric);
        before = byte;
        let is_control = byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
        if is_control {
            let what = format!("the control character U+{byte:04X} stands in the text");
            return Err(Error::at(text, at, what));
        }
        match byte {
            b'&' if begins_name => anchors += 1,
            b'*' if begins_name => {
                aliases += 1;
                bomb = bomb.or((aliases > ALIASES).then_some(at));
            }
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > DEEPEST {
            let what = format!("more than {DEEPEST} brackets are open");
            return Err(Error::at(text, at, what));
        }
    }
    match bomb.filter(|_| anchors > 1) {
        Some(at) => Err(Error::at(text, at, format!("more than {ALIASES} aliases"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: Option<&str>) {
        let found = with_value(before, "kind", "Memcached", "Cache");
        assert_eq!(found.as_deref(), after, "{before:?}");
    }

    #[test]
    fn only_the_name_changes() {
        for (before, after) in [
            (
                "a: 1\nmetadata:\n  labels:\n    a: b\n  name: x\r\n",
                Some("a: 1\nmetadata:\n  labels:\n    a: b\n  name: x-v1\r\n"),
            ),
            (
                "metadata:\n  name: \"x\" # it\n---\nmetadata:\n  name: y\n",
                Some("metadata:\n  name: \"x-v1\" # it\n---\nmetadata:\n  name: y\n"),
            ),
            ("metadata:\n\n  name: x", Some("metadata:\n\n  name: x-v1")),
            ("spec:\n  name: x\n", None),
            ("metadata: {name: x}\n", None),
            ("{\"metadata\": {}}", None),
        ] {
            let found = with_name(before, |name| format!("{name}-v1"));
            assert_eq!(found.as_deref(), after, "{before:?}");
        }
    }

    #[test]
    fn only_the_value_of_a_line_changes() {
        for line in [
            "kind: Memcached",
            "kind: \"Memcached\"",
            "kind:  'Memcached' # the Memcached",
            "kind: Memcached\t# the cache",
            "\"kind\" : Memcached ",
        ] {
            // The first Memcached of a line is its value.
            let after = line.replacen("Memcached", "Cache", 1);
            check(line, Some(&after));
            for (around, end) in [("", "\n"), ("a: 1\r\n", "\r\n"), ("a: 1\n", "\nb: 2\n")] {
                let text = |line| format!("{around}{line}{end}");
                check(&text(line), Some(&text(&after)));
            }
        }
        check(
            "kind: Memcached\n---\nkind: Memcached\n",
            Some("kind: Cache\n---\nkind: Cache\n"),
        );
        for line in [
            "",
            "  kind: Memcached",
            "# kind: Memcached",
            "kind:Memcached",
            "kind: Memcached2",
            "kind: Memcached#",
            "kind: \"Memcached",
            "kinds: Memcached",
            "{kind: Memcached}",
        ] {
            check(line, None);
        }
        assert_eq!(
            with_value("kind: Memcached\n", "kind", "Memcached", "On").unwrap(),
            "kind: \"On\"\n"
        );
    }

    #[test]
    fn aliases_of_aliases_are_refused() {
        let list = |of: &str| format!("[{}]", vec![of; 300].join(", "));
        let bomb = format!(
            "a: &a {}\nb: &b {}\nc: {}\n",
            list("x"),
            list("*a"),
            list("*b")
        );
        let refused = read::<Value>(&bomb).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "more than 500 aliases at line 3 column 805"
        );
        let few = format!("a: &a [x]\nb: &b {}\nc: *b\n", list("*a"));
        assert!(read::<Value>(&few).is_ok());
        // A list in a description.
        let prose = format!("a: |\n{}  &a &b\n", "  * one\n".repeat(600));
        assert!(read::<Value>(&prose).is_ok());
    }

    #[test]
    fn brackets_without_end_are_refused() {
        for open in ["[", "{a: ", "- [", "[\n"] {
            let text = open.repeat(200_000);
            let refused = documents::<Value>(&text).unwrap_err().to_string();
            assert!(
                refused.starts_with("more than 1000 brackets are open at line"),
                "{refused}"
            );
            assert!(read::<Value>(&text).is_err());
        }
        assert_eq!(documents::<Value>("a: [1]\n---\n[]\n").unwrap().len(), 2);
        assert_eq!(read::<Vec<u8>>("[1, 2]").unwrap(), [1, 2]);
        // Half-open intervals in a description.
        let prose = format!("a: '{}'\n", "[0, 1) ".repeat(900));
        assert!(read::<Value>(&prose).is_ok());
    }
}
