//! Edits of a user's own Rust source. Tokens show where an edit goes, and only the text there changes: comments and layout stay.
//!
//! Invariants: an edit changes nothing else; a text that no longer parses is never returned; no text overflows a thread with a
//! stack of [`STACK`].

mod attribute;
mod convert;
mod depth;
mod edit;
mod fields;
mod insert;
mod paths;
mod rename;
#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream, TokenTree};
use std::ops::Range;

pub use self::attribute::Item;
pub use self::convert::{Below, Conversion, Members, Variant};
pub use self::depth::STACK;
pub use self::insert::{NewFields, add_fields, names_in};
pub use self::paths::{Path, paths};
pub use self::rename::{Renamed, rename};

/// Replaces a range of a text.
#[derive(Debug)]
pub struct TextEdit {
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// Their new text.
    pub text: String,
}

impl TextEdit {
    /// The text after the edit.
    pub fn apply(&self, text: &str) -> String {
        [
            &text[..self.range.start],
            &self.text,
            &text[self.range.end..],
        ]
        .concat()
    }
}

/// The fields of `#[kube(…)]` that all versions of a CRD share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// `plural`.
    pub plural: String,
    /// Every `shortname`.
    pub short_names: Vec<String>,
    /// `namespaced`.
    pub namespaced: bool,
}

/// The reason that a text cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The text is not Rust, before or after the edit.
    Unparsable {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The message of the parser.
        why: String,
    },
    /// The text has no `#[kube(…)]` with that kind, or its values are not literals.
    NoAttribute,
    /// The text has no struct of that name with named fields.
    NoStruct(String),
    /// The struct has the field already.
    FieldExists(String, String),
}

impl From<syn::Error> for Error {
    fn from(error: syn::Error) -> Self {
        let start = error.span().start();
        Self::Unparsable {
            line: start.line,
            column: start.column + 1,
            why: error.to_string(),
        }
    }
}

/// Parses a Rust file. The error has a message and a place.
pub fn parse(text: &str) -> syn::Result<syn::File> {
    let shebang = |rest: &&str| !rest.trim_start().starts_with('[');
    let code = match text.strip_prefix("#!").filter(shebang) {
        Some(rest) => &rest[rest.find('\n').unwrap_or(rest.len())..],
        None => text,
    };
    tokens(code)?;
    syn::parse_file(text)
}

/// The tokens of a text.
///
/// Errors: the parser may not be given this text, because it is nested too deep or has conflict markers.
fn tokens(text: &str) -> syn::Result<TokenStream> {
    let tokens: TokenStream = text.parse()?;
    depth::check(tokens.clone()).map_err(|why| syn::Error::new(Span::call_site(), why))?;
    match conflict(text, tokens.clone()) {
        Some(at) => Err(syn::Error::new(at, "a merge conflict is not resolved")),
        None => Ok(tokens),
    }
}

/// The place of a conflict marker in an attribute or a macro, where Rust accepts any tokens.
fn conflict(text: &str, tokens: TokenStream) -> Option<Span> {
    const MARKER: &str = "<<<<<<<";
    let lines: Vec<&str> = text.lines().collect();
    let starts = |line: usize| lines.get(line).is_some_and(|it| it.starts_with(MARKER));
    if !text.lines().any(|line| line.starts_with(MARKER)) {
        return None;
    }
    let mut rest = vec![tokens.into_iter()];
    while let Some(last) = rest.last_mut() {
        match last.next() {
            None => _ = rest.pop(),
            Some(TokenTree::Group(group)) => rest.push(group.stream().into_iter()),
            Some(TokenTree::Punct(punct)) if punct.as_char() == '<' => {
                let start = punct.span().start();
                if start.column == 0 && starts(start.line - 1) {
                    return Some(punct.span());
                }
            }
            Some(_) => {}
        }
    }
    None
}

/// Sets the names in the attribute of `kind`.
pub fn set_names(text: &str, kind: &str, names: &Names) -> Result<String, Error> {
    set(text, kind, |text, items| next_name(text, items, names))
}

/// The names in the attribute of `kind`.
pub fn names(text: &str, kind: &str) -> Result<Names, Error> {
    let items = attribute::items(without_mark(text), kind)?;
    let all = |name: &'static str| items.iter().filter(move |item| item.name == name);
    let texts = |name| all(name).filter_map(Item::text).map(str::to_owned);
    Ok(Names {
        plural: texts("plural").next().unwrap_or_default(),
        short_names: texts("shortname").collect(),
        namespaced: all("namespaced").any(|item| item.is_set() == Some(true)),
    })
}

