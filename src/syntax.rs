//! Edits of a user's own Rust source. What is to change is found by its tokens and changed as text, so that comments and
//! layout stay as they are.
//!
//! Invariants: nothing is changed but what was asked for; a text that no longer parses is never returned; on a thread with
//! [`STACK`] no text overflows it.

mod attribute;
mod convert;
mod depth;
mod edit;
mod fields;
mod rename;
#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};

use self::attribute::Item;
pub use self::convert::fill;
pub use self::depth::STACK;
use self::edit::Edit;
pub use self::rename::{Renamed, rename};

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
pub enum Fault {
    /// It is no Rust, before or after; the text says what the parser found.
    Unparsable(String),
    /// It has no `#[kube(…)]` with that kind, or not in one form that is known here.
    NoAttribute,
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
    Ok(tokens)
}

/// `text` with these names in the attribute of `kind`.
pub fn set_names(text: &str, kind: &str, names: &Names) -> Result<String, Fault> {
    set(text, kind, |text, items| next_name(text, items, names))
}

/// What the attribute of `kind` says now.
pub fn names(text: &str, kind: &str) -> Result<Names, Fault> {
    let items = attribute::items(text, kind)?;
    let values = |name: &str| {
        let of_name = items.iter().filter(move |item| item.name == name);
        of_name
            .filter_map(|item| Some(item.value.as_ref()?.text.clone()))
            .collect::<Vec<_>>()
    };
    Ok(Names {
        plural: values("plural").into_iter().next().unwrap_or_default(),
        short_names: values("shortname"),
        namespaced: items.iter().any(|item| item.name == "namespaced"),
    })
}

/// `text` with this version in the attribute of `kind`.
pub fn set_version(text: &str, kind: &str, version: &str) -> Result<String, Fault> {
    set(text, kind, |_, items| {
        let value = items
            .iter()
            .find(|item| item.name == "version")?
            .value
            .as_ref()?;
        (value.text != version).then(|| value.replace(version))
    })
}

/// Edits until there is nothing more to edit.
fn set(
    text: &str,
    kind: &str,
    next: impl Fn(&str, &[Item]) -> Option<Edit>,
) -> Result<String, Fault> {
    let mut text = text.to_owned();
    while let Some(edit) = next(&text, &attribute::items(&text, kind)?) {
        text = edit.apply(&text);
    }
    parse(&text).map_err(|error| Fault::Unparsable(error.to_string()))?;
    Ok(text)
}

/// The first difference between the items and the names, as an edit that is nearer to them.
fn next_name(text: &str, items: &[Item], names: &Names) -> Option<Edit> {
    let after = |anchors: &[&str], new: String| {
        let anchor = items
            .iter()
            .rposition(|item| anchors.contains(&item.name.as_str()))?;
        Some(edit::insert_after(text, &items[anchor], &new))
    };
    let plural = items.iter().find(|item| item.name == "plural");
    match plural.and_then(|item| item.value.as_ref()) {
        Some(value) if value.text != names.plural => return Some(value.replace(&names.plural)),
        Some(_) => {}
        None => return after(&["kind", "root"], format!("plural = \"{}\"", names.plural)),
    }
    let at = |item: &&usize| items[**item].name == "shortname";
    let all: Vec<usize> = (0..items.len()).collect();
    let short: Vec<usize> = all.iter().filter(at).copied().collect();
    for (place, name) in names.short_names.iter().enumerate() {
        match short.get(place).map(|at| &items[*at].value) {
            Some(Some(value)) if value.text == *name => {}
            Some(Some(value)) => return Some(value.replace(name)),
            Some(None) => return None,
            None => return after(&["plural", "shortname"], format!("shortname = \"{name}\"")),
        }
    }
    if let Some(at) = short.get(names.short_names.len()) {
        return Some(edit::remove(text, items, *at));
    }
    let namespaced = items.iter().position(|item| item.name == "namespaced");
    match (namespaced, names.namespaced) {
        (Some(at), false) => Some(edit::remove(text, items, at)),
        (None, true) => {
            let anchors = [
                "kind",
                "root",
                "plural",
                "singular",
                "shortname",
                "category",
            ];
            after(&anchors, "namespaced".to_owned())
        }
        _ => None,
    }
}
