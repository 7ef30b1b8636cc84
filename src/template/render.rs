//! Rendering: templates and contexts to texts.

use std::{collections::BTreeMap, sync::LazyLock};

use tera::{Context, Delimiters, Tera};

use super::{
    catalogue::{self, Scope, Template},
    filter, lockfile,
};
use crate::{
    error::{Failure, Result},
    tree::{Content, File, RelPath, Tree},
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

/// Renders all templates for the entries of each scope; `package` is the Cargo package's name.
///
/// Errors: a template that does not parse or render, two that make one path: defects of this program.
pub fn render(entries: impl Fn(Scope) -> Result<Vec<Entry>>, package: &str) -> Result<Tree> {
    // Some commands render more than one project, and parsing the templates takes as long as rendering a small one.
    static ENGINE: LazyLock<Result<Tera>> = LazyLock::new(|| engine(catalogue::all()));
    let tera = ENGINE.as_ref().map_err(Clone::clone)?;
    let mut tree = Tree::new();
    for scope in Scope::all() {
        let entries = entries(scope)?;
        let templates = catalogue::all().iter();
        for template in templates.filter(|template| template.scope == scope) {
            for entry in entries.iter().filter(|entry| entry.has(template)) {
                let path = RelPath::parse(&fill(template.target, &entry.variables))?;
                let content = content(tera, template, entry, package)?;
                let former = template.former.iter();
                let file = File {
                    owner: template.owner,
                    content,
                    named: template.named,
                    former: former
                        .map(|former| RelPath::parse(&fill(former, &entry.variables)))
                        .collect::<Result<_>>()?,
                };
                if tree.insert(path.clone(), file).is_some() {
                    return Err(defect(template, &format!("`{path}` is made twice")));
                }
            }
        }
    }
    Ok(tree)
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
    tera.register_filter("imports", filter::imports);
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
    variables
        .iter()
        .fold(target.to_owned(), |path, (name, value)| {
            path.replace(&format!("{{{name}}}"), value)
        })
}

fn defect(template: &Template, what: &str) -> Failure {
    Failure::refused(format!(
        "the template `{}` is broken: {what}",
        template.name
    ))
    .note("this is a defect of operator-forge, not of your project")
    .help("report it with the command you ran and your PROJECT file")
}
