//! The pages of the documentation: their blocks of commands run, and their blocks of code go into files.
//!
//! A block of code names its file behind the language, ```` ```rust src/context.rs ````. Its items (in YAML: its keys)
//! replace those of the same name in the file, as a reader would do it, or are added. One that is marked `new` is the whole file. One that is marked `shown` has to stand in the file already; `…` is for what it leaves out.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use crate::session;

use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use serde_yaml::Value;
use syn::{Attribute, ImplItem, Item, UseTree, spanned::Spanned};

/// A fenced block.
pub struct Block {
    pub line: usize,
    pub language: String,
    /// The words behind the language.
    pub marks: Vec<String>,
    pub text: String,
}

impl Block {
    fn is(&self, mark: &str) -> bool {
        self.marks.iter().skip(1).any(|it| it == mark)
    }

    /// Does to the file below `directory` what the block says. `with_derived`: the files of `make` are there, too.
    #[track_caller]
    pub fn apply(&self, place: &str, directory: &Path, with_derived: bool) {
        let path = self.marks.first();
        let path = path.unwrap_or_else(|| panic!("{place}: a block of code names its file"));
        let file = directory.join(path);
        let before = fs::read_to_string(&file).unwrap_or_default();
        if self.is("shown") {
            if !with_derived && !file.exists() {
                return;
            }
            let missing = missing(&before, &self.text);
            assert_eq!(missing, None, "{place}: not in `{path}`");
            return;
        }
        let is_new = self.is("new");
        assert!(is_new || file.exists(), "{place}: there is no `{path}`");
        let after = match self.language.as_str() {
            "rust" if !is_new => with_items(&before, &self.text),
            "yaml" if !is_new => with_keys(&before, &self.text),
            _ => self.text.clone(),
        };
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, after).unwrap();
    }
}

/// A page.
pub struct Page {
    pub name: String,
    pub blocks: Vec<Block>,
    /// The page without its blocks.
    pub text: String,
}

impl Page {
    pub fn read(path: &Path) -> Self {
        let name = path.strip_prefix(session::repository()).unwrap();
        let (mut blocks, mut text) = (Vec::<Block>::new(), String::new());
        let mut is_open = false;
        for (at, line) in fs::read_to_string(path).unwrap().lines().enumerate() {
            match (line.trim_start().strip_prefix("```"), is_open) {
                (Some(info), false) => {
                    let mut words = info.split([' ', ',']).map(str::to_owned);
                    blocks.push(Block {
                        line: at + 1,
                        language: words.next().unwrap_or_default(),
                        marks: words.collect(),
                        text: String::new(),
                    });
                    is_open = true;
                }
                (Some(_), true) => is_open = false,
                (None, true) => blocks.last_mut().unwrap().text += &format!("{line}\n"),
                (None, false) => text += &format!("{line}\n"),
            }
        }
        Self {
            name: name.to_string_lossy().into_owned(),
            blocks,
            text,
        }
    }

    /// What stands between backticks, with the line break that it may have as a space.
    pub fn spans(&self) -> impl Iterator<Item = String> {
        let paragraphs = self.text.split("\n\n");
        paragraphs.flat_map(|text| {
            let spans = text.split('`').skip(1).step_by(2);
            spans.map(|span| span.replace('\n', " "))
        })
    }
}

/// Where the commands of a page run.
pub struct Shell {
    root: tempfile::TempDir,
    /// The current directory.
    pub now: PathBuf,
}

impl Shell {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let now = root.path().join("page/demo");
        fs::create_dir_all(&now).unwrap();
        Self { root, now }
    }

    /// Runs a script, and stays in the directory in which it ends.
    pub fn run(&mut self, script: &str) -> session::Step {
        let (file, ended) = (
            self.root.path().join("script"),
            self.root.path().join("pwd"),
        );
        let _ = fs::remove_file(&ended);
        let page = self.root.path().join("page");
        let text = format!(
            "PAGE='{}'\n{script}\npwd > '{}'\n",
            page.display(),
            ended.display()
        );
        fs::write(&file, text).unwrap();
        let step = session::shell(
            &self.now,
            &format!("bash -eo pipefail '{}'", file.display()),
        );
        if let Ok(directory) = fs::read_to_string(ended) {
            self.now = directory.trim_end().into();
        }
        step
    }
}

/// The lines of a block that run whatever it is marked with, `make` as one that runs nothing.
pub fn without_needs(text: &str) -> String {
    let mut kept = String::new();
    let mut goes_on = false;
    for line in text.lines() {
        let is_of = |program: &str| line.split(' ').next() == Some(program);
        let is_kept = goes_on || ["operator-forge", "cd", "mkdir"].into_iter().any(is_of);
        if is_kept {
            kept += &format!("{line}\n");
        } else if is_of("make") {
            kept += &format!("{} > made\n", line.replace("make ", "make --dry-run "));
        }
        goes_on = is_kept && line.ends_with('\\');
    }
    kept
}

