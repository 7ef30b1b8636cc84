//! Reads YAML as the Go library yaml v2 does, by way of JSON.

use std::{
    collections::{BTreeMap, HashMap},
    rc::Rc,
};

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, StrInput};
use serde_json::{Map, Number, Value};

use super::resolve::{Scalar, resolve};
use crate::go::number;

/// The deepest nesting that is read. Go reads ten times as much.
const DEEPEST: usize = 1_000;

/// Reads the first document of a text; an empty text is `null`. Of a key that stands twice, the last value counts.
///
/// # Errors
/// The message of `sigs.k8s.io/yaml`, which Helm shows.
pub fn read(text: &str) -> Result<Value, String> {
    let mut reader = Reader::new(text);
    let value = reader.document().map_err(wrapped)?;
    value.map_or(Ok(Value::Null), |value| value.into_json().map_err(wrapped))
}

fn wrapped(what: String) -> String {
    format!("error converting YAML to JSON: {what}")
}

/// A value before it becomes JSON.
#[derive(Clone)]
enum Node {
    Scalar(Scalar, Rc<str>),
    /// `<<` without quotes: as a key, it merges other mappings.
    Merge,
    List(Rc<[Node]>),
    /// Keys and values in the order of the text.
    Map(Rc<[(Node, Node)]>),
}

/// How much of a document comes from aliases.
#[derive(Default)]
struct Counts {
    all: u64,
    by_alias: u64,
    /// Bytes of texts, also of those that aliases copy.
    bytes: usize,
}

/// The most bytes of texts that a document may have with what its aliases copy. Go has no limit.
const MOST_BYTES: usize = 256 << 20;

impl Counts {
    /// Go refuses a document of which nearly all comes from aliases: it would grow without end.
    fn add(&mut self, is_in_alias: bool) -> Result<(), String> {
        if self.bytes > MOST_BYTES {
            return Err(format!(
                "yaml: the document has more than {MOST_BYTES} bytes"
            ));
        }
        self.all += 1;
        self.by_alias += u64::from(is_in_alias);
        let share = match self.all {
            ..=400_000 => 0.99,
            4_000_000.. => 0.10,
            all => 0.99 - 0.89 * ((all - 400_000) as f64 / 3_600_000.0),
        };
        let is_too_much = self.by_alias > 100
            && self.all > 1_000
            && self.by_alias as f64 / self.all as f64 > share;
        match is_too_much {
            true => Err("yaml: document contains excessive aliasing".to_owned()),
            false => Ok(()),
        }
    }
}

/// What an anchor stands for, and how much that is.
struct Anchored {
    node: Node,
    size: u64,
    bytes: usize,
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Option<Anchored>>,
    counts: Counts,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        let mut options = Options::default();
        options.block_scalar_eof_without_line_feed = true;
        options.bom_inside_document_as_content = true;
        options.emit_unresolved_aliases = true;
        // Another crate of the same build may turn the feature for comments on.
        options.emit_comments = false;
        options.flow_nesting_limit = DEEPEST;
        options.block_nesting_limit = DEEPEST;
        Self {
            parser: Parser::new_from_str_with_options(text, options),
            anchors: HashMap::new(),
            counts: Counts::default(),
        }
    }

    fn next(&mut self) -> Result<Event<'a>, String> {
        match self.parser.next() {
            None => Ok(Event::StreamEnd),
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => Err(message(&error)),
        }
    }

    /// The next document, or `None` at the end.
    fn document(&mut self) -> Result<Option<Node>, String> {
        loop {
            match self.next()? {
                Event::StreamEnd => return Ok(None),
                Event::DocumentStart(..) => {
                    self.anchors.clear();
                    self.counts = Counts::default();
                    let first = self.next()?;
                    let node = self.node(first, 0)?;
                    self.next()?;
                    return Ok(Some(node));
                }
                _ => {}
            }
        }
    }

    fn node(&mut self, event: Event<'a>, depth: usize) -> Result<Node, String> {
        if depth > DEEPEST {
            return Err(format!("yaml: exceeded max depth of {DEEPEST}"));
        }
        self.counts.add(false)?;
        let before = (self.counts.all, self.counts.bytes);
        let (anchor, node) = match event {
            Event::Alias(anchor) => return self.alias(anchor),
            Event::UnresolvedAlias(name) => {
                return Err(format!("yaml: unknown anchor '{name}' referenced"));
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.counts.bytes = self.counts.bytes.saturating_add(text.len());
                let tag = tag.map(|tag| tag.to_string());
                (
                    anchor,
                    scalar(tag.as_deref(), &text, style == ScalarStyle::Plain)?,
                )
            }
            Event::SequenceStart(_, anchor, _) => {
                self.anchors.insert(anchor, None);
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break,
                        event => items.push(self.node(event, depth + 1)?),
                    }
                }
                (anchor, Node::List(items.into()))
            }
            Event::MappingStart(_, anchor, _) => {
                self.anchors.insert(anchor, None);
                let mut entries = Vec::new();
                loop {
                    let key = match self.next()? {
                        Event::MappingEnd => break,
                        event => self.node(event, depth + 1)?,
                    };
                    let event = self.next()?;
                    entries.push((key, self.node(event, depth + 1)?));
                }
                (anchor, Node::Map(entries.into()))
            }
            _ => return Err("yaml: unexpected event".to_owned()),
        };
        if anchor > 0 {
            let anchored = Anchored {
                node: node.clone(),
                size: self.counts.all - before.0 + 1,
                bytes: self.counts.bytes - before.1,
            };
            self.anchors.insert(anchor, Some(anchored));
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize) -> Result<Node, String> {
        match self.anchors.get(&anchor) {
            None | Some(None) => Err("yaml: the value of an anchor contains itself".to_owned()),
            Some(Some(anchored)) => {
                let node = anchored.node.clone();
                let size = anchored.size;
                self.counts.bytes = self.counts.bytes.saturating_add(anchored.bytes);
                for _ in 0..size {
                    self.counts.add(true)?;
                }
                Ok(node)
            }
        }
    }
}

