//! Another kind's name in a user's source: as an identifier, as the module of its files, in its attribute and as a string.

mod origin;

use proc_macro2::{TokenStream, TokenTree};

use self::origin::Origins;
use super::{Error, TextEdit, attribute, parse};

/// What is called otherwise.
#[derive(Clone, Debug)]
pub struct Renamed {
    /// The kind, before and after.
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

/// The modules below which a kind has one of its own.
const PARENTS: [&str; 3] = ["api", "controllers", "webhooks"];

/// `text` with the new names, where a token says without doubt that the old one is meant.
///
/// Errors: it is no Rust, or something else has one of the new names already.
pub fn rename(text: &str, names: &Renamed) -> Result<String, Error> {
    let (tokens, start) = attribute::tokens(text)?;
    let file = parse(text)?;
    let origins = Origins::of(&file, &names.library);
    let mut edits = Vec::new();
    walk(
        tokens,
        &mut Vec::new(),
        (names, &origins),
        start,
        &mut edits,
    );
    // A comment that is documentation comes as a literal, too.
    edits.retain(|edit| !edit.text.starts_with('"') || text[edit.range.clone()].starts_with('"'));
    if let Ok(items) = attribute::items(text, &names.kind.0) {
        let plurals = items.iter().filter(|item| item.name == "plural");
        let old = plurals.filter(|item| item.text() == Some(&names.plural.0));
        for item in old {
            edits.extend(item.say(&names.plural.1)?);
        }
        let kind = items.iter().find(|item| item.name == "kind");
        let root = items.iter().any(|item| item.name == "root");
        if let Some(kind) = kind.filter(|_| !root && names.type_name.1 != names.kind.1) {
            // The kind's own string is replaced within it, so this is one edit behind it.
            let end = kind.range.end;
            let text = format!(", root = \"{}\"", names.type_name.1);
            edits.push(TextEdit {
                range: end..end,
                text,
            });
        }
    }
    let is_new = |name: &str| edits.iter().any(|edit| edit.text.trim_matches('"') == name);
    let mut own = origin::own_names(&file).filter(|_| names.type_name.0 != names.type_name.1);
    if let Some(taken) = own.find(|ident| is_new(&ident.to_string())) {
        let why = format!("`{taken}` is something else here already; give that another name");
        return Err(syn::Error::new(taken.span(), why).into());
    }
    edits.sort_by_key(|edit| edit.range.start);
    let renamed = edits
        .iter()
        .rev()
        .fold(text.to_owned(), |text, edit| edit.apply(&text));
    parse(&renamed)?;
    Ok(renamed)
}

/// `path` is what stands before the tokens, separated by `::`.
fn walk(
    tokens: TokenStream,
    path: &mut Vec<String>,
    (names, origins): (&Renamed, &Origins),
    start: usize,
    edits: &mut Vec<TextEdit>,
) {
    let outer = path.clone();
    let mut colons = 2;
    for token in tokens {
        let range = token.span().byte_range();
        let mut replace = |text: String| {
            edits.push(TextEdit {
                range: range.start + start..range.end + start,
                text,
            });
        };
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            TokenTree::Punct(punct) => {
                colons = 0;
                path.clear();
                if punct.as_char() == ',' {
                    (*path, colons) = (outer.clone(), 2);
                }
            }
            TokenTree::Ident(ident) => {
                let word = ident.to_string();
                if colons != 2 {
                    path.clear();
                }
                let is_module = word == names.module.0 && is_below(path);
                let new = match is_module {
                    true => Some(names.module.1.clone()),
                    false => names.type_of(&word),
                };
                if let Some(new) = new.filter(|_| origins.is_own(path, &word)) {
                    replace(new);
                }
                path.push(word);
                colons = 0;
            }
            TokenTree::Group(group) => {
                let mut inner = if colons == 2 {
                    path.clone()
                } else {
                    Vec::new()
                };
                walk(group.stream(), &mut inner, (names, origins), start, edits);
                path.clear();
                colons = 0;
            }
            TokenTree::Literal(literal) => {
                let literal = literal.to_string();
                if let Some(new) = names.literal(&literal) {
                    replace(format!("\"{new}\""));
                }
                path.clear();
                colons = 0;
            }
        }
    }
}

/// Whether a path of these words has modules of kinds in it.
fn is_below(path: &[String]) -> bool {
    let parent = path
        .iter()
        .position(|word| PARENTS.contains(&word.as_str()));
    parent.is_some_and(|at| at <= 1 && path.len() > at + 1)
}

impl Renamed {
    /// `MemcachedSpec` as it is called now.
    fn type_of(&self, word: &str) -> Option<String> {
        let rest = word.strip_prefix(&self.type_name.0)?;
        ["", "Spec", "Status"]
            .contains(&rest)
            .then(|| format!("{}{rest}", self.type_name.1))
    }

    /// A string that is the kind, its controller or one of its types.
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
