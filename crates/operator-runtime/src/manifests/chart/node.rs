//! YAML text in which some places are template expressions.

use serde_json::Value;

/// A part of an object, as it is written into a template.
#[derive(Clone, Debug)]
pub enum Node {
    /// One line, written as it is: a quoted scalar or an expression.
    Line(String),
    /// A text of several lines.
    Lines(String),
    /// A mapping or a list.
    Block(Vec<Part>),
}

/// An entry of a mapping or a list.
#[derive(Clone, Debug)]
pub enum Part {
    Field(String, Node),
    Item(Node),
    /// An action on a line of its own. `INDENT` in it becomes its indentation.
    Action(String),
}

impl Part {
    pub fn action(text: impl Into<String>) -> Self {
        Self::Action(text.into())
    }

    /// `key: expression`.
    pub fn line(key: &str, text: impl Into<String>) -> Self {
        Self::Field(key.to_owned(), Node::Line(text.into()))
    }

    /// `key:` with the lines below it.
    pub fn block(key: &str, parts: Vec<Self>) -> Self {
        Self::Field(key.to_owned(), Node::Block(parts))
    }

    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Field(key, _) => Some(key),
            _ => None,
        }
    }
}

impl Node {
    /// A value without template expressions.
    pub fn literal(value: &Value) -> Self {
        Self::of(value, &|_, _, text| escaped(&scalar(text)))
    }

    /// A value whose strings `line` writes: it gets the mapping around the string, the nearest key, and the string.
    pub fn of(value: &Value, line: &dyn Fn(&Value, &str, &str) -> String) -> Self {
        Self::within(&Value::Null, "", value, line)
    }

    fn within(
        parent: &Value,
        key: &str,
        value: &Value,
        line: &dyn Fn(&Value, &str, &str) -> String,
    ) -> Self {
        match value {
            Value::Object(map) if !map.is_empty() => {
                let field = |(key, child): (&String, &Value)| {
                    let node = Self::within(value, key, child, line);
                    Part::Field(escaped(&scalar(key)), node)
                };
                let mut parts: Vec<_> = map.iter().map(field).collect();
                parts.sort_by(|a, b| a.key().cmp(&b.key()));
                Self::Block(parts)
            }
            Value::Array(list) if !list.is_empty() => {
                let item = |child: &Value| Part::Item(Self::within(parent, key, child, line));
                Self::Block(list.iter().map(item).collect())
            }
            Value::String(text) if is_readable_over_lines(text) => {
                Self::Lines(line(parent, key, text))
            }
            Value::String(text) => Self::Line(line(parent, key, text)),
            other => Self::Line(other.to_string()),
        }
    }

    /// The entries; none of a scalar.
    pub fn parts(&mut self) -> &mut Vec<Part> {
        if !matches!(self, Self::Block(_)) {
            *self = Self::Block(Vec::new());
        }
        let Self::Block(parts) = self else {
            unreachable!("set above")
        };
        parts
    }

    /// The node at a path of keys.
    pub fn at(&mut self, path: &[&str]) -> Option<&mut Self> {
        let Some((first, rest)) = path.split_first() else {
            return Some(self);
        };
        let Self::Block(parts) = self else {
            return None;
        };
        let found = parts.iter_mut().find_map(|part| match part {
            Part::Field(key, node) if key == first => Some(node),
            _ => None,
        });
        found?.at(rest)
    }