/// What the parser says, and what the Go library says of the same fault, in the line that follows or in the same.
const MESSAGES: [(&str, &str, usize); 7] = [
    ("expected ',' or ']'", "did not find expected ',' or ']'", 0),
    ("expected ',' or '}'", "did not find expected ',' or '}'", 0),
    ("simple key expected ':'", "could not find expected ':'", 1),
    ("simple key expect ':'", "could not find expected ':'", 1),
    (
        "tabs disallowed",
        "found character that cannot start any token",
        0,
    ),
    (
        "unexpected character",
        "found character that cannot start any token",
        0,
    ),
    ("unclosed quote", "found unexpected end of stream", 0),
];

/// The message of an error, with the line. Go leaves out the first line.
fn message(error: &ScanError) -> String {
    let whole = error.info();
    // `while scanning a tag, did not find ...`: Go has the second part only.
    let said = match whole
        .strip_prefix("while ")
        .and_then(|it| it.split_once(", "))
    {
        Some((_, said)) => said,
        None => &whole,
    };
    let known = MESSAGES
        .iter()
        .find(|(prefix, ..)| said.starts_with(prefix));
    let (said, line) = match known {
        Some((_, said, later)) => (*said, error.marker().line() + later),
        None => (said, error.marker().line()),
    };
    match line {
        1 => format!("yaml: {said}"),
        line => format!("yaml: line {line}: {said}"),
    }
}

/// The prefix of the tags that YAML defines.
const TAGS: &str = "tag:yaml.org,2002:";

fn scalar(tag: Option<&str>, text: &str, is_plain: bool) -> Result<Node, String> {
    let Some(tag) = tag.filter(|tag| !tag.is_empty()) else {
        return Ok(match is_plain {
            true if text == "<<" => Node::Merge,
            true => Node::Scalar(resolve(text), text.into()),
            false => Node::Scalar(Scalar::String, text.into()),
        });
    };
    let short = tag.strip_prefix(TAGS).unwrap_or_default();
    let found = resolve(text);
    let refused = |found: &str| {
        Err(format!(
            "yaml: cannot decode !!{found} `{text}` as a !!{short}"
        ))
    };
    let name = match found {
        Scalar::Null => "null",
        Scalar::Bool(_) => "bool",
        Scalar::Int(_) | Scalar::Uint(_) => "int",
        Scalar::Float(_) => "float",
        Scalar::Timestamp => "timestamp",
        Scalar::String => "str",
    };
    let scalar = match short {
        "str" => Scalar::String,
        "binary" => {
            let lines: String = text.split(['\r', '\n']).collect();
            let Ok(bytes) = data_encoding::BASE64.decode(lines.as_bytes()) else {
                return Err("yaml: !!binary value contains invalid base64 data".to_owned());
            };
            let text = String::from_utf8_lossy(&bytes);
            return Ok(Node::Scalar(Scalar::String, text.into()));
        }
        "float" => match found {
            Scalar::Int(it) => Scalar::Float(it as f64),
            Scalar::Float(_) => found,
            _ => return refused(name),
        },
        "bool" | "int" | "null" | "timestamp" if name == short => found,
        "bool" | "int" | "null" | "timestamp" => return refused(name),
        "merge" if text == "<<" => return Ok(Node::Merge),
        _ => Scalar::String,
    };
    Ok(Node::Scalar(scalar, text.into()))
}

