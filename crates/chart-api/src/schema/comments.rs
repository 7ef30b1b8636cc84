//! What the comments of `values.yaml` say of its fields.

use serde_json::{Value as Json, json};

/// The characters of a description.
const MOST_OF_TEXT: usize = 300;

/// Adds the comments above the keys of a `values.yaml` to a schema, where it has no descriptions.
///
/// Read are plain comments, those of helm-docs (`# -- text`), and those of Bitnami (`## @param path text`). Lists and texts of
/// several lines are passed over, and so is YAML in comments.
pub(super) fn describe(schema: &mut Json, values: &str) {
    let mut keys: Vec<(usize, String)> = Vec::new();
    let mut comment = Comment::default();
    // The indent of a list or a text, of which deeper lines are a part.
    let mut passed = None;
    for line in values.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if text.is_empty() {
            comment = Comment::default();
            continue;
        }
        if passed.is_some_and(|it| indent > it) {
            continue;
        }
        passed = None;
        if let Some(said) = text.strip_prefix('#') {
            match parameter(said) {
                Some((path, said)) => {
                    let path: Vec<&str> = path.split('.').collect();
                    add(schema, &path, said);
                }
                None => comment.add(indent, said),
            }
            continue;
        }
        let comment = std::mem::take(&mut comment);
        let Some((key, value)) = key(text) else {
            // An item of a list, which may be as deep as the key of the list.
            passed = text.starts_with('-').then_some(indent);
            continue;
        };
        keys.retain(|(it, _)| *it < indent);
        keys.push((indent, key.to_owned()));
        if value.starts_with(['|', '>']) {
            passed = Some(indent);
        }
        if comment.indent == indent {
            let path: Vec<&str> = keys.iter().map(|(_, key)| key.as_str()).collect();
            add(schema, &path, &comment.text());
        }
    }
}

/// The lines of a comment.
#[derive(Default)]
struct Comment<'a> {
    indent: usize,
    lines: Vec<&'a str>,
}

impl<'a> Comment<'a> {
    fn add(&mut self, indent: usize, line: &'a str) {
        let line = line.trim_start_matches('#').trim();
        let line = match line.strip_prefix("-- ") {
            Some(line) => {
                self.lines.clear();
                line
            }
            None => line,
        };
        self.indent = indent;
        if !is_yaml(line) && !line.starts_with('@') && line.contains(char::is_alphanumeric) {
            self.lines.push(line);
        }
    }

    fn text(&self) -> String {
        self.lines.join(" ")
    }
}

/// The key and the value of a line such as `key: value`.
fn key(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let key = key.trim_matches(['"', '\'']);
    let is_key = !key.is_empty() && !key.contains([' ', '#', '{', '[', '"', '\'']);
    let is_value = value.is_empty() || value.starts_with(' ');
    (is_key && is_value && !key.starts_with('-')).then_some((key, value.trim()))
}

/// Whether a line of a comment is YAML that is switched off.
fn is_yaml(line: &str) -> bool {
    let is_item = line.starts_with("- ") || line.starts_with(['{', '[', '}', ']']);
    is_item || key(line).is_some_and(|(key, _)| key.starts_with(char::is_lowercase))
}

/// The path and the text of `@param path [modifiers] text`.
fn parameter(comment: &str) -> Option<(&str, &str)> {
    let said = comment
        .trim_start_matches('#')
        .trim()
        .strip_prefix("@param ")?;
    let (path, said) = said.trim_start().split_once(' ')?;
    let said = said.trim_start();
    let said = match said.strip_prefix('[').and_then(|it| it.split_once(']')) {
        Some((_, said)) => said.trim_start(),
        None => said,
    };
    Some((path, said))
}

fn add(schema: &mut Json, path: &[&str], text: &str) {
    let field = path.iter().try_fold(schema, |schema, name| {
        schema.get_mut("properties")?.get_mut(*name)
    });
    if let Some(Json::Object(field)) = field
        && !text.is_empty()
    {
        let text: String = text.chars().take(MOST_OF_TEXT).collect();
        field.entry("description").or_insert(json!(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments() {
        let field = |fields: Json| json!({"properties": fields});
        let mut schema = field(json!({
            "a": {}, "b": {"properties": {"c": {}, "d": {}}}, "e": {}, "f": {}, "g": {"description": "known"}, "h": {}, "i": {},
        }));
        let values = "# Not of a

# The first
# of all.
a: 1
# -- An object
b:
  # old
  # -- The c
  # and more
  # @default -- none
  c: |
    # no comment
    d: no key
  ## @param e [string] Of e
  #
  # d: 4
  d: 3
e:
# An item
- f: 1
  # Not of f
  f: 2
f: 1
# No
g: 1
#h: 2
h: 3
# Deeper
i: {}
";
        describe(&mut schema, values);
        let said = |text: &str| json!({ "description": text });
        let b = json!({"description": "An object", "properties": {"c": said("The c and more"), "d": {}}});
        let all = json!({
            "a": said("The first of all."), "b": b, "e": said("Of e"), "f": {}, "g": said("known"), "h": {}, "i": said("Deeper"),
        });
        assert_eq!(schema, field(all));
    }
}