    /// The mapping at a path of keys, which is created if necessary.
    pub fn mapping(&mut self, path: &[&str]) -> &mut Self {
        let Some((first, rest)) = path.split_first() else {
            return self;
        };
        if self.at(&[first]).is_none() {
            self.put(first, vec![Part::block(first, Vec::new())]);
        }
        self.at(&[first]).expect("it was just put").mapping(rest)
    }

    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Line(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a scalar field.
    pub fn line(&self, key: &str) -> Option<&str> {
        let Self::Block(parts) = self else {
            return None;
        };
        parts.iter().find_map(|part| match part {
            Part::Field(name, node) if name == key => node.text(),
            _ => None,
        })
    }

    /// Puts parts where the field `key` is or, in the order of keys, would be, and returns that field.
    pub fn put(&mut self, key: &str, new: Vec<Part>) -> Option<Part> {
        let parts = self.parts();
        let is = |part: &Part| part.key() == Some(key);
        if let Some(at) = parts.iter().position(is) {
            return parts.splice(at..=at, new).next();
        }
        // In the order of keys, but never inside of a conditional block.
        let mut depth = 0;
        let at = parts.iter().position(|part| {
            match part {
                Part::Action(text) if opens(text) => depth += 1,
                Part::Action(text) if text == END => depth -= 1,
                _ => {}
            }
            depth == 0 && part.key().is_some_and(|other| other > key)
        });
        let at = at.unwrap_or(parts.len());
        parts.splice(at..at, new);
        None
    }

    /// Puts each run of entries for which `is` holds under a condition; the whole field `key` if that is all of
    /// them.
    pub fn when(&mut self, key: &str, condition: &str, is: impl Fn(&Self) -> bool) {
        let Some(list) = self.at(&[key]) else { return };
        let parts = list.parts();
        let matches = |part: &Part| matches!(part, Part::Item(node) if is(node));
        if parts.iter().all(matches) {
            self.when_field(key, condition);
            return;
        }
        let mut out = Vec::new();
        let mut open = false;
        for part in parts.drain(..) {
            if matches(&part) != open {
                open = !open;
                out.push(Part::Action(if open {
                    format!("{{{{- if {condition} }}}}")
                } else {
                    END.to_owned()
                }));
            }
            out.push(part);
        }
        if open {
            out.push(Part::action(END));
        }
        *parts = out;
    }

    /// Puts a value of the chart, if it is set, in the place of a field.
    pub fn instead(&mut self, key: &str, value: &str) {
        let given = Part::block(key, vec![Part::action(VALUE)]);
        let mut parts = vec![Part::Action(format!("{{{{- with {value} }}}}")), given];
        if let Some(field) = self.put(key, Vec::new()) {
            parts.extend([Part::action("{{- else }}"), field]);
        }
        parts.push(Part::action(END));
        self.put(key, parts);
    }

    /// Puts a value of the chart, if it is set, in the place of a scalar field.
    pub fn instead_line(&mut self, key: &str, value: &str) {
        let parts = match self.line(key) {
            Some(text) => vec![Part::line(
                key,
                format!("{{{{ {value} | default {text:?} }}}}"),
            )],
            None => vec![
                Part::Action(format!("{{{{- with {value} }}}}")),
                Part::line(key, "{{ . | quote }}"),
                Part::action(END),
            ],
        };
        self.put(key, parts);
    }

    /// Adds parts to a list. A list of nothing but conditional parts has the condition of the first.
    pub fn extend_list(&mut self, key: &str, mut parts: Vec<Part>) {
        if let Some(list) = self.at(&[key]) {
            list.parts().extend(parts);
            return;
        }
        let end = parts.split_off(parts.len() - 1);
        let items = parts.split_off(1);
        parts.push(Part::block(key, items));
        parts.extend(end);
        self.put(key, parts);
    }

    /// Adds the entries of a value of the chart to the mapping or list `key`.
    pub fn add(&mut self, key: &str, value: &str) {
        let open = Part::Action(format!("{{{{- with {value} }}}}"));
        match self.at(&[key]) {
            Some(block) => block
                .parts()
                .extend([open, Part::action(VALUE), Part::action(END)]),
            None => {
                let field = Part::block(key, vec![Part::action(VALUE)]);
                self.put(key, vec![open, field, Part::action(END)]);
            }
        }
    }

    /// Adds the entries of a value of the chart to the list `key`, which may be under a condition as a whole.
    pub fn add_to_list(&mut self, key: &str, value: &str) {
        let parts = self.parts();
        let at = parts.iter().position(|part| part.key() == Some(key));
        if let Some(at) = at
            && let [.., Part::Action(open), Part::Field(_, list)] = &mut parts[..=at]
            && let Some(condition) = open.strip_prefix("{{- if ")
        {
            let condition = condition.trim_end_matches("}}").trim();
            let either = format!("{{{{- if or ({condition}) {value} }}}}");
            let open = std::mem::replace(open, either);
            list.parts().insert(0, Part::Action(open));
            list.parts().push(Part::action(END));
        }
        self.add(key, value);
    }

    /// Puts a field under a condition.
    pub fn when_field(&mut self, key: &str, condition: &str) {
        if let Some(field) = self.put(key, Vec::new()) {
            let open = format!("{{{{- if {condition} }}}}");
            self.put(key, vec![Part::Action(open), field, Part::action(END)]);
        }
    }

    /// Writes the entries of a mapping with this indentation.
    pub fn write(&self, indent: usize, out: &mut String) {
        let Self::Block(parts) = self else { return };
        for part in parts {
            part.write(indent, out);
        }
    }

    fn write_value(&self, indent: usize, out: &mut String) {
        match self {
            Self::Line(text) => {
                out.push(' ');
                out.push_str(text);
                out.push('\n');
            }
            Self::Lines(text) => {
                out.push_str(if text.ends_with('\n') {
                    " |\n"
                } else {
                    " |-\n"
                });
                for line in text.lines() {
                    if !line.is_empty() {
                        out.push_str(&" ".repeat(indent));
                        out.push_str(line);
                    }
                    out.push('\n');
                }
            }
            Self::Block(_) => {
                out.push('\n');
                self.write(indent, out);
            }
        }
    }
}

pub const END: &str = "{{- end }}";
const VALUE: &str = "{{- toYaml . | nindent INDENT }}";

/// Whether an action begins a block, which [`END`] ends.
fn opens(action: &str) -> bool {
    ["if ", "with ", "range "]
        .iter()
        .any(|word| action["{{- ".len()..].starts_with(word))
}

impl Part {
    fn write(&self, indent: usize, out: &mut String) {
        let spaces = " ".repeat(indent);
        match self {
            Self::Action(text) => {
                out.push_str(&spaces);
                out.push_str(&text.replace("INDENT", &indent.to_string()));
                out.push('\n');
            }
            Self::Field(key, node) => {
                out.push_str(&format!("{spaces}{key}:"));
                node.write_value(indent + 2, out);
            }
            Self::Item(node @ Node::Block(parts))
                if !matches!(parts.first(), Some(Self::Action(_))) =>
            {
                let mut block = String::new();
                node.write(indent + 2, &mut block);
                out.push_str(&format!("{spaces}- {}", block.trim_start()));
            }
            Self::Item(node) => {
                out.push_str(&format!("{spaces}-"));
                node.write_value(indent + 2, out);
            }
        }
    }
}

/// A string as a YAML scalar; without quotes and on several lines if [`is_readable_over_lines`].
pub fn scalar(text: &str) -> String {
    if is_readable_over_lines(text) {
        return text.to_owned();
    }
    match serde_saphyr::to_string(&text) {
        Ok(yaml) if !yaml.trim_end().contains('\n') => yaml.trim_end().to_owned(),
        // A JSON string is a YAML scalar.
        _ => Value::from(text).to_string(),
    }
}

/// Whether a block scalar holds the text unchanged.
fn is_readable_over_lines(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let printable = |c: char| c == '\n' || (!c.is_control() && c != '\u{feff}');
    body.contains('\n')
        && !body.starts_with([' ', '\n'])
        && !body.ends_with('\n')
        && body.chars().all(printable)
        && body
            .lines()
            .all(|line| line.is_empty() || !line.trim().is_empty())
}

/// Text that a template prints as it is.
pub fn escaped(text: &str) -> String {
    text.replace("{{", r#"{{ "{{" }}"#)
}
