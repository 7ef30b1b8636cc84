//! Rendering: from templates and contexts to files.

use std::{collections::BTreeMap, sync::LazyLock};

use rayon::prelude::*;
use tera::{Context, Delimiters, Tera};

use super::{
    catalogue::{self, Scope, Template},
    filter, lockfile,
};
use crate::{
    advice::Script,
    error::{Failure, Result},
    tree::{Content, Digest, File, RelPath, Tree},
};

/// A subject, ready for the templates of its scope.
pub struct Entry {
    /// The values of `{group}`, `{version}`, `{kind}` and `{name}` in a target.
    pub variables: BTreeMap<&'static str, String>,
    /// What the templates see.
    pub context: Context,
    /// Whether it has no integration test, because no valid object is known.
    pub untested: bool,
}

impl Entry {
    /// Whether a template of its scope makes a file for it.
    pub fn has(&self, template: &Template) -> bool {
        !(self.untested && template.target.starts_with("tests/"))
    }
}

/// Renders the templates of their scopes for all subjects. `entry` makes a subject ready; `package` is the Cargo package.
///
/// Errors: a template that does not parse or render, or two that make one path: defects of this program.
pub fn render<S: Send>(
    subjects: Vec<(Scope, S)>,
    entry: impl Fn(S) -> Result<Entry> + Sync,
    package: &str,
) -> Result<Tree> {
    let tera = parsed()?;
    let of_subject = |(scope, subject)| {
        let entry = entry(subject)?;
        let templates: Vec<&Template> = catalogue::of(scope).filter(|it| entry.has(it)).collect();
        let files = templates.into_par_iter().map(|template| {
            let (path, file) = file(tera, template, &entry, package)?;
            Ok((template, path, file))
        });
        files.collect::<Result<Vec<_>>>()
    };
    let made: Vec<Result<Vec<_>>> = subjects.into_par_iter().map(of_subject).collect();
    let mut tree = Tree::new();
    for of_subject in made {
        for (template, path, file) in of_subject? {
            if tree.contains_key(&path) {
                return Err(defect(template, &format!("`{path}` is made twice")));
            }
            tree.insert(path, file);
        }
    }
    Ok(tree)
}

/// Parses the templates, for a thread that has nothing else to do; the first one to render waits for it.
pub fn prepare() {
    // Whoever renders reports the error.
    let _ = parsed();
}

/// Renders one template for one entry.
///
/// Errors: as [`render`].
pub fn one(template: &Template, entry: &Entry, package: &str) -> Result<(RelPath, File)> {
    file(parsed()?, template, entry, package)
}

/// The parsed templates, parsed once: that takes as long as rendering a small project, and some commands render several.
fn parsed() -> Result<&'static Tera> {
    static ENGINE: LazyLock<Result<Tera>> = LazyLock::new(|| engine(catalogue::all()));
    ENGINE.as_ref().map_err(Clone::clone)
}

fn file(tera: &Tera, template: &Template, entry: &Entry, package: &str) -> Result<(RelPath, File)> {
    let path = |target| RelPath::parse(&fill(target, &entry.variables)).map_err(Failure::from);
    let target = path(template.target)?;
    let content = content(tera, template, entry, package)?;
    let is_copied = matches!(content, Content::Borrowed(_));
    let digest = template.digest.filter(|_| is_copied);
    let former = template.former.iter().map(|former| path(former));
    let file = File {
        owner: template.owner,
        known: Some(digest.unwrap_or_else(|| Digest::of(&target, &content))),
        content,
        named: template.named,
        former: former.collect::<Result<_>>()?,
    };
    Ok((target, file))
}

fn engine(templates: &[Template]) -> Result<Tera> {
    let mut tera = Tera::new();
    tera.set_delimiters(Delimiters {
        variable_start: "{=".into(),
        variable_end: "=}".into(),
        ..Delimiters::default()
    })
    .map_err(|error| Failure::refused(error.to_string()))?;
    tera.autoescape_on(Vec::<&'static str>::new());
    tera.register_filter("braces", filter::braces);
    tera.register_filter("of_variant", filter::of_variant);
    tera.register_filter("wrap", filter::wrap);
    let rendered = templates.iter().filter(|template| template.rendered);
    let texts = rendered.map(|template| Ok((template.name, text(template)?)));
    tera.add_raw_templates(texts.collect::<Result<Vec<_>>>()?)
        .map_err(|error| Failure::refused(format!("a template is broken: {error}")))?;
    Ok(tera)
}

fn content(tera: &Tera, template: &Template, entry: &Entry, package: &str) -> Result<Content> {
    if template.rendered {
        let text = tera.render(template.name, &entry.context);
        let text = text.map_err(|error| defect(template, &error.to_string()))?;
        return Ok(text.into_bytes().into());
    }
    if template.target == "Cargo.lock" {
        let lock = lockfile::for_package(text(template)?, package);
        return Ok(lock.into_bytes().into());
    }
    Ok(template.content.into())
}

fn text(template: &Template) -> Result<&'static str> {
    std::str::from_utf8(template.content).map_err(|error| defect(template, &error.to_string()))
}

/// `target` with the values of its variables.
pub fn fill(target: &str, variables: &BTreeMap<&'static str, String>) -> String {
    let fill =
        |path: String, (name, value): (&&str, &String)| path.replace(&format!("{{{name}}}"), value);
    variables.iter().fold(target.to_owned(), fill)
}

fn defect(template: &Template, what: &str) -> Failure {
    Failure::refused(format!(
        "the template `{}` is broken: {what}",
        template.name
    ))
    .note("this is a bug in operator-forge, not in your project")
    .note("report it with the command you ran, your PROJECT file and the version")
    .advise(Script::forge("version"))
}
