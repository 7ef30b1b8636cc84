//! The paths in a text.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::Error;

/// A path such as `crate::api::cache`: its names without `r#`, each with its line, from 1.
pub type Path = Vec<(String, usize)>;

/// The paths of a text: `use a::{b, c::d};` has `a::b` and `a::c::d`.
///
/// Lenient where rustc is strict: other words may be among them.
pub fn paths(text: &str) -> Result<Vec<Path>, Error> {
    let tokens = super::tokens(text)?;
    let mut paths = Vec::new();
    collect(tokens, &Path::new(), &mut paths);
    Ok(paths)
}

/// Adds the paths in `tokens`, which begin after `start`.
fn collect(tokens: TokenStream, start: &Path, paths: &mut Vec<Path>) {
    let mut path = start.clone();
    // Whether `path` ends with `::`, and the colons since its last name.
    let (mut is_open, mut colons) = (true, 0);
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ':' => {
                colons += 1;
                is_open = colons == 2;
                continue;
            }
            TokenTree::Ident(name) => {
                if !is_open {
                    end(&mut path, start, paths);
                }
                let text = name.to_string();
                let text = text.strip_prefix("r#").unwrap_or(&text).to_owned();
                path.push((text, name.span().start().line));
                is_open = false;
            }
            TokenTree::Group(group) => {
                let inside = match is_list(&group) && is_open {
                    true => std::mem::replace(&mut path, start.clone()),
                    false => Path::new(),
                };
                end(&mut path, start, paths);
                collect(group.stream(), &inside, paths);
                is_open = true;
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {
                end(&mut path, start, paths);
                is_open = true;
            }
        }
        colons = 0;
    }
    end(&mut path, start, paths);
}

fn is_list(group: &Group) -> bool {
    group.delimiter() == Delimiter::Brace
}

/// Ends a path.
fn end(path: &mut Path, start: &Path, paths: &mut Vec<Path>) {
    let path = std::mem::replace(path, start.clone());
    if path.len() > start.len() {
        paths.push(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let paths = paths(text).unwrap().into_iter().map(|path| {
            let names: Vec<_> = path.iter().map(|(name, _)| name.as_str()).collect();
            format!("{} {}", path[path.len() - 1].1, names.join("::"))
        });
        assert_eq!(paths.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn of_imports() {
        check("use a::r#type::B;", &["1 use", "1 a::type::B"]);
        check(
            "pub use a::{\n    b,\n    c::{d, E},\n};\nuse f;",
            &[
                "1 pub",
                "1 use",
                "2 a::b",
                "3 a::c::d",
                "3 a::c::E",
                "5 use",
                "5 f",
            ],
        );
        check("use ::a::{self, *};", &["1 use::a::self"]);
    }

    #[test]
    fn of_code() {
        check(
            "fn f(x: a::B<c::D>) -> E { g::h(x, 1) }",
            &[
                "1 fn", "1 f", "1 x", "1 a::B", "1 c::D", "1 E", "1 g::h", "1 x",
            ],
        );
        check("x: y", &["1 x", "1 y"]);
        assert!(paths("fn f( {").is_err());
    }
}
