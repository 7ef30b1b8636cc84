//! YAML as Ansible reads it, with the lines. All scalars are texts: whether `yes` is a boolean is of no interest here. Of a key that
//! stands twice, both values are kept, because a template without its conditions has the values of all branches.

use std::collections::HashMap;

use granit_parser::{Event, Options, Parser, ScalarStyle, StrInput};

/// The deepest nesting that is read, and the most nodes of a document, those of aliases included.
const DEEPEST: usize = 100;
const MOST: usize = 200_000;

/// A value with its line.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The line in its text, from 1.
    pub line: usize,
    /// The value.
    pub value: Value,
}

/// What stands in a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A scalar; null is empty.
    Text(String),
    List(Vec<Node>),
    /// In the order of the text.
    Map(Vec<(String, Node)>),
    /// What `!vault` hides.
    Hidden,
}

/// Why a document cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The message of the parser.
    pub what: String,
}

impl Node {
    /// A scalar.
    pub fn text_of(text: impl Into<String>) -> Self {
        Self {
            line: 1,
            value: Value::Text(text.into()),
        }
    }

    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list; none of anything else.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The entries of a map; none of anything else.
    pub fn entries(&self) -> &[(String, Self)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// All values of a key.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Self> {
        let entries = self.entries().iter();
        entries.filter(move |it| it.0 == key).map(|it| &it.1)
    }

    /// The value of a key: the last one, as in Ansible.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let mut entries = self.entries().iter().rev();
        entries.find(|it| it.0 == key).map(|it| &it.1)
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        match &self.value {
            Value::Text(text) => text.trim().is_empty(),
            Value::List(items) => items.is_empty(),
            Value::Map(entries) => entries.is_empty(),
            Value::Hidden => false,
        }
    }

    /// Changes all texts, and adds to all lines.
    pub fn map_texts(&mut self, lines: usize, change: &dyn Fn(&str) -> String) {
        self.line += lines;
        match &mut self.value {
            Value::Text(text) => *text = change(text),
            Value::List(items) => {
                let items = items.iter_mut();
                items.for_each(|it| it.map_texts(lines, change));
            }
            Value::Map(entries) => {
                for (key, value) in entries {
                    *key = change(key);
                    value.map_texts(lines, change);
                }
            }
            Value::Hidden => {}
        }
    }
}

/// Reads the documents of a text, each on its own: a fault hides one document.
pub fn documents(text: &str) -> Vec<Result<Node, Fault>> {
    let mut all = Vec::new();
    for (first, document) in split(text) {
        match document_of(document) {
            Ok(Some(mut node)) => {
                node.map_texts(first, &str::to_owned);
                all.push(Ok(node));
            }
            Ok(None) => {}
            Err(mut fault) => {
                fault.line += first;
                all.push(Err(fault));
            }
        }
    }
    all
}

/// The texts of the documents, each with the number of lines before it.
pub fn split(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let (mut start, mut at, mut first) = (0, 0, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let rest = line.strip_prefix("---");
        if rest.is_some_and(|rest| rest.starts_with(char::is_whitespace) || rest.is_empty()) {
            parts.push((first, &text[start..at]));
            // The line itself may begin the document.
            (start, first) = (at, number);
        }
        at += line.len();
    }
    parts.push((first, &text[start..]));
    parts
}