/// The items in the attribute of `kind`, or in that of the only type with a kind. Empty where there is neither: a macro makes the
/// type, or the user moved it.
pub fn items(text: &str, kind: &str) -> Result<Vec<Item>, Error> {
    let text = without_mark(text);
    match attribute::items(text, kind) {
        Err(Error::NoAttribute) => {
            let mut all = attribute::all(text)?;
            Ok(all.pop().filter(|_| all.is_empty()).unwrap_or_default())
        }
        items => items,
    }
}

/// Sets the version in the attribute of `kind`.
pub fn set_version(text: &str, kind: &str, version: &str) -> Result<String, Error> {
    set(text, kind, |_, items| {
        let item = items.iter().find(|item| item.name == "version");
        item.map_or(Err(Error::NoAttribute), |item| item.set_literal(version))
    })
}

/// Applies the edits that `next` returns, one after the other, until there is none.
fn set(
    text: &str,
    kind: &str,
    next: impl Fn(&str, &[Item]) -> Result<Option<TextEdit>, Error>,
) -> Result<String, Error> {
    after_byte_order_mark(text, |code| {
        let mut code = code.to_owned();
        while let Some(edit) = next(&code, &attribute::items(&code, kind)?)? {
            code = edit.apply(&code);
        }
        parse(&code)?;
        Ok(code)
    })
}

/// Edits the code of a text behind its byte order mark, which is no token.
fn after_byte_order_mark(
    text: &str,
    edit: impl FnOnce(&str) -> Result<String, Error>,
) -> Result<String, Error> {
    let code = without_mark(text);
    let mark = &text[..text.len() - code.len()];
    Ok(format!("{mark}{}", edit(code)?))
}

fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// Applies edits that do not overlap.
///
/// Errors: the text is no longer Rust.
fn apply(code: &str, mut edits: Vec<TextEdit>) -> Result<String, Error> {
    edits.sort_by_key(|edit| edit.range.start);
    let last_first = edits.iter().rev();
    let edited = last_first.fold(code.to_owned(), |code, edit| edit.apply(&code));
    parse(&edited)?;
    Ok(edited)
}

/// The items before `namespaced`. The first two are before `plural`, and the next two before another `shortname`.
const ORDER: [&str; 6] = [
    "kind",
    "root",
    "plural",
    "shortname",
    "singular",
    "category",
];

/// The first edit that brings the items nearer to the names; `None` where they agree.
fn next_name(text: &str, items: &[Item], names: &Names) -> Result<Option<TextEdit>, Error> {
    let add = |before: &[&str], new: String| {
        let is_before = |item: &&Item| before.contains(&item.name.as_str());
        let last = items.iter().rfind(is_before);
        Ok(last.map(|item| edit::insert_after(text, item, &new)))
    };
    let at = |name: &str, nth: usize| {
        let all = items.iter().enumerate().filter(|(_, it)| it.name == name);
        all.map(|(at, _)| at).nth(nth)
    };
    let short_names = names.short_names.iter().enumerate();
    let short_names = short_names.map(|(nth, name)| ("shortname", nth, name, &ORDER[2..4]));
    let plural = ("plural", 0, &names.plural, &ORDER[..2]);
    for (name, nth, value, before) in [plural].into_iter().chain(short_names) {
        let Some(at) = at(name, nth) else {
            return add(before, format!("{name} = \"{value}\""));
        };
        if let Some(edit) = items[at].set_literal(value)? {
            return Ok(Some(edit));
        }
    }
    if let Some(more) = at("shortname", names.short_names.len()) {
        return Ok(Some(edit::remove(text, items, more)));
    }
    let Some(at) = at("namespaced", 0) else {
        return match names.namespaced {
            true => add(&ORDER, "namespaced".to_owned()),
            false => Ok(None),
        };
    };
    match (items[at].is_set(), names.namespaced) {
        (None, _) => Err(Error::NoAttribute),
        (Some(false), true) => Ok(Some(items[at].set())),
        (Some(true), false) => Ok(Some(edit::remove(text, items, at))),
        _ => Ok(None),
    }
}
