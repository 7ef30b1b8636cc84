//! The objects in the text of a template, over all branches: statements are left out, and expressions stand for values.

use crate::{
    jinja::{self, Piece},
    yaml::{self, Fault, Node, Value},
};

const OPEN: char = '\u{E000}';
const CLOSE: char = '\u{E001}';

/// What a text contains.
pub struct Contents {
    /// The documents, with expressions in their texts again.
    pub documents: Vec<Result<Node, Unread>>,
    /// The names of the templates that it includes, as expressions.
    pub included: Vec<String>,
}

/// A document that is no YAML without its Jinja: what its lines say of its kinds.
pub struct Unread {
    /// Why.
    pub fault: Fault,
    /// A map with the `apiVersion` and `kind` of the lines that are not indented.
    pub lines: Node,
}

/// Reads a text, which may have Jinja in it.
pub fn read(text: &str) -> Contents {
    let pieces = jinja::with_branches(jinja::pieces(text), true);
    let mut plain = String::new();
    let mut expressions = Vec::new();
    let mut included = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => plain += &text,
            Piece::Expression(it) => {
                plain.push(OPEN);
                plain += &expressions.len().to_string();
                plain.push(CLOSE);
                expressions.push(it);
            }
            Piece::Statement(it, lines) => {
                if let Some(name) = it.strip_prefix("include ") {
                    let end = [" ignore ", " with ", " without "].iter();
                    let end = end.filter_map(|word| name.find(word)).min();
                    included.push(name[..end.unwrap_or(name.len())].to_owned());
                }
                // What stands before and after it on a line are lines of different branches.
                let line = plain.rsplit('\n').next().unwrap_or_default();
                let indent: String = line.chars().take_while(|it| *it == ' ').collect();
                match lines {
                    0 if !line.trim().is_empty() => {
                        plain.push('\n');
                        plain += &indent;
                    }
                    lines => plain += &"\n".repeat(lines),
                }
            }
        }
    }
    let restore = |text: &str| restored(text, &expressions);
    let mut documents = Vec::new();
    for (first, document) in yaml::split(&plain) {
        let is_expression = |line: &str| line.starts_with(OPEN) && line.ends_with(CLOSE);
        let mut lines = document.lines().map(str::trim);
        let is_whole = lines
            .by_ref()
            .filter(|it| !it.is_empty() && !it.starts_with("---") && !it.starts_with('#'))
            .all(is_expression);
        // A line that is one expression may have any indent.
        let kept = document.split('\n').map(|line| {
            let is_left_out = !is_whole && is_expression(line.trim());
            if is_left_out { "" } else { line }
        });
        let kept: Vec<&str> = kept.collect();
        let kept = kept.join("\n");
        for read in yaml::documents(&kept) {
            documents.push(match read {
                Ok(mut node) => {
                    node.map_texts(first, &restore);
                    Ok(node)
                }
                Err(mut fault) => {
                    fault.line += first;
                    Err(Unread {
                        lines: by_lines(&kept, first, &restore),
                        fault,
                    })
                }
            });
        }
    }
    Contents {
        documents,
        included,
    }
}

/// The text with expressions in the places of their numbers.
fn restored(text: &str, expressions: &[String]) -> String {
    let mut parts = text.split(OPEN);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let number = part.split_once(CLOSE);
        let found =
            number.and_then(|(it, rest)| Some((expressions.get(it.parse::<usize>().ok()?)?, rest)));
        match found {
            Some((expression, rest)) => {
                whole += "{{ ";
                whole += expression;
                whole += " }}";
                whole += rest;
            }
            None => whole += part,
        }
    }
    whole
}

fn by_lines(text: &str, first: usize, restore: &dyn Fn(&str) -> String) -> Node {
    let mut entries = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for key in ["apiVersion", "kind"] {
            let value = line.strip_prefix(key).and_then(|it| it.strip_prefix(':'));
            let Some(value) = value else { continue };
            let value = value.split(" #").next().unwrap_or_default();
            let value = value.trim().trim_matches(['"', '\'']);
            let node = Node {
                line: first + number + 1,
                value: Value::Text(restore(value)),
            };
            entries.push((key.to_owned(), node));
        }
    }
    Node {
        line: first + 1,
        value: Value::Map(entries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds of the documents; `!` before those that are no YAML.
    fn kinds(text: &str) -> Vec<String> {
        let contents = read(text);
        let kinds = |node: &Node| {
            let all = node.all("kind").filter_map(Node::text);
            all.collect::<Vec<_>>().join(" ")
        };
        let documents = contents.documents.iter().map(|it| match it {
            Ok(node) => kinds(node),
            Err(unread) => format!("!{}", kinds(&unread.lines)),
        });
        documents.collect()
    }

    #[test]
    fn branches_are_all_there() {
        for (text, expected) in [
            (
                "{% if a %}\nkind: A\n{% else %}\nkind: B\n{% endif %}\nmetadata:\n  name: {{ b }}\n",
                &["A B"][..],
            ),
            (
                "---\nkind: A\nspec:\n{{ b | to_yaml | indent(2) }}\n---\n{% for x in y %}\nkind: {{ c }}\n{% endfor %}",
                &["A", "{{ c }}"],
            ),
            (
                "{% if a %}kind: A{% else %}kind: B{% endif %}\nx: {% if a %}1{% else %}2{% endif %}\n",
                &["A B"],
            ),
            (
                "kind: A\nimage: {{ a }}:{{ b }}\n{{ c }}: {{ d }}\n",
                &["A"],
            ),
            ("kind: A\n x: [\n", &["!A"]),
            ("{{ a }}\n", &[""]),
        ] {
            assert_eq!(kinds(text), expected, "{text}");
        }
    }

    #[test]
    fn expressions_are_texts_again() {
        let contents = read("a: x-{{ b['c'] }}-{{ d }}\ne: {{ f }}\n");
        let Ok(node) = &contents.documents[0] else {
            panic!()
        };
        assert_eq!(
            node.get("a").unwrap().text(),
            Some("x-{{ b['c'] }}-{{ d }}")
        );
        assert_eq!(node.get("e").unwrap().text(), Some("{{ f }}"));
    }

    #[test]
    fn what_it_includes() {
        let contents = read("{% include 'a.j2' with context %}{% include b %}");
        assert_eq!(contents.included, ["'a.j2'", "b"]);
    }
}