fn document_of(text: &str) -> Result<Option<Node>, Fault> {
    let mut options = Options::default();
    options.block_scalar_eof_without_line_feed = true;
    options.emit_unresolved_aliases = true;
    options.emit_comments = false;
    options.flow_nesting_limit = DEEPEST;
    options.block_nesting_limit = DEEPEST;
    let mut reader = Reader {
        parser: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        line: 1,
        nodes: 0,
    };
    loop {
        match reader.next()? {
            Event::StreamEnd => return Ok(None),
            Event::DocumentStart(..) => {
                let first = reader.next()?;
                let node = reader.node(first, 0)?;
                reader.next()?;
                return Ok(Some(node));
            }
            _ => {}
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, (Node, usize)>,
    line: usize,
    nodes: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Event<'a>, Fault> {
        match self.parser.next() {
            None => Ok(Event::StreamEnd),
            Some(Ok((event, span))) => {
                self.line = span.start.line();
                Ok(event)
            }
            Some(Err(error)) => Err(Fault {
                line: error.marker().line(),
                what: error.info().to_owned(),
            }),
        }
    }

    fn fault<T>(&self, what: &str) -> Result<T, Fault> {
        Err(Fault {
            line: self.line,
            what: what.to_owned(),
        })
    }

    fn node(&mut self, event: Event<'a>, depth: usize) -> Result<Node, Fault> {
        self.nodes += 1;
        if depth > DEEPEST || self.nodes > MOST {
            return self.fault("the document is too large");
        }
        let (line, before) = (self.line, self.nodes);
        let (anchor, value) = match event {
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchors.get(&anchor).cloned() else {
                    return self.fault("the value of an anchor contains itself");
                };
                self.nodes += size;
                return Ok(node);
            }
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| tag.to_string()).unwrap_or_default();
                let is_null = style == ScalarStyle::Plain && matches!(&*text, "~" | "null");
                let value = match () {
                    () if tag.ends_with("vault") || tag.ends_with("vault-encrypted") => {
                        Value::Hidden
                    }
                    () if is_null => Value::Text(String::new()),
                    () => Value::Text(text.into_owned()),
                };
                (anchor, value)
            }
            Event::SequenceStart(_, anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break,
                        event => items.push(self.node(event, depth + 1)?),
                    }
                }
                (anchor, Value::List(items))
            }
            Event::MappingStart(_, anchor, _) => (anchor, self.map(depth)?),
            Event::UnresolvedAlias(_) => return self.fault("an alias has no anchor"),
            _ => return self.fault("this is no value"),
        };
        let node = Node { line, value };
        if anchor > 0 {
            let size = self.nodes - before;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        Ok(node)
    }

    fn map(&mut self, depth: usize) -> Result<Value, Fault> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        let mut merged = Vec::new();
        loop {
            let key = match self.next()? {
                Event::MappingEnd => break,
                event => self.node(event, depth + 1)?,
            };
            let event = self.next()?;
            let value = self.node(event, depth + 1)?;
            match key.value {
                Value::Text(key) if key == "<<" => match value.value {
                    Value::List(items) => merged.extend(items),
                    _ => merged.push(value),
                },
                Value::Text(key) => entries.push((key, value)),
                // A list or a map as a key is no part of an object.
                _ => {}
            }
        }
        for node in merged {
            if let Value::Map(more) = node.value {
                for (key, value) in more {
                    if !entries.iter().any(|it| it.0 == key) {
                        entries.push((key, value));
                    }
                }
            }
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ansible_reads_is_read() {
        let text = "- name: a\n  x: !vault |\n    $ANSIBLE_VAULT;1.1\n  y: !unsafe '{{ z }}'\n  y: yes\n- &b {c: ~}\n- <<: *b\n  d: e\n";
        let document = documents(text).remove(0).unwrap();
        let [first, _, third] = document.items() else {
            panic!("{document:?}")
        };
        assert_eq!((first.line, third.line), (1, 7));
        assert_eq!(first.get("x").unwrap().value, Value::Hidden);
        let all: Vec<_> = first.all("y").map(|it| it.text().unwrap()).collect();
        assert_eq!(all, ["{{ z }}", "yes"]);
        assert_eq!(third.get("c").unwrap().text(), Some(""));
    }

    #[test]
    fn a_fault_hides_one_document() {
        let all = documents("---\na: [\n---\nb: c\n");
        let fault = all[0].as_ref().unwrap_err();
        assert!(fault.line >= 2, "{fault:?}");
        let node = all[1].as_ref().unwrap();
        assert_eq!(node.get("b").map(|it| it.line), Some(4));
    }

    #[test]
    fn aliases_do_not_grow_without_end() {
        let mut text = "- &a0 [x]\n".to_owned();
        for n in 0..60 {
            text += &format!("- &a{} [*a{n}, *a{n}]\n", n + 1);
        }
        assert!(documents(&text)[0].is_err());
    }
}
