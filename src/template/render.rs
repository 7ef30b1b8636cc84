//! Rendering: from templates and their variables to files.

use std::sync::LazyLock;

use anyhow::anyhow;
use rayon::prelude::*;
use tera::{Context as Variables, Delimiters, Tera};

use super::{
    catalogue::{self, Scope, Template},
    context::{Context, Subject},
    filter, lockfile,
};
use crate::{
    error::Result,
    tree::{Content, Digest, File, RelPath, Tree},
};

/// Renders the templates of a context.
///
/// Errors: a template does not parse or render, or two templates have one path. Both are bugs of this program.
pub fn render(context: &Context) -> Result<Tree> {
    let subjects: Vec<_> = subjects(context).collect();
    let of_subject = |(scope, subject)| {
        let variables = variables(context, subject);
        let templates: Vec<&Template> = templates(scope, subject).collect();
        let files = templates.into_par_iter().map(|template| {
            let (path, file) = file(context, template, subject, &variables)?;
            Ok((template, path, file))
        });
        files.collect::<Result<Vec<_>>>()
    };
    let made: Vec<Result<Vec<_>>> = subjects.into_par_iter().map(of_subject).collect();
    let mut tree = Tree::new();
    for of_subject in made {
        for (template, path, file) in of_subject? {
            if tree.contains_key(&path) {
                let twice = anyhow!("`{path}` is made twice");
                return Err(broken(template, twice).into());
            }
            tree.insert(path, file);
        }
    }
    Ok(tree)
}

/// The paths of the files of a context that are wanted, each with its template and subject. The project is `None`.
pub fn paths(
    context: &Context,
    wanted: impl Fn(Option<&Subject>) -> bool,
) -> Result<Vec<(&'static Template, Option<&Subject>, RelPath)>> {
    let mut paths = Vec::new();
    for (scope, subject) in subjects(context).filter(|(_, subject)| wanted(*subject)) {
        for template in templates(scope, subject) {
            paths.push((template, subject, path(template.target, subject)?));
        }
    }
    Ok(paths)
}

/// The subjects of a context, each with its scope. The project is `None`.
fn subjects(context: &Context) -> impl Iterator<Item = (Scope, Option<&Subject>)> {
    let of_project = context.scopes.iter().map(|scope| (*scope, None));
    let others = context.subjects.iter().map(|it| (it.scope, Some(it)));
    of_project.chain(others)
}

/// The templates of a scope that make a file for `subject`.
fn templates(scope: Scope, subject: Option<&Subject>) -> impl Iterator<Item = &'static Template> {
    let without = subject.and_then(|subject| subject.without);
    let is_made = move |it: &&Template| without.is_none_or(|start| !it.target.starts_with(start));
    catalogue::of(scope).filter(is_made)
}

/// The variables of the templates of one subject.
fn variables(context: &Context, subject: Option<&Subject>) -> Variables {
    let Some(subject) = subject else {
        return Variables::from_serialize(&context.variables).expect("they are an object");
    };
    let mut variables = Variables::new();
    for shared in ["project", "header"] {
        variables.insert(shared, &context.variables[shared]);
    }
    variables.insert(subject.variable, &subject.value);
    variables
}

/// A target with the names of its subject.
fn path(target: &str, subject: Option<&Subject>) -> Result<RelPath> {
    let Some(Subject { names, .. }) = subject else {
        return Ok(target.parse()?);
    };
    let path = target
        .replace("{group}", &names.group_file)
        .replace("{version}", &names.version)
        .replace("{kind}", &names.file)
        .replace("{name}", &names.file);
    Ok(path.parse()?)
}

/// Parses the templates, for a thread that has nothing else to do; rendering waits for it, and reports its errors.
pub fn prepare() {
    let _ = parsed();
}

/// Renders one template for one subject.
///
/// Errors: as [`render`].
pub fn one(context: &Context, template: &Template, subject: &Subject) -> Result<(RelPath, File)> {
    let subject = Some(subject);
    file(context, template, subject, &variables(context, subject))
}

/// The templates, parsed once: parsing takes as long as rendering a small project, and some commands render several.
fn parsed() -> anyhow::Result<&'static Tera> {
    static ENGINE: LazyLock<anyhow::Result<Tera>> = LazyLock::new(engine);
    ENGINE.as_ref().map_err(|error| anyhow!("{error:#}"))
}

fn file(
    context: &Context,
    template: &Template,
    subject: Option<&Subject>,
    variables: &Variables,
) -> Result<(RelPath, File)> {
    let target = path(template.target, subject)?;
    let content = content(context, template, variables);
    let content = content.map_err(|error| broken(template, error))?;
    let is_copied = matches!(content, Content::Borrowed(_));
    let digest = template.digest.filter(|_| is_copied);
    let former = template.former.iter().map(|former| path(former, subject));
    let file = File {
        owner: template.owner,
        known: Some(digest.unwrap_or_else(|| Digest::of(&target, &content))),
        content,
        named: template.named,
        former: former.collect::<Result<_>>()?,
    };
    Ok((target, file))
}

fn engine() -> anyhow::Result<Tera> {
    let mut tera = Tera::new();
    tera.set_delimiters(Delimiters {
        variable_start: "{=".into(),
        variable_end: "=}".into(),
        ..Delimiters::default()
    })?;
    tera.autoescape_on(Vec::<&'static str>::new());
    tera.register_filter("braces", filter::braces);
    tera.register_filter("of_variant", filter::of_variant);
    tera.register_filter("wrap", filter::wrap);
    tera.register_filter("yaml", filter::yaml);
    let rendered = catalogue::all().iter().filter(|it| it.rendered);
    let texts = rendered.map(|template| {
        let text = text(template).map_err(|error| broken(template, error))?;
        Ok((template.name, text))
    });
    tera.add_raw_templates(texts.collect::<anyhow::Result<Vec<_>>>()?)?;
    Ok(tera)
}

fn content(
    context: &Context,
    template: &Template,
    variables: &Variables,
) -> anyhow::Result<Content> {
    if template.rendered {
        let text = parsed()?.render(template.name, variables)?;
        return Ok(text.into_bytes().into());
    }
    if template.target == "Cargo.lock" {
        let lock = lockfile::for_package(text(template)?, &context.package);
        return Ok(lock.into_bytes().into());
    }
    Ok(template.content.into())
}

/// The context of a defect of a template.
fn broken(template: &Template, error: anyhow::Error) -> anyhow::Error {
    error.context(format!("the template `{}` is broken", template.name))
}

fn text(template: &Template) -> anyhow::Result<&'static str> {
    Ok(std::str::from_utf8(template.content)?)
}
