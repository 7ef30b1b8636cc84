//! The items of the `#[kube(…)]` attributes of a type, and their places in the text.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Lit;

use super::{Error, TextEdit};

/// `plural = "memcacheds"`, `namespaced` or `printcolumn(…)`.
#[derive(Debug)]
pub struct Item {
    /// The first word.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Its bytes, without the comma.
    pub range: Range<usize>,
    /// The end of the comma after it, if there is one.
    pub comma: Option<usize>,
    /// The number of its attribute, of those of one type.
    pub attribute: usize,
    /// Its first line, from 1.
    pub line: usize,
}

/// The value of an item.
#[derive(Debug)]
pub enum Value {
    /// No value: `namespaced`.
    Nothing,
    /// A literal string or boolean, and its bytes. To kube, `true` and `"true"` are the same.
    Literal(String, Range<usize>),
    /// An expression or a list, which only rustc can evaluate.
    Other,
}

impl Item {
    /// Its literal, if it has one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Literal(text, _) => Some(text),
            Value::Nothing | Value::Other => None,
        }
    }

    /// The edit that sets its literal to `text`; `None` if it has that already.
    ///
    /// Errors: it has no literal.
    pub fn set_literal(&self, text: &str) -> Result<Option<TextEdit>, Error> {
        match &self.value {
            Value::Literal(said, _) if said == text => Ok(None),
            Value::Literal(_, range) => Ok(Some(TextEdit {
                range: range.clone(),
                text: format!("\"{text}\""),
            })),
            Value::Nothing | Value::Other => Err(Error::NoAttribute),
        }
    }

    /// The edit that sets a flag.
    pub fn set(&self) -> TextEdit {
        TextEdit {
            range: self.range.clone(),
            text: self.name.clone(),
        }
    }

    /// Whether a flag is set; `None` where only rustc can evaluate that.
    pub fn is_set(&self) -> Option<bool> {
        match &self.value {
            Value::Nothing => Some(true),
            Value::Literal(text, _) => Some(text != "false"),
            Value::Other => None,
        }
    }
}

/// The items of each type that has a kind. No function here recurses, so a text may be nested to any depth.
pub fn all(text: &str) -> Result<Vec<Vec<Item>>, Error> {
    let mut runs = collect(text.parse().map_err(syn::Error::from)?);
    runs.retain(|items| kind_of(items).is_some());
    Ok(runs)
}

/// The items of the type of `kind`.
pub fn items(text: &str, kind: &str) -> Result<Vec<Item>, Error> {
    let is = |items: &Vec<Item>| kind_of(items) == Some(kind);
    all(text)?.into_iter().find(is).ok_or(Error::NoAttribute)
}

fn kind_of(items: &[Item]) -> Option<&str> {
    items.iter().find(|item| item.name == "kind")?.text()
}

/// A list of items for each type with attributes, in the file and in its modules.
fn collect(tokens: TokenStream) -> Vec<Vec<Item>> {
    let (mut runs, mut run) = (Vec::new(), Vec::new());
    let mut attributes = 0;
    let mut levels = vec![tokens.into_iter().peekable()];
    while let Some(tokens) = levels.last_mut() {
        let Some(token) = tokens.next() else {
            // No item follows the attributes.
            run.clear();
            levels.pop();
            continue;
        };
        match (token, tokens.peek()) {
            (TokenTree::Punct(hash), Some(TokenTree::Group(group)))
                if hash.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
            {
                if let Some(inner) = kube(group) {
                    split(inner, attributes, &mut run);
                    attributes += 1;
                }
                tokens.next();
                continue;
            }
            (TokenTree::Group(group), _) if group.delimiter() == Delimiter::Brace => {
                levels.push(group.stream().into_iter().peekable());
            }
            _ => {}
        }
        if !run.is_empty() {
            runs.push(std::mem::take(&mut run));
        }
    }
    runs
}

/// The tokens between the parentheses of `[kube(…)]`.
fn kube(attribute: &Group) -> Option<TokenStream> {
    let mut tokens = attribute.stream().into_iter();
    match (tokens.next()?, tokens.next()?) {
        (TokenTree::Ident(name), TokenTree::Group(group)) if name == "kube" => Some(group.stream()),
        _ => None,
    }
}

/// The text of a token; empty for a group, which is neither a name nor a literal.
fn text(token: &TokenTree) -> String {
    match token {
        TokenTree::Group(_) => String::new(),
        token => token.to_string(),
    }
}

/// Splits tokens at their commas into items.
fn split(tokens: TokenStream, attribute: usize, items: &mut Vec<Item>) {
    let range = |token: &TokenTree| token.span().byte_range();
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
    let mut rest = tokens.as_slice();
    while let Some(first) = rest.first() {
        let end = rest.iter().position(is_comma).unwrap_or(rest.len());
        let (item, after) = rest.split_at(end);
        if let Some(last) = item.last() {
            let value = match item {
                [_] => Value::Nothing,
                [_, _, literal] => match syn::parse_str(&text(literal)) {
                    Ok(Lit::Str(text)) => Value::Literal(text.value(), range(literal)),
                    Ok(Lit::Bool(word)) => Value::Literal(word.value.to_string(), range(literal)),
                    _ => Value::Other,
                },
                _ => Value::Other,
            };
            items.push(Item {
                name: text(first),
                value,
                range: range(first).start..range(last).end,
                comma: after.first().map(|comma| range(comma).end),
                attribute,
                line: first.span().start().line,
            });
        }
        rest = after.get(1..).unwrap_or_default();
    }
}
