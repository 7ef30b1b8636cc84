//! Rendering: templates and contexts to texts.

use std::{
    collections::{BTreeMap, btree_map::Entry as Slot},
    sync::LazyLock,
};

use rayon::prelude::*;
use tera::{Context, Delimiters, Tera};

use super::{
    catalogue::{self, Scope, Template},
    filter, lockfile,
};
use crate::{
    error::{Failure, Result},
    tree::{Content, Digest, File, RelPath, Tree},
};

/// One thing that the templates of a scope are rendered for.
pub struct Entry {
    /// What `{group}`, `{version}`, `{kind}` and `{name}` in a target stand for.
    pub variables: BTreeMap<&'static str, String>,
    /// What the template sees.
    pub context: Context,
    /// Whether its integration test would not know what object to write.
    pub untested: bool,
}

impl Entry {
    /// Whether this template makes a file for it.
    pub fn has(&self, template: &Template) -> bool {
        !(self.untested && template.target.starts_with("tests/"))
    }
}

/// Renders the templates of their scopes for all subjects; `entry` says what they see of one, and `package` is the Cargo
/// package's name.
///
/// Errors: a template that does not parse or render, two that make one path: defects of this program.
pub fn render<S: Send>(
    subjects: Vec<(Scope, S)>,
    entry: impl Fn(S) -> Result<Entry> + Sync,
    package: &str,
) -> Result<Tree> {
    let tera = parsed()?;
    let of_subject = |(scope, subject)| {
        let entry = entry(subject)?;
        let templates: Vec<&Template> = catalogue::of(scope).filter(|it| entry.has(it)).collect();
        let files = templates
            .into_par_iter()
            .map(|template| (template, file(tera, template, &entry, package)));
        Ok(files.collect::<Vec<_>>())
    };
    let made: Vec<Result<_>> = subjects.into_par_iter().map(of_subject).collect();
    let mut tree = Tree::new();
    for of_subject in made {
        for (template, file) in of_subject? {
            let (path, file) = file?;
            match tree.entry(path) {
                Slot::Vacant(slot) => _ = slot.insert(file),
                Slot::Occupied(slot) => {
                    return Err(defect(template, &format!("`{}` is made twice", slot.key())));
                }
            }
        }
    }
    Ok(tree)
}

/// Parses the templates, for a thread that has nothing else to do: the first one to render waits for it.
pub fn prepare() {
    // What is wrong with them is told there.
    let _ = parsed();
}

/// Renders one template for one entry.
///
/// Errors: as [`render`].
pub fn one(template: &Template, entry: &Entry, package: &str) -> Result<(RelPath, File)> {
    file(parsed()?, template, entry, package)
}

/// The parsed templates. Some commands render more than one project, and parsing takes as long as rendering a small one.
fn parsed() -> Result<&'static Tera> {
    static ENGINE: LazyLock<Result<Tera>> = LazyLock::new(|| engine(catalogue::all()));
    ENGINE.as_ref().map_err(Clone::clone)
}

fn file(tera: &Tera, template: &Template, entry: &Entry, package: &str) -> Result<(RelPath, File)> {
    let path = |target| RelPath::parse(&fill(target, &entry.variables)).map_err(Failure::from);
    let (target, content) = (
        path(template.target)?,
        content(tera, template, entry, package)?,
    );
    let copied = template
        .digest
        .filter(|_| matches!(content, Content::Borrowed(_)));
    let file = File {
        owner: template.owner,
        known: Some(copied.unwrap_or_else(|| Digest::of(&target, &content))),
        content,
        named: template.named,
        former: template
            .former
            .iter()
            .map(|former| path(former))
            .collect::<Result<_>>()?,
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
    tera.register_filter("imports", filter::imports);
    tera.register_filter("of_variant", filter::of_variant);
    tera.register_filter("outside", filter::outside);
    tera.register_filter("wrap", filter::wrap);
    let mut texts = Vec::new();
    for template in templates.iter().filter(|template| template.rendered) {
        let text = std::str::from_utf8(template.content)
            .map_err(|error| defect(template, &error.to_string()))?;
        texts.push((template.name, text));
    }
    tera.add_raw_templates(texts)
        .map_err(|error| Failure::refused(format!("a template is broken: {error}")))?;
    Ok(tera)
}

fn content(tera: &Tera, template: &Template, entry: &Entry, package: &str) -> Result<Content> {
    if template.rendered {
        let text = tera
            .render(template.name, &entry.context)
            .map_err(|error| defect(template, &error.to_string()))?;
        return Ok(text.into_bytes().into());
    }
    if template.target == "Cargo.lock" {
        let lock = std::str::from_utf8(template.content)
            .map_err(|error| defect(template, &error.to_string()))?;
        return Ok(lockfile::for_package(lock, package).into_bytes().into());
    }
    Ok(template.content.into())
}

/// `target` with its variables filled in.
pub fn fill(target: &str, variables: &BTreeMap<&'static str, String>) -> String {
    let mut path = String::new();
    let mut rest = target;
    while let Some((before, after)) = rest.split_once('{') {
        path.push_str(before);
        let variable = after.split_once('}');
        let value = variable.and_then(|(name, tail)| Some((variables.get(name)?, tail)));
        rest = match value {
            Some((value, tail)) => {
                path.push_str(value);
                tail
            }
            None => {
                path.push('{');
                after
            }
        };
    }
    path + rest
}

fn defect(template: &Template, what: &str) -> Failure {
    Failure::refused(format!(
        "the template `{}` is broken: {what}",
        template.name
    ))
    .note("this is a defect of operator-forge, not of your project")
    .note("report it with the command you ran, your PROJECT file and the version")
    .advise("operator-forge version")
}
