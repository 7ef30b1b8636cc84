//! Renames a kind in a user's source: as an identifier, as the module of its files, in its attribute and as a string.

mod origin;

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};

use self::origin::Origins;
pub use self::origin::own_names;
use super::{Error, TextEdit, after_byte_order_mark, apply, attribute, parse, tokens};

/// The names of a kind, before and after.
#[derive(Clone, Debug)]
pub struct Renamed {
    /// The kind.
    pub kind: (String, String),
    /// Its Rust type.
    pub type_name: (String, String),
    /// The module of its files.
    pub module: (String, String),
    /// Its plural.
    pub plural: (String, String),
    /// Its default controller; empty if it has none.
    pub controller: (String, String),
    /// The project's library, which stays.
    pub library: String,
}

/// The modules below which each kind has one.
const PARENTS: [&str; 3] = ["api", "controllers", "webhooks"];

/// `text` with the new names, wherever a token certainly means an old one.
///
/// Errors: `text` is not Rust, or something else has one of the new names already.
pub fn rename(text: &str, names: &Renamed) -> Result<String, Error> {
    after_byte_order_mark(text, |code| apply(code, edits(code, names)?))
}

fn edits(text: &str, names: &Renamed) -> Result<Vec<TextEdit>, Error> {
    let tokens = tokens(text)?;
    let file = parse(text)?;
    let mut walk = Walk {
        names,
        origins: Origins::of(&file, &names.library),
        edits: Vec::new(),
    };
    walk.tokens(tokens, Vec::new());
    let mut edits = walk.edits;
    // A doc comment has a literal token, too.
    edits.retain(|edit| !edit.text.starts_with('"') || text[edit.range.clone()].starts_with('"'));
    if let Ok(items) = attribute::items(text, &names.kind.0) {
        let plurals = items.iter().filter(|item| item.name == "plural");
        let old = plurals.filter(|item| item.text() == Some(&names.plural.0));
        for item in old {
            edits.extend(item.set_literal(&names.plural.1)?);
        }
        let kind = items.iter().find(|item| item.name == "kind");
        let root = items.iter().any(|item| item.name == "root");
        if let Some(kind) = kind.filter(|_| !root && names.type_name.1 != names.kind.1) {
            // The string of the kind is an edit of its own, so this one starts after it.
            let end = kind.range.end;
            let text = format!(", root = \"{}\"", names.type_name.1);
            edits.push(TextEdit {
                range: end..end,
                text,
            });
        }
    }
    let is_new = |name: &str| edits.iter().any(|edit| edit.text.trim_matches('"') == name);
    let mut own = own_names(&file).filter(|_| names.type_name.0 != names.type_name.1);
    if let Some(taken) = own.find(|ident| is_new(&ident.to_string())) {
        let why = format!("`{taken}` is something else here already; give that another name");
        return Err(syn::Error::new(taken.span(), why).into());
    }
    Ok(edits)
}

/// Collects the edits of a text.
struct Walk<'a> {
    names: &'a Renamed,
    origins: Origins,
    edits: Vec<TextEdit>,
}

impl Walk<'_> {
    /// Walks the tokens behind the path `outer`, whose segments `::` separates.
    fn tokens(&mut self, tokens: TokenStream, outer: Vec<String>) {
        let (mut path, mut colons) = (outer.clone(), 2);
        for token in tokens {
            let range = token.span().byte_range();
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ',' => {
                    (path, colons) = (outer.clone(), 2);
                    continue;
                }
                TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    if colons != 2 {
                        path.clear();
                    }
                    let new = match word == self.names.module.0 && is_below(&path) {
                        true => Some(self.names.module.1.clone()),
                        false => self.names.type_of(&word),
                    };
                    let new = new.filter(|_| self.origins.is_own(&path, &word));
                    self.replace(range, new);
                    path.push(word);
                    colons = 0;
                    continue;
                }
                TokenTree::Group(group) => {
                    let inner = (colons == 2).then(|| path.clone());
                    self.tokens(group.stream(), inner.unwrap_or_default());
                }
                TokenTree::Literal(literal) => {
                    let new = self.names.literal(&literal.to_string());
                    self.replace(range, new.map(|new| format!("\"{new}\"")));
                }
                TokenTree::Punct(_) => {}
            }
            path.clear();
            colons = 0;
        }
    }

    fn replace(&mut self, range: Range<usize>, text: Option<String>) {
        self.edits.extend(text.map(|text| TextEdit { range, text }));
    }
}

/// Whether a path leads to the modules of kinds.
fn is_below(path: &[String]) -> bool {
    let parent = path
        .iter()
        .position(|word| PARENTS.contains(&word.as_str()));
    parent.is_some_and(|at| at <= 1 && path.len() > at + 1)
}

impl Renamed {
    /// The new name of `MemcachedSpec`.
    fn type_of(&self, word: &str) -> Option<String> {
        let rest = word.strip_prefix(&self.type_name.0)?;
        ["", "Spec", "Status"]
            .contains(&rest)
            .then(|| format!("{}{rest}", self.type_name.1))
    }

    /// The new text of a string that is the kind, its controller or one of its types.
    fn literal(&self, literal: &str) -> Option<String> {
        let text = literal.strip_prefix('"')?.strip_suffix('"')?;
        let doc = |kind: &str| format!("{kind} is a resource of ");
        if let Some(group) = text.strip_prefix(&doc(&self.kind.0)) {
            return Some(format!("{}{group}", doc(&self.kind.1)));
        }
        let words = [&self.kind, &self.controller];
        let same = words
            .into_iter()
            .find(|(old, _)| old == text && !old.is_empty());
        same.map(|(_, new)| new.clone())
            .or_else(|| self.type_of(text))
    }
}