impl Node {
    fn into_json(self) -> Result<Value, String> {
        Ok(match self {
            Self::Scalar(Scalar::Null, _) => Value::Null,
            Self::Scalar(Scalar::Bool(it), _) => Value::Bool(it),
            Self::Scalar(Scalar::Int(it), _) => Value::Number(it.into()),
            Self::Scalar(Scalar::Uint(it), _) => Value::Number(it.into()),
            Self::Scalar(Scalar::Float(it), _) => match Number::from_f64(it) {
                Some(number) => Value::Number(number),
                None => {
                    let it = number::plain(it);
                    return Err(format!("json: unsupported value: {it}"));
                }
            },
            Self::Scalar(_, text) => Value::String(text.to_string()),
            Self::Merge => Value::String("<<".to_owned()),
            Self::List(items) => {
                let items = items.iter().cloned().map(Self::into_json);
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Self::Map(entries) => {
                let mut map = Map::new();
                merge_into(&mut map, &entries)?;
                Value::Object(map)
            }
        })
    }

    /// The value as a program in Go would have it, which errors show.
    fn go_syntax(&self) -> String {
        match self {
            Self::Scalar(Scalar::Null, _) => "interface {}(nil)".to_owned(),
            Self::Scalar(Scalar::Bool(it), _) => it.to_string(),
            Self::Scalar(Scalar::Int(it), _) => it.to_string(),
            Self::Scalar(Scalar::Uint(it), _) => format!("{it:#x}"),
            Self::Scalar(Scalar::Float(it), _) => number::plain(*it),
            Self::Scalar(_, text) => number::quote(text),
            Self::Merge => number::quote("<<"),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(Self::go_syntax).collect();
                format!("[]interface {{}}{{{}}}", items.join(", "))
            }
            Self::Map(entries) => {
                let entries = entries.iter();
                let entries = entries.map(|(key, it)| (key.go_syntax(), it.go_syntax()));
                let entries: BTreeMap<_, _> = entries.collect();
                let entries: Vec<_> = entries
                    .iter()
                    .map(|(key, it)| format!("{key}:{it}"))
                    .collect();
                format!(
                    "map[interface {{}}]interface {{}}{{{}}}",
                    entries.join(", ")
                )
            }
        }
    }

    /// The key, with its value for errors.
    fn key(&self, value: &Self) -> Result<String, String> {
        Ok(match self {
            Self::Scalar(Scalar::Bool(it), _) => it.to_string(),
            Self::Scalar(Scalar::Int(it), _) => it.to_string(),
            // Keys are written with the precision of 32 bits.
            Self::Scalar(Scalar::Float(it), _) => match number::float_32(*it as f32).as_str() {
                "+Inf" => ".inf".to_owned(),
                "-Inf" => "-.inf".to_owned(),
                "NaN" => ".nan".to_owned(),
                text => text.to_owned(),
            },
            Self::Scalar(Scalar::Null, _) => {
                let value = match value {
                    Self::Scalar(Scalar::Null, _) => "<nil>".to_owned(),
                    value => value.go_syntax(),
                };
                return Err(format!(
                    "unsupported map key of type: %!s(<nil>), key: <nil>, value: {value}"
                ));
            }
            Self::Scalar(Scalar::Uint(it), _) => {
                return Err(format!("unsupported map key of type: uint64, key: {it:#x}"));
            }
            Self::Scalar(_, text) => text.to_string(),
            Self::Merge => "<<".to_owned(),
            Self::List(_) | Self::Map(_) => {
                return Err(format!("yaml: invalid map key: {}", self.go_syntax()));
            }
        })
    }
}

/// Adds the entries of a mapping. What `<<` brings counts where it stands: it replaces what is above, and is replaced by what is below.
fn merge_into(map: &mut Map<String, Value>, entries: &[(Node, Node)]) -> Result<(), String> {
    for (key, value) in entries {
        match (key, value) {
            (Node::Merge, Node::Map(merged)) => merge_into(map, merged)?,
            (Node::Merge, Node::List(all)) => {
                // The first of several wins, so it comes last.
                for merged in all.iter().rev() {
                    let Node::Map(merged) = merged else {
                        return Err(NO_MAP.to_owned());
                    };
                    merge_into(map, merged)?;
                }
            }
            (Node::Merge, _) => return Err(NO_MAP.to_owned()),
            (key, value) => {
                map.insert(key.key(value)?, value.clone().into_json()?);
            }
        }
    }
    Ok(())
}

const NO_MAP: &str = "yaml: map merge requires map or sequence of maps as the value";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_become_json() {
        for (text, value) in [
            ("", json!(null)),
            (
                "a: yes\nb: 010\nc: '010'\n",
                json!({"a": true, "b": 8, "c": "010"}),
            ),
            (
                "1: a\ntrue: b\n1.5: c\n",
                json!({"1": "a", "true": "b", "1.5": "c"}),
            ),
            (
                "a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n",
                json!({"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}}),
            ),
            ("a: 1\na: 2\n", json!({"a": 2})),
            (
                "- !!str 1\n- !!float 2\n- 2024-01-02\n",
                json!(["1", 2.0, "2024-01-02"]),
            ),
        ] {
            assert_eq!(read(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn errors_have_gos_words() {
        for (text, error) in [
            (
                "a: b: c\n",
                "error converting YAML to JSON: yaml: mapping values are not allowed in this context",
            ),
            (
                "a:\n\tb\n",
                "error converting YAML to JSON: yaml: line 2: found character that cannot start any token",
            ),
            (
                "a: *x\n",
                "error converting YAML to JSON: yaml: unknown anchor 'x' referenced",
            ),
        ] {
            assert_eq!(read(text), Err(error.to_owned()), "{text}");
        }
    }
}