/// A line with `# …: exit code N` ends so.
pub fn with_exit_codes(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once("exit code ") {
        Some((before, code)) if before.contains(" #") => {
            let command = before.rsplit_once(" #").unwrap().0;
            format!("code=0; {command} || code=$?; [ $code = {code} ]\n")
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// The first line of `shown` that `text` does not have where it should be. A `…`
/// and an empty line are any text up to the next line that is shown.
fn missing<'a>(text: &str, shown: &'a str) -> Option<&'a str> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    // The first line may be anywhere.
    let mut after_gap = true;
    for shown in shown.lines().map(str::trim) {
        if shown.is_empty() {
            after_gap = true;
            continue;
        }
        let (wanted, is_whole) = match shown.split_once('…') {
            Some((before, _)) => (before.trim_end_matches(['/', '#', ' ']), false),
            None => (shown, true),
        };
        let fits = |line: &str| match is_whole {
            true => line == wanted,
            false => line.starts_with(wanted),
        };
        let is_found = match after_gap {
            _ if wanted.is_empty() => true,
            true => lines.any(fits),
            false => lines.next().is_some_and(fits),
        };
        if !is_found {
            return Some(shown);
        }
        after_gap = !is_whole;
    }
    None
}

/// `text` with the keys of `block`.
fn with_keys(text: &str, block: &str) -> String {
    let mut whole: Value = serde_yaml::from_str(text).unwrap();
    merge(&mut whole, serde_yaml::from_str(block).unwrap());
    serde_yaml::to_string(&whole).unwrap()
}

fn merge(into: &mut Value, new: Value) {
    match (into, new) {
        (Value::Mapping(into), Value::Mapping(new)) => {
            for (key, value) in new {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, new) => *into = new,
    }
}

/// The paths that a `use` brings in: `a::b as c`.
fn imports(tree: &UseTree, before: &str, found: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => imports(&path.tree, &format!("{before}{}::", path.ident), found),
        UseTree::Name(name) => found.push(format!("{before}{}", name.ident)),
        UseTree::Rename(name) => found.push(format!("{before}{} as {}", name.ident, name.rename)),
        UseTree::Glob(_) => found.push(format!("{before}*")),
        UseTree::Group(group) => {
            for tree in &group.items {
                imports(tree, before, found);
            }
        }
    }
}

/// What tells an item of a file from the others.
fn identity(item: &Item) -> String {
    use quote::ToTokens;
    match item {
        Item::Const(it) => format!("const {}", it.ident),
        Item::Enum(it) => format!("type {}", it.ident),
        Item::Fn(it) => format!("fn {}", it.sig.ident),
        Item::Impl(it) => {
            let of = it.trait_.as_ref().map(|(path, _)| path.to_token_stream());
            let of = of.map(|path| path.to_string());
            format!("impl {of:?} {}", it.self_ty.to_token_stream())
        }
        Item::Mod(it) => format!("mod {}", it.ident),
        Item::Static(it) => format!("static {}", it.ident),
        Item::Struct(it) => format!("type {}", it.ident),
        Item::Type(it) => format!("type {}", it.ident),
        other => panic!("a page has an item that no test knows: {other:?}"),
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        _ => &[],
    }
}

/// The text between the braces of a module.
fn inside(item: &Item) -> Option<Range<usize>> {
    let Item::Mod(module) = item else { return None };
    let braces = module.content.as_ref()?.0.span;
    Some(braces.open().byte_range().end..braces.close().byte_range().start)
}

/// What a block `shown` of an `impl`, and before its end the functions in `text` that the block does not show.
fn with_functions(old: &Item, new: &Item, text: &str, shown: &str) -> String {
    let mut whole = shown.to_owned();
    let (Item::Impl(old), Item::Impl(new)) = (old, new) else {
        return whole;
    };
    let name = |item: &ImplItem| match item {
        ImplItem::Fn(function) => Some(function.sig.ident.to_string()),
        _ => None,
    };
    let is_shown = |item: &&ImplItem| new.items.iter().any(|new| name(new) == name(item));
    if old.trait_.is_none() {
        for function in old.items.iter().filter(|item| !is_shown(item)) {
            let kept = &text[function.span().byte_range()];
            whole.insert_str(whole.len() - 1, &format!("\n    {kept}\n"));
        }
    }
    whole
}

/// `text` with the items of `block`. An item keeps the comments and attributes that the block does not show, a module the
/// items, and an `impl` without a trait the functions.
fn with_items(text: &str, block: &str) -> String {
    let file = syn::parse_file(text).unwrap();
    let new = syn::parse_file(block).unwrap_or_else(|error| panic!("{error}\n{block}"));
    let (mut have, mut end_of_imports) = (Vec::new(), 0);
    let mut end = text.len();
    for item in &file.items {
        match item {
            Item::Use(it) => {
                imports(&it.tree, "", &mut have);
                end_of_imports = item.span().byte_range().end;
            }
            // Others come before the tests.
            Item::Mod(it) if it.ident == "tests" => end = item.span().byte_range().start,
            _ => {}
        }
    }
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for item in &new.items {
        if let Item::Use(it) = item {
            let mut wanted = Vec::new();
            imports(&it.tree, "", &mut wanted);
            wanted.retain(|path| !have.contains(path));
            let wanted = wanted.iter().map(|path| format!("\nuse {path};"));
            edits.push((end_of_imports..end_of_imports, wanted.collect()));
            continue;
        }
        let shown = &block[item.span().byte_range()];
        let is_same = |old: &&Item| !matches!(old, Item::Use(_)) && identity(old) == identity(item);
        let Some(old) = file.items.iter().find(is_same) else {
            let added = match end == text.len() {
                true => format!("\n{shown}\n"),
                false => format!("{shown}\n\n"),
            };
            edits.push((end..end, added));
            continue;
        };
        if let (Some(of_old), Some(of_new)) = (inside(old), inside(item)) {
            let merged = with_items(&text[of_old.clone()], &block[of_new]);
            edits.push((of_old, merged));
            continue;
        }
        let kept = attributes(old).iter().filter(|old| {
            let new = attributes(item);
            !new.iter().any(|new| new.path() == old.path())
        });
        let kept: String = kept
            .map(|it| format!("{}\n", &text[it.span().byte_range()]))
            .collect();
        let shown = with_functions(old, item, text, shown);
        edits.push((old.span().byte_range(), kept + &shown));
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut whole = text.to_owned();
    for (range, shown) in edits.into_iter().rev() {
        whole.replace_range(range, &shown);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_replace_those_of_the_same_name() {
        let before = "use a::{B, C};\n\n/// Doc.\n#[derive(Debug)]\npub struct S {\n    a: u8,\n}\n\nfn f() {}\n";
        let block = "use a::{C, D};\n\npub struct S {\n    b: u8,\n}\n\nfn g() {}\n";
        let after = "use a::{B, C};\nuse a::D;\n\n/// Doc.\n#[derive(Debug)]\npub struct S {\n    b: u8,\n}\n\nfn f() {}\n\nfn g() {}\n";
        assert_eq!(with_items(before, block), after);
    }

    #[test]
    fn a_module_keeps_its_other_items_and_stays_last() {
        let before = "impl A for B {}\n\nmod tests {\n    fn f() {}\n\n    fn g() {}\n}\n";
        let block = "impl A for B { type C; }\n\nfn h() {}\n\nmod tests {\n    fn f() { h() }\n}\n";
        let after = "impl A for B { type C; }\n\nfn h() {}\n\nmod tests {\n    fn f() { h() }\n\n    fn g() {}\n}\n";
        assert_eq!(with_items(before, block), after);
    }

    #[test]
    fn an_impl_keeps_its_other_functions() {
        let before = "impl S {\n    fn f() {}\n\n    /// Doc.\n    fn g() {}\n}\n";
        let block = "impl S {\n    fn f() { g() }\n}\n";
        let after = "impl S {\n    fn f() { g() }\n\n    /// Doc.\n    fn g() {}\n}\n";
        assert_eq!(with_items(before, block), after);
    }

    #[test]
    fn keys_replace_those_of_the_same_name() {
        let before = "kind: A\nspec: {a: 1, b: [2]}\n";
        let after = "kind: A\nspec:\n  a: 1\n  b:\n  - 3\n";
        assert_eq!(with_keys(before, "spec: {b: [3]}\n"), after);
    }

    #[test]
    fn what_is_shown_has_to_be_there() {
        let text = "a {\n  b,\n  c,\n}\nfn d() { e }\n";
        for shown in [
            "a {\n",
            "  b,\n  c,\n",
            "a {\n  …\n}\n",
            "fn d() { … }\n",
            "…\nc,\n",
        ] {
            assert_eq!(missing(text, shown), None, "{shown}");
        }
        for shown in ["a {\nc,\n", "c,\n…\nb,\n", "fn e() { … }\n"] {
            assert!(missing(text, shown).is_some(), "{shown}");
        }
    }
}
