//! The variables with values that are written in the files, and the values that texts may have with them.

use std::{cell::Cell, collections::BTreeMap};

use crate::{
    expression::{self, DEEPEST, MOST, Names},
    jinja::{self, Piece},
    yaml::{Node, Value},
};

pub use crate::value::{Found, UNKNOWN};

/// How many values are kept of a variable.
const VALUES: usize = 500;

/// All values that are written for each variable.
#[derive(Clone, Debug, Default)]
pub struct Variables(BTreeMap<String, Vec<Node>>);

impl Variables {
    /// Adds the variables of a map.
    pub fn add_all(&mut self, map: &Node) {
        for (name, value) in map.entries() {
            self.add(name, value);
        }
    }

    /// Adds a value.
    pub fn add(&mut self, name: &str, value: &Node) {
        let values = self.0.entry(name.to_owned()).or_default();
        if values.len() < VALUES && !values.iter().any(|it| it.value == value.value) {
            values.push(value.clone());
        }
    }
}

/// What names mean at a place.
pub struct Scope<'a> {
    /// The variables of the role, and of all.
    outer: [&'a Variables; 2],
    /// Those of blocks, the task and its loop.
    inner: Vec<(String, Vec<Node>)>,
    /// How many variables may still be looked up: they may refer to each other many times.
    left: Cell<usize>,
}

impl<'a> Scope<'a> {
    /// The scope of a file.
    pub fn new(of_role: &'a Variables, of_all: &'a Variables) -> Self {
        Self {
            outer: [of_role, of_all],
            inner: Vec::new(),
            left: Cell::new(2_000),
        }
    }

    /// This scope with more variables.
    pub fn with(&self, more: impl IntoIterator<Item = (String, Vec<Node>)>) -> Self {
        let mut inner = self.inner.clone();
        inner.extend(more);
        Self {
            outer: self.outer,
            inner,
            left: Cell::new(2_000),
        }
    }

    /// The values that a value may have: another one, if it is the text of a single expression.
    pub fn nodes(&self, node: &Node) -> Vec<Found> {
        self.left.set(2_000);
        self.nodes_at(node, 0)
    }

    /// The texts that a value may have, with [`UNKNOWN`] for what is not known.
    pub fn texts(&self, node: &Node) -> Vec<String> {
        let found = self.nodes(node).into_iter();
        let text = |it: Found| it.as_text().map_or(UNKNOWN.to_string(), str::to_owned);
        let mut texts: Vec<String> = found.map(text).collect();
        texts.sort();
        texts.dedup();
        texts
    }

    fn texts_of(&self, pieces: &[Piece], depth: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        for piece in pieces {
            let parts: Vec<String> = match piece {
                Piece::Text(text) => vec![text.clone()],
                Piece::Statement(it, _) if it.is_empty() => continue,
                Piece::Statement(..) => vec![UNKNOWN.to_string()],
                Piece::Expression(it) => {
                    let found = expression::values(it, self, depth).into_iter();
                    let text = |it: Found| it.into_node().text().map(str::to_owned);
                    let mut parts: Vec<String> = found
                        .map(|it| text(it).unwrap_or(UNKNOWN.to_string()))
                        .collect();
                    parts.sort();
                    parts.dedup();
                    parts
                }
            };
            let joined = all
                .iter()
                .flat_map(|before| parts.iter().map(move |part| format!("{before}{part}")));
            all = joined.take(MOST).collect();
        }
        all
    }
}

impl Names for Scope<'_> {
    fn variable(&self, name: &str, depth: usize) -> Vec<Found> {
        let left = self.left.get();
        if depth >= DEEPEST || left == 0 {
            return vec![Found::Unknown];
        }
        self.left.set(left - 1);
        let inner = self.inner.iter().rev().find(|it| it.0 == name);
        let values = match inner {
            Some((_, values)) => values,
            None => match self.outer.iter().find_map(|it| it.0.get(name)) {
                Some(values) => values,
                None => return vec![Found::Unknown],
            },
        };
        let found = values.iter().flat_map(|it| self.nodes_at(it, depth + 1));
        found.take(MOST).collect()
    }

    fn nodes_at(&self, node: &Node, depth: usize) -> Vec<Found> {
        let Some(text) = node.text().filter(|it| it.contains('{')) else {
            return match node.value {
                Value::Hidden => vec![Found::Unknown],
                _ => vec![Found::Node(node.clone())],
            };
        };
        let pieces = jinja::with_branches(jinja::pieces(text), false);
        let is_blank = |it: &Piece| matches!(it, Piece::Text(text) if text.trim().is_empty());
        let mut solid = pieces.iter().filter(|it| !is_blank(it));
        if let (Some(Piece::Expression(it)), None) = (solid.next(), solid.next()) {
            let mut found = expression::values(it, self, depth);
            for it in &mut found {
                if let Found::Node(it) = it {
                    it.line = node.line;
                }
            }
            return found;
        }
        let texts = self.texts_of(&pieces, depth).into_iter();
        let text = |text: String| {
            Found::Node(Node {
                line: node.line,
                value: Value::Text(text),
            })
        };
        texts.map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    fn texts(variables: &str, text: &str) -> Vec<String> {
        let mut all = Variables::default();
        for node in yaml::documents(variables) {
            all.add_all(&node.unwrap());
        }
        let none = Variables::default();
        let scope = Scope::new(&all, &none);
        let show = |it: Found| match it {
            Found::Node(it) => match it.text() {
                Some(text) => text.replace(UNKNOWN, "?"),
                None => "…".to_owned(),
            },
            Found::Template(it) => format!("template {}", it.replace(UNKNOWN, "?")),
            Found::File(it) => format!("file {it}"),
            Found::Unknown => "?".to_owned(),
        };
        let found = scope.nodes(&Node::text_of(text));
        found.into_iter().map(show).collect()
    }

    #[test]
    fn what_is_written_is_found() {
        let variables =
            "a: A\nb: {c: [B, D], e: '{{ a }}'}\nloop: '{{ loop }}'\nall: [{kind: X}, {kind: Y}]";
        for (text, expected) in [
            ("{{ a }}", &["A"][..]),
            ("x-{{ a }}-{{ unknown }}", &["x-A-?"]),
            ("{{ b.c[0] }}", &["B", "D"]),
            ("{{ b['e'] }}", &["A"]),
            ("{{ loop }}", &["?"]),
            ("{{ unknown | default('E') }}", &["E"]),
            ("{{ a | default('E') }}", &["A", "E"]),
            ("{{ a if x == 'y' else 'F' }}", &["A", "F"]),
            ("{{ (x | bool) | ternary('G', 'H') }}", &["G", "H"]),
            ("{% if x %}I{% else %}J{% endif %}", &["I", "J"]),
            ("{{ all.kind }}", &["?"]),
            (
                "{{ lookup('template', 'x.j2') | from_yaml }}",
                &["template x.j2"],
            ),
            (
                "{{ lookup('ansible.builtin.template', a ~ '.j2') | from_yaml_all | list }}",
                &["template A.j2"],
            ),
            (
                "{{ lookup('file', role_path + '/x') }}",
                &["file \u{E002}/x"],
            ),
            (
                "{{ lookup('template', 'x/{{ a }}.j2') }}",
                &["template x/A.j2"],
            ),
            ("{{ x.split('.') }}", &["?"]),
            ("{{ a | some_filter }}", &["?"]),
            ("{{ 1 + }}", &["1?"]),
            ("{{ ((((((((((((((((1)))))))))))))))) }}", &["?"]),
            ("text", &["text"]),
        ] {
            assert_eq!(texts(variables, text), expected, "{text}");
        }
    }
}
