//! Edits of a user's own Rust source. What is to change is found by its tokens and changed as text, so that comments and
//! layout stay as they are.
//!
//! Invariants: nothing changes but what the caller asks for; a text that no longer parses is never returned; on a thread with
//! [`STACK`] no text overflows it.

mod attribute;
mod convert;
mod depth;
mod edit;
mod fields;
mod rename;
#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream, TokenTree};
use std::ops::Range;

pub use self::attribute::Item;
pub use self::convert::{Below, Conversion, Members, Variant};
pub use self::depth::STACK;
pub use self::rename::{Renamed, rename};

/// One change of a text: a range of bytes, and its new text.
#[derive(Debug)]
pub struct TextEdit {
    /// The bytes that go.
    pub range: Range<usize>,
    /// What stands there instead.
    pub text: String,
}

impl TextEdit {
    /// The text after it.
    pub fn apply(&self, text: &str) -> String {
        [
            &text[..self.range.start],
            &self.text,
            &text[self.range.end..],
        ]
        .concat()
    }
}

/// What `#[kube(…)]` says of the CRD that several versions share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// `plural`.
    pub plural: String,
    /// `shortname`, once for each.
    pub short_names: Vec<String>,
    /// `namespaced`.
    pub namespaced: bool,
}

/// Why a text was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// It is no Rust, before or after.
    Unparsable {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What the parser found.
        why: String,
    },
    /// It has no `#[kube(…)]` with that kind, or not in one form that is known here.
    NoAttribute,
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

/// Parses a Rust file; the error says what is wrong, and where.
pub fn parse(text: &str) -> syn::Result<syn::File> {
    let shebang = |rest: &&str| !rest.trim_start().starts_with('[');
    let code = match text.strip_prefix("#!").filter(shebang) {
        Some(rest) => &rest[rest.find('\n').unwrap_or(rest.len())..],
        None => text,
    };
    tokens(code)?;
    syn::parse_file(text)
}

/// The tokens of a text that the parser may be given.
fn tokens(text: &str) -> syn::Result<TokenStream> {
    let tokens: TokenStream = text.parse()?;
    depth::check(tokens.clone()).map_err(|why| syn::Error::new(Span::call_site(), why))?;
    match conflict(text, tokens.clone()) {
        Some(at) => Err(syn::Error::new(at, "a merge conflict is not resolved")),
        None => Ok(tokens),
    }
}

/// Where a conflict marker is code: in an attribute or a macro, where any tokens may stand.
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

/// `text` with these names in the attribute of `kind`.
pub fn set_names(text: &str, kind: &str, names: &Names) -> Result<String, Error> {
    set(text, kind, |text, items| next_name(text, items, names))
}

/// What the attribute of `kind` says now.
pub fn names(text: &str, kind: &str) -> Result<Names, Error> {
    let items = attribute::items(text, kind)?;
    let all = |name: &'static str| items.iter().filter(move |item| item.name == name);
    let texts = |name| all(name).filter_map(Item::text).map(str::to_owned);
    Ok(Names {
        plural: texts("plural").next().unwrap_or_default(),
        short_names: texts("shortname").collect(),
        namespaced: all("namespaced").any(|item| item.is_set() == Some(true)),
    })
}

/// What the attribute of `kind` says, item by item, or that of the only type with a kind. Empty where there is neither: the
/// type came from a macro, or was moved elsewhere.
pub fn items(text: &str, kind: &str) -> Result<Vec<Item>, Error> {
    match attribute::items(text, kind) {
        Err(Error::NoAttribute) => {
            let mut all = attribute::all(text)?;
            Ok(all.pop().filter(|_| all.is_empty()).unwrap_or_default())
        }
        items => items,
    }
}

/// `text` with this version in the attribute of `kind`.
pub fn set_version(text: &str, kind: &str, version: &str) -> Result<String, Error> {
    set(text, kind, |_, items| {
        let item = items.iter().find(|item| item.name == "version");
        item.map_or(Err(Error::NoAttribute), |item| item.say(version))
    })
}

/// Edits until there is nothing more to edit.
fn set(
    text: &str,
    kind: &str,
    next: impl Fn(&str, &[Item]) -> Result<Option<TextEdit>, Error>,
) -> Result<String, Error> {
    let mut text = text.to_owned();
    while let Some(edit) = next(&text, &attribute::items(&text, kind)?)? {
        text = edit.apply(&text);
    }
    parse(&text)?;
    Ok(text)
}

/// The first difference between the items and the names, as an edit that is nearer to them.
fn next_name(text: &str, items: &[Item], names: &Names) -> Result<Option<TextEdit>, Error> {
    let after = |anchors: &[&str], new: String| {
        let is_anchor = |item: &Item| anchors.contains(&item.name.as_str());
        let anchor = items.iter().rposition(is_anchor);
        Ok(anchor.map(|at| edit::insert_after(text, &items[at], &new)))
    };
    match items.iter().find(|item| item.name == "plural") {
        None => return after(&["kind", "root"], format!("plural = \"{}\"", names.plural)),
        Some(plural) => {
            if let Some(edit) = plural.say(&names.plural)? {
                return Ok(Some(edit));
            }
        }
    }
    let at = |item: &&usize| items[**item].name == "shortname";
    let all: Vec<usize> = (0..items.len()).collect();
    let short: Vec<usize> = all.iter().filter(at).copied().collect();
    for (place, name) in names.short_names.iter().enumerate() {
        match short.get(place) {
            None => return after(&["plural", "shortname"], format!("shortname = \"{name}\"")),
            Some(at) => {
                if let Some(edit) = items[*at].say(name)? {
                    return Ok(Some(edit));
                }
            }
        }
    }
    if let Some(at) = short.get(names.short_names.len()) {
        return Ok(Some(edit::remove(text, items, *at)));
    }
    let Some(at) = items.iter().position(|item| item.name == "namespaced") else {
        let anchors = [
            "kind",
            "root",
            "plural",
            "singular",
            "shortname",
            "category",
        ];
        return match names.namespaced {
            true => after(&anchors, "namespaced".to_owned()),
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
