//! What the value of an expression may be, as far as it is written in the files: literals, variables with literal values, lookups of
//! templates and files, and of conditions all branches.

use crate::{
    tokens::{Token, tokens},
    value::{Found, UNKNOWN},
    yaml::{Node, Value},
};

/// The most values of an expression.
pub const MOST: usize = 500;

/// The deepest nesting of parentheses, and of variables whose values are expressions.
pub const DEEPEST: usize = 12;

/// The filters that leave a value as it is, for what is looked for.
const KEEPING: &[&str] = &[
    "b64decode",
    "dict2items",
    "first",
    "flatten",
    "from_json",
    "from_yaml",
    "from_yaml_all",
    "indent",
    "items2dict",
    "last",
    "list",
    "mandatory",
    "safe",
    "sort",
    "string",
    "to_json",
    "to_nice_json",
    "to_nice_yaml",
    "to_yaml",
    "trim",
    "unique",
];

/// What the names and texts in an expression stand for, at a depth of expressions in each other.
pub trait Names {
    /// The values of a variable.
    fn variable(&self, name: &str, depth: usize) -> Vec<Found>;

    /// The values that a value may have: another one, if it is the text of a single expression.
    fn nodes_at(&self, node: &Node, depth: usize) -> Vec<Found>;
}

/// The values that an expression may have.
pub fn values(expression: &str, scope: &dyn Names, depth: usize) -> Vec<Found> {
    let tokens = tokens(expression);
    Parser::new(&tokens, scope, depth).whole()
}

/// The arguments of a call whose parenthesis comes first, up to that which closes it: the values of each, and the names of some.
pub fn arguments(tokens: &[Token], scope: &dyn Names) -> Vec<(Option<String>, Vec<Found>)> {
    Parser::new(tokens, scope, 0).arguments()
}

