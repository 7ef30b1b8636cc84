//! Adds fields to the structs of a user's source, with what they need.

use std::{collections::BTreeSet, ops::Range};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Expr, Fields, ImplItem, Item, ItemImpl, ItemStruct, Path, Stmt, Token, Type,
    Visibility, punctuated::Punctuated,
};

use super::{Error, TextEdit, after_byte_order_mark, apply, parse, rename::own_names, tokens};

/// Fields for a struct, as source.
#[derive(Clone, Debug, Default)]
pub struct NewFields {
    /// The struct.
    pub name: String,
    /// The lines of the fields.
    pub fields: String,
    /// Their identifiers, and their values in an implementation of `Default`.
    pub values: Vec<(String, String)>,
    /// Whether these values are those of their types.
    pub derives_default: bool,
    /// The lines of attributes for the struct.
    pub attributes: String,
    /// What the fields import, by module and name.
    pub imports: Vec<(String, String)>,
    /// Types and functions for the fields.
    pub others: String,
}

/// The names that a file defines or imports.
///
/// Errors: `text` is not Rust.
pub fn names_in(text: &str) -> Result<BTreeSet<String>, Error> {
    let file = parse(text)?;
    let functions = file.items.iter().filter_map(|item| match item {
        Item::Fn(it) => Some(&it.sig.ident),
        _ => None,
    });
    let names = own_names(&file).chain(functions);
    Ok(names.map(ToString::to_string).collect())
}

/// `text` with more fields at the end of a struct.
///
/// Errors: `text` is not Rust, or has no such struct with named fields, or the struct has one of the fields.
pub fn add_fields(text: &str, new: &NewFields) -> Result<String, Error> {
    after_byte_order_mark(text, |code| apply(code, edits(code, new)?))
}

fn edits(text: &str, new: &NewFields) -> Result<Vec<TextEdit>, Error> {
    let file = parse(text)?;
    let source = Source {
        text,
        tokens: tokens(text)?,
    };
    let is = |item: &&ItemStruct| item.ident == new.name;
    let mut structs = file.items.iter().filter_map(|item| match item {
        Item::Struct(item) => Some(item),
        _ => None,
    });
    let found = structs
        .find(is)
        .ok_or_else(|| Error::NoStruct(new.name.clone()))?;
    let Fields::Named(fields) = &found.fields else {
        return Err(Error::NoStruct(new.name.clone()));
    };
    let idents = fields.named.iter().filter_map(|field| field.ident.as_ref());
    let idents: Vec<String> = idents.map(ToString::to_string).collect();
    if let Some((ident, _)) = new.values.iter().find(|(ident, _)| idents.contains(ident)) {
        return Err(Error::FieldExists(new.name.clone(), ident.clone()));
    }
    let mut edits = Vec::new();
    let brace = fields.brace_token.span.close().byte_range().start;
    edits.push(source.lines_before(brace, &new.fields, ""));
    if !new.attributes.is_empty() {
        let at = match &found.vis {
            Visibility::Public(token) => token.span,
            Visibility::Restricted(restricted) => restricted.pub_token.span,
            Visibility::Inherited => found.struct_token.span,
        };
        edits.push(insert(at.byte_range().start, new.attributes.clone()));
    }
    let others = edits_of_default(&source, &file.items, found, &idents, new, &mut edits);
    let names = names_in(text)?;
    for (module, name) in new.imports.iter().filter(|(_, name)| !names.contains(name)) {
        edits.push(import(text, &file.items, module, name));
    }
    let tests = file.items.iter().find_map(test_module);
    let end = tests.map_or(text.len(), |attribute| {
        attribute.pound_token.span.byte_range().start
    });
    let end = text[..end].trim_end().len();
    edits.push(insert(
        end,
        format!("\n{}{}", others, new.others).trim_end().to_owned(),
    ));
    Ok(edits)
}

struct Source<'a> {
    text: &'a str,
    tokens: TokenStream,
}

impl Source<'_> {
    /// Lines before the closing brace at `brace`, behind a comma.
    fn lines_before(&self, brace: usize, lines: &str, indent: &str) -> TextEdit {
        let last = self.last_before(brace);
        let comma = match &last {
            Some(TokenTree::Punct(last)) if last.as_char() == ',' => "",
            Some(_) => ",",
            None => "",
        };
        let end = last.map(|last| last.span().byte_range().end);
        let end = end.unwrap_or(self.text[..brace].trim_end().len());
        // Comments stand between the last token and the brace.
        let rest = &self.text[end..brace];
        let text = match rest.rfind('\n') {
            Some(line) => format!("{comma}{}{lines}{}", &rest[..=line], &rest[line + 1..]),
            None => format!("{comma}{}\n{lines}{indent}", rest.trim_end()),
        };
        TextEdit {
            range: end..brace,
            text,
        }
    }

    /// The last token in the braces that close at `brace`.
    fn last_before(&self, brace: usize) -> Option<TokenTree> {
        let mut next = vec![self.tokens.clone()];
        while let Some(tokens) = next.pop() {
            for token in tokens {
                let TokenTree::Group(group) = token else {
                    continue;
                };
                if group.span_close().byte_range().start == brace {
                    return group.stream().into_iter().last();
                }
                next.push(group.stream());
            }
        }
        None
    }
}

