//! The items of the `#[kube(…)]` attributes of one type, and where in the text they are.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::{Fault, edit::Edit, tokens};

/// `plural = "memcacheds"`, `namespaced` or `printcolumn(…)`.
#[derive(Debug)]
pub struct Item {
    /// The first word.
    pub name: String,
    /// The string after `=`, if it is one.
    pub value: Option<Value>,
    /// Its bytes, without the comma.
    pub range: Range<usize>,
    /// Where the comma behind it ends, if there is one.
    pub comma: Option<usize>,
    /// Which of several attributes it is in.
    pub attribute: usize,
}

/// A string literal.
#[derive(Debug)]
pub struct Value {
    /// What it means.
    pub text: String,
    range: Range<usize>,
}

impl Value {
    /// Another string in its place.
    pub fn replace(&self, text: &str) -> Edit {
        Edit {
            range: self.range.clone(),
            text: format!("\"{text}\""),
        }
    }
}

/// The items for the type whose `kind` this is.
pub fn items(text: &str, kind: &str) -> Result<Vec<Item>, Fault> {
    // A byte order mark is no token.
    let source = text.trim_start_matches('\u{feff}');
    let start = text.len() - source.len();
    let tokens = tokens(source).map_err(|error| Fault::Unparsable(error.to_string()))?;
    let mut runs = Vec::new();
    collect(tokens, start, &mut runs);
    let is = |items: &Vec<Item>| {
        let value = |item: &Item| item.value.as_ref().is_some_and(|value| value.text == kind);
        items.iter().any(|item| item.name == "kind" && value(item))
    };
    runs.into_iter().find(is).ok_or(Fault::NoAttribute)
}

/// One list of items for every run of attributes, here and in modules.
fn collect(tokens: TokenStream, start: usize, runs: &mut Vec<Vec<Item>>) {
    let mut run = Vec::new();
    let mut attributes = 0;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match (token, tokens.peek()) {
            (TokenTree::Punct(hash), Some(TokenTree::Group(group)))
                if hash.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
            {
                if let Some(inner) = kube(group) {
                    split(inner, start, attributes, &mut run);
                    attributes += 1;
                }
                tokens.next();
            }
            (TokenTree::Group(group), _) if group.delimiter() == Delimiter::Brace => {
                runs.push(std::mem::take(&mut run));
                collect(group.stream(), start, runs);
            }
            _ => runs.push(std::mem::take(&mut run)),
        }
    }
}

/// What is between the parentheses of `[kube(…)]`.
fn kube(attribute: &Group) -> Option<TokenStream> {
    let mut tokens = attribute.stream().into_iter();
    match (tokens.next()?, tokens.next()?) {
        (TokenTree::Ident(name), TokenTree::Group(group)) if name == "kube" => Some(group.stream()),
        _ => None,
    }
}

/// Adds the items that commas separate.
fn split(tokens: TokenStream, start: usize, attribute: usize, items: &mut Vec<Item>) {
    let range = |token: &TokenTree| {
        let range = token.span().byte_range();
        range.start + start..range.end + start
    };
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
    let mut rest = tokens.as_slice();
    while let Some(first) = rest.first() {
        let end = rest.iter().position(is_comma).unwrap_or(rest.len());
        let (item, after) = rest.split_at(end);
        if let Some(last) = item.last() {
            let value = match item {
                [_, _, literal @ TokenTree::Literal(_)] => {
                    let text = syn::parse_str::<syn::LitStr>(&literal.to_string()).ok();
                    text.map(|text| Value {
                        text: text.value(),
                        range: range(literal),
                    })
                }
                _ => None,
            };
            items.push(Item {
                name: first.to_string(),
                value,
                range: range(first).start..range(last).end,
                comma: after.first().map(|comma| range(comma).end),
                attribute,
            });
        }
        rest = after.get(1..).unwrap_or_default();
    }
}