struct Parser<'a> {
    tokens: &'a [Token],
    scope: &'a dyn Names,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(tokens: &'a [Token], scope: &'a dyn Names, depth: usize) -> Self {
        Self {
            tokens,
            scope,
            depth,
        }
    }

    fn next(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn takes(&mut self, sign: char) -> bool {
        let is_next = self.tokens.first().is_some_and(|it| it.is(sign));
        if is_next {
            self.next();
        }
        is_next
    }

    fn takes_name(&mut self, name: &str) -> bool {
        let is_next = matches!(self.tokens.first(), Some(Token::Name(it)) if it == name);
        if is_next {
            self.next();
        }
        is_next
    }

    fn whole(mut self) -> Vec<Found> {
        let found = self.alternatives();
        match self.tokens.is_empty() {
            true => found,
            false => vec![Found::Unknown],
        }
    }

    /// `a if b else c`, and `a or b`: all branches.
    fn alternatives(&mut self) -> Vec<Found> {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.tokens = &[];
            return vec![Found::Unknown];
        }
        let mut found = self.joined();
        loop {
            if self.takes_name("or") {
                found.extend(self.joined());
            } else if self.takes_name("if") {
                self.joined();
                while self.is_comparison() {
                    self.next();
                    self.joined();
                }
                if self.takes_name("else") {
                    found.extend(self.alternatives());
                }
            } else if self.is_comparison() {
                self.next();
                self.joined();
                found = vec![Found::Unknown];
            } else {
                break;
            }
        }
        found.truncate(MOST);
        self.depth -= 1;
        found
    }

    /// Whether a sign or word follows that makes a truth value or a number.
    fn is_comparison(&self) -> bool {
        match self.tokens.first() {
            Some(Token::Sign(it)) => "=!<>*/%-".contains(*it),
            Some(Token::Name(it)) => {
                matches!(
                    &**it,
                    "and" | "in" | "is" | "not" | "or" | "defined" | "undefined"
                )
            }
            _ => false,
        }
    }

    fn joined(&mut self) -> Vec<Found> {
        let mut found = self.filtered();
        while self.takes('~') || self.takes('+') {
            let more = self.filtered();
            found = match (&found[..], &more[..]) {
                // Lists are joined, too.
                ([Found::Node(a)], [Found::Node(b)])
                    if matches!((&a.value, &b.value), (Value::List(_), Value::List(_))) =>
                {
                    let items = [a.items(), b.items()].concat();
                    vec![Found::Node(list(items))]
                }
                _ => texts_joined(&found, &more),
            };
        }
        found
    }

    fn filtered(&mut self) -> Vec<Found> {
        let mut found = self.part();
        while self.takes('|') {
            let Some(Token::Name(mut name)) = self.next().cloned() else {
                return vec![Found::Unknown];
            };
            while self.takes('.') {
                if let Some(Token::Name(more)) = self.next() {
                    name.clone_from(more);
                }
            }
            let arguments = match self.tokens.first() {
                Some(it) if it.is('(') => self.arguments(),
                _ => Vec::new(),
            };
            let all = |arguments: Vec<(Option<String>, Vec<Found>)>| {
                arguments.into_iter().flat_map(|it| it.1)
            };
            match &*name {
                "default" | "d" => {
                    let is_certain = found.iter().any(|it| *it != Found::Unknown);
                    if !is_certain {
                        found.clear();
                    }
                    let default = arguments.into_iter().take(1).flat_map(|it| it.1);
                    found.extend(default);
                }
                "ternary" => found = all(arguments).collect(),
                "dict2items" => found.iter_mut().for_each(into_items),
                "lower" => found
                    .iter_mut()
                    .for_each(|it| change(it, str::to_lowercase)),
                "upper" => found
                    .iter_mut()
                    .for_each(|it| change(it, str::to_uppercase)),
                // What it adds to an object is neither its kind nor its group.
                "combine" => {}
                name if KEEPING.contains(&name) => {}
                _ => found = vec![Found::Unknown],
            }
            found.truncate(MOST);
        }
        found
    }

    /// A value with its fields.
    fn part(&mut self) -> Vec<Found> {
        let mut found = self.atom();
        loop {
            let key = if self.takes('.') {
                match self.next() {
                    Some(Token::Name(name)) => vec![Found::text(name)],
                    _ => vec![Found::Unknown],
                }
            } else if self.takes('[') {
                let key = self.alternatives();
                while let Some(it) = self.next() {
                    if it.is(']') {
                        break;
                    }
                }
                key
            } else if self.tokens.first().is_some_and(|it| it.is('(')) {
                // A method.
                self.arguments();
                found = vec![Found::Unknown];
                continue;
            } else {
                return found;
            };
            let keys = key.iter().filter_map(Found::as_text);
            let keys: Vec<&str> = keys.collect();
            let fields = found.iter().flat_map(|it| field(it, &keys));
            // A field may be an expression.
            let fields = fields.flat_map(|it| match it {
                Found::Node(node) if self.depth < DEEPEST => {
                    self.scope.nodes_at(&node, self.depth + 1)
                }
                Found::Node(_) => vec![Found::Unknown],
                other => vec![other],
            });
            found = fields.take(MOST).collect();
            if found.is_empty() {
                found = vec![Found::Unknown];
            }
        }
    }

    fn atom(&mut self) -> Vec<Found> {
        let Some(first) = self.next() else {
            return vec![Found::Unknown];
        };
        match first {
            // Ansible takes expressions in the texts of expressions, too.
            Token::Text(text) if text.contains("{{") && self.depth < DEEPEST => {
                let text = Node::text_of(text);
                self.scope.nodes_at(&text, self.depth + 1)
            }
            Token::Text(text) => vec![Found::text(text)],
            Token::Sign('(') => {
                let found = self.alternatives();
                match self.takes(')') {
                    true => found,
                    false => vec![Found::Unknown],
                }
            }
            Token::Sign('[') => {
                let mut items = Vec::new();
                while !self.tokens.is_empty() && !self.takes(']') {
                    let before = self.tokens.len();
                    items.extend(self.alternatives().into_iter().map(Found::into_node));
                    if !self.takes(',') && self.tokens.len() == before {
                        self.next();
                    }
                }
                vec![Found::Node(list(items))]
            }
            Token::Sign('{') => {
                let mut entries = Vec::new();
                while !self.tokens.is_empty() && !self.takes('}') {
                    let before = self.tokens.len();
                    let key = self.alternatives();
                    if self.takes(':') {
                        let values = self.alternatives().into_iter().map(Found::into_node);
                        let key = key.first().and_then(Found::as_text).unwrap_or_default();
                        entries.extend(values.map(|value| (key.to_owned(), value)));
                    }
                    if !self.takes(',') && self.tokens.len() == before {
                        self.next();
                    }
                }
                let value = Value::Map(entries);
                vec![Found::Node(Node { line: 1, value })]
            }
            Token::Sign(_) => {
                self.joined_if_any();
                vec![Found::Unknown]
            }
            Token::Name(name) => self.name(name),
        }
    }

    /// What a sign stands before, such as `-`.
    fn joined_if_any(&mut self) {
        self.depth += 1;
        if self.depth < DEEPEST && !self.tokens.is_empty() {
            self.part();
        }
        self.depth -= 1;
    }

    fn name(&mut self, name: &str) -> Vec<Found> {
        match name {
            "not" => {
                self.joined_if_any();
                return vec![Found::Unknown];
            }
            "omit" => return Vec::new(),
            _ if name.starts_with(|it: char| it.is_ascii_digit()) => {
                return vec![Found::text(name)];
            }
            _ => {}
        }
        if !self.tokens.first().is_some_and(|it| it.is('(')) {
            return match name {
                "true" | "True" | "false" | "False" => vec![Found::text(name)],
                name => self.scope.variable(name, self.depth),
            };
        }
        let arguments = self.arguments();
        if !matches!(name, "lookup" | "query" | "q") {
            return vec![Found::Unknown];
        }
        let mut arguments = arguments.into_iter().filter(|it| it.0.is_none());
        let plugin = arguments.next().and_then(|it| it.1.into_iter().next());
        let plugin = plugin.as_ref().and_then(Found::as_text).unwrap_or_default();
        let plugin = plugin
            .strip_prefix("ansible.builtin.")
            .unwrap_or(plugin)
            .to_owned();
        let given: Vec<Found> = arguments.flat_map(|it| it.1).collect();
        let texts = || given.iter().map(|it| it.as_text().unwrap_or(UNKNOWN_TEXT));
        match &*plugin {
            "template" => texts().map(|it| Found::Template(it.to_owned())).collect(),
            "file" => texts().map(|it| Found::File(it.to_owned())).collect(),
            "vars" => {
                let found = texts().flat_map(|it| self.scope.variable(it, self.depth));
                found.collect()
            }
            "fileglob" => {
                let any = |it: &str| it.replace('*', UNKNOWN_TEXT);
                texts().map(|it| Found::text(&any(it))).collect()
            }
            "items" | "flattened" | "list" => given,
            _ => vec![Found::Unknown],
        }
    }

    /// The arguments of a call, from its parenthesis to the end.
    fn arguments(&mut self) -> Vec<(Option<String>, Vec<Found>)> {
        let mut all = Vec::new();
        if !self.takes('(') {
            return all;
        }
        while !self.tokens.is_empty() && !self.takes(')') {
            let before = self.tokens.len();
            let name = match self.tokens {
                [Token::Name(name), Token::Sign('='), next, ..] if !next.is('=') => {
                    self.tokens = &self.tokens[2..];
                    Some(name.clone())
                }
                _ => None,
            };
            all.push((name, self.alternatives()));
            if !self.takes(',') && self.tokens.len() == before {
                self.next();
            }
        }
        all
    }
}