fn insert(at: usize, text: String) -> TextEdit {
    TextEdit {
        range: at..at,
        text,
    }
}

/// Keeps `Default` right: its implementation gets the values; a derived one whose values would be others is written out. Returns
/// the implementation to add.
fn edits_of_default(
    source: &Source<'_>,
    items: &[Item],
    found: &ItemStruct,
    idents: &[String],
    new: &NewFields,
    edits: &mut Vec<TextEdit>,
) -> String {
    let implementation = items.iter().find_map(|item| match item {
        Item::Impl(item) if is_default_of(item, &new.name) => literal_of(item),
        _ => None,
    });
    let line = |(ident, value): &(String, String)| format!("            {ident}: {value},\n");
    if let Some(literal) = implementation {
        let brace = literal.brace_token.span.close().byte_range().start;
        if literal.rest.is_none() {
            let lines: String = new.values.iter().map(line).collect();
            edits.push(source.lines_before(brace, &lines, "        "));
        }
        return String::new();
    }
    let derived = found.attrs.iter().find_map(derived_default);
    let Some(derived) = derived.filter(|_| !new.derives_default) else {
        return String::new();
    };
    edits.push(TextEdit {
        range: derived,
        text: String::new(),
    });
    let old = idents
        .iter()
        .map(|ident| (ident.clone(), "Default::default()".to_owned()));
    let lines: String = old
        .chain(new.values.iter().cloned())
        .map(|value| line(&value))
        .collect();
    let name = &new.name;
    format!(
        "\nimpl Default for {name} {{\n    fn default() -> Self {{\n        Self {{\n{lines}        }}\n    }}\n}}\n"
    )
}

/// The place of `Default` in a derive, with the comma that separates it.
fn derived_default(attribute: &Attribute) -> Option<Range<usize>> {
    if !attribute.path().is_ident("derive") {
        return None;
    }
    let parse = Punctuated::<Path, Token![,]>::parse_terminated;
    let derives = attribute.parse_args_with(parse).ok()?;
    let is_default = |path: &Path| path.segments.last().is_some_and(|it| it.ident == "Default");
    let at = derives.iter().position(is_default)?;
    let start = |path: &Path| {
        let colons = path.leading_colon.as_ref().map(|colons| colons.spans[0]);
        let first = colons.unwrap_or_else(|| path.segments[0].ident.span());
        first.byte_range().start
    };
    let end = |path: &Path| {
        path.segments
            .last()
            .map(|it| it.ident.span().byte_range().end)
    };
    let own = &derives[at];
    Some(match (derives.get(at + 1), at.checked_sub(1)) {
        (Some(next), _) => start(own)..start(next),
        (None, Some(before)) => end(&derives[before])?..end(own)?,
        (None, None) => start(own)..end(own)?,
    })
}

fn is_default_of(item: &ItemImpl, name: &str) -> bool {
    let of = matches!(&*item.self_ty, Type::Path(path) if path.path.is_ident(name));
    let default = item
        .trait_
        .as_ref()
        .and_then(|(path, ..)| path.segments.last());
    of && default.is_some_and(|last| last.ident == "Default")
}

/// The struct literal that `default` returns.
fn literal_of(item: &ItemImpl) -> Option<&syn::ExprStruct> {
    let block = item.items.iter().find_map(|item| match item {
        ImplItem::Fn(function) if function.sig.ident == "default" => Some(&function.block),
        _ => None,
    })?;
    match block.stmts.last()? {
        Stmt::Expr(Expr::Struct(literal), None) => Some(literal),
        _ => None,
    }
}

/// A `use`, in its place among the others.
fn import(text: &str, items: &[Item], module: &str, name: &str) -> TextEdit {
    let line = format!("use {module}::{name};\n");
    let uses = items.iter().filter_map(|item| match item {
        Item::Use(item) => {
            let start = item.use_token.span.byte_range().start;
            Some(start..item.semi_token.span.byte_range().end)
        }
        _ => None,
    });
    let uses: Vec<Range<usize>> = uses.collect();
    let is_std = |range: &&Range<usize>| text[range.start..].starts_with("use std::");
    let wants_std = module.starts_with("std::");
    let mut group = uses
        .iter()
        .filter(|range| is_std(range) == wants_std)
        .peekable();
    if group.peek().is_none() {
        let at = uses.first().map_or(0, |first| first.start);
        return insert(at, line + "\n");
    }
    let group: Vec<_> = group.collect();
    let later = group
        .iter()
        .find(|range| text[(**range).clone()] > *line.trim_end());
    match (later, group.last()) {
        (Some(later), _) => insert(later.start, line),
        (None, Some(last)) => insert(last.end, format!("\n{}", line.trim_end())),
        (None, None) => insert(0, line),
    }
}