/// [`UNKNOWN`] as a text.
pub const UNKNOWN_TEXT: &str = "\u{E002}";

fn list(items: Vec<Node>) -> Node {
    Node {
        line: 1,
        value: Value::List(items),
    }
}

fn texts_joined(before: &[Found], after: &[Found]) -> Vec<Found> {
    let text = |it: &Found| it.as_text().map_or(UNKNOWN.to_string(), str::to_owned);
    let joined = before
        .iter()
        .flat_map(|a| after.iter().map(move |b| text(a) + &text(b)));
    joined.take(MOST).map(|it| Found::text(&it)).collect()
}

fn change(found: &mut Found, by: fn(&str) -> String) {
    if let Found::Node(Node {
        value: Value::Text(text),
        ..
    }) = found
    {
        *text = by(text);
    }
}

/// A map as a list of maps with `key` and `value`.
fn into_items(found: &mut Found) {
    if let Found::Node(node) = found
        && let Value::Map(entries) = &node.value
    {
        let items = entries.iter().map(|(key, value)| Node {
            line: value.line,
            value: Value::Map(vec![
                ("key".to_owned(), Node::text_of(key)),
                ("value".to_owned(), value.clone()),
            ]),
        });
        *found = Found::Node(list(items.collect()));
    }
}

/// A field of a value, or an item of a list.
fn field(of: &Found, keys: &[&str]) -> Vec<Found> {
    let Found::Node(node) = of else {
        return vec![Found::Unknown];
    };
    match &node.value {
        Value::Map(_) => {
            let found = keys.iter().flat_map(|key| node.all(key));
            found.cloned().map(Found::Node).collect()
        }
        Value::List(items) if keys.iter().all(|it| is_index(it)) => {
            items.iter().cloned().map(Found::Node).collect()
        }
        _ => vec![Found::Unknown],
    }
}

/// Whether a key may be that of an item of a list.
fn is_index(key: &str) -> bool {
    key.contains(UNKNOWN) || key.parse::<usize>().is_ok()
}