/// The `#[cfg(…)]` of a module.
fn test_module(item: &Item) -> Option<&Attribute> {
    match item {
        Item::Mod(module) => module.attrs.iter().find(|it| it.path().is_ident("cfg")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field `b` of the struct `S`, whose default is `default_b()`.
    fn field() -> NewFields {
        NewFields {
            name: "S".to_owned(),
            fields: "    pub b: u8,\n".to_owned(),
            values: vec![("b".to_owned(), "default_b()".to_owned())],
            ..NewFields::default()
        }
    }

    #[track_caller]
    fn check(before: &str, new: &NewFields, after: &str) {
        assert_eq!(add_fields(before, new).unwrap(), after);
    }

    #[test]
    fn a_field_stands_behind_the_last_one_and_its_comment() {
        let new = field();
        check("struct S {}", &new, "struct S {\n    pub b: u8,\n}");
        check(
            "struct S { a: u8 }",
            &new,
            "struct S { a: u8,\n    pub b: u8,\n}",
        );
        check(
            "struct S {\n    a: u8 // last\n}\n",
            &new,
            "struct S {\n    a: u8, // last\n    pub b: u8,\n}\n",
        );
    }

    #[test]
    fn an_implementation_of_default_gets_the_value() {
        check(
            "struct S {\n    a: u8,\n}\nimpl Default for S {\n    fn default() -> Self {\n        Self {\n            a: 1,\n        }\n    }\n}\n",
            &field(),
            "struct S {\n    a: u8,\n    pub b: u8,\n}\nimpl Default for S {\n    fn default() -> Self {\n        Self {\n            a: 1,\n            b: default_b(),\n        }\n    }\n}\n",
        );
    }

    #[test]
    fn a_derived_default_with_another_value_is_written_out() {
        let written = "\n\nimpl Default for S {\n    fn default() -> Self {\n        Self {\n            a: Default::default(),\n            b: default_b(),\n        }\n    }\n}";
        for (derive, without) in [
            ("Clone, Default, Debug", "Clone, Debug"),
            ("Clone, Default", "Clone"),
            ("Default, MyDefault", "MyDefault"),
            ("std::default::Default", ""),
        ] {
            check(
                &format!("#[derive({derive})]\nstruct S {{\n    a: u8,\n}}\n"),
                &field(),
                &format!(
                    "#[derive({without})]\nstruct S {{\n    a: u8,\n    pub b: u8,\n}}{written}\n"
                ),
            );
        }
        let as_derived = NewFields {
            derives_default: true,
            ..field()
        };
        check(
            "#[derive(Default)]\nstruct S {\n    a: u8,\n}\n",
            &as_derived,
            "#[derive(Default)]\nstruct S {\n    a: u8,\n    pub b: u8,\n}\n",
        );
    }

    #[test]
    fn an_import_stands_in_its_group_and_is_not_repeated() {
        let import = |module: &str, name: &str| NewFields {
            imports: vec![(module.to_owned(), name.to_owned())],
            ..field()
        };
        let after = |uses: &str| format!("{uses}\n\nstruct S {{\n    pub b: u8,\n}}\n");
        let before = "use std::fmt;\n\nuse kube::Api;\n\nstruct S {}\n";
        check(
            before,
            &import("serde", "Serialize"),
            &after("use std::fmt;\n\nuse kube::Api;\nuse serde::Serialize;"),
        );
        check(
            before,
            &import("std::collections", "BTreeMap"),
            &after("use std::collections::BTreeMap;\nuse std::fmt;\n\nuse kube::Api;"),
        );
        check(
            before,
            &import("kube", "Api"),
            &after("use std::fmt;\n\nuse kube::Api;"),
        );
        // A byte order mark stays in front.
        check(
            "\u{feff}struct S {}\n",
            &import("kube", "Api"),
            &after("\u{feff}use kube::Api;"),
        );
    }

    #[test]
    fn what_a_field_needs_stands_before_the_tests() {
        let new = NewFields {
            others: "\nenum Mode {\n    Fast,\n}\n".to_owned(),
            ..field()
        };
        check(
            "struct S {}\n\n#[cfg(test)]\nmod tests {}\n",
            &new,
            "struct S {\n    pub b: u8,\n}\n\nenum Mode {\n    Fast,\n}\n\n#[cfg(test)]\nmod tests {}\n",
        );
    }

    #[test]
    fn what_cannot_have_the_field_is_refused() {
        let refused = |text: &str| add_fields(text, &field()).unwrap_err();
        assert!(matches!(
            refused("struct S { b: u8 }"),
            Error::FieldExists(..)
        ));
        assert!(matches!(refused("struct S(u8);"), Error::NoStruct(_)));
        assert!(matches!(refused("struct T {}"), Error::NoStruct(_)));
    }
}
