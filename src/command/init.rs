//! `init`: a new project.

use std::path::Path;

use super::{adopt, around::refuse_nested, runtime};
use crate::{
    advice::{Advice, NextStep, Script},
    cli::{Global, Init, Vcs},
    engine::{Request, Workspace, reconcile},
    error::{Failure, Result},
    git,
    name::{Domain, Invalid, ProjectName},
    project::{Header, InitOptions, Project, Runtime},
    prompt::Prompt,
    reconcile::Last,
    report::Report,
    template, tree,
};

pub fn run(flags: &Global, init: &Init, report: &Report) -> Result<u8> {
    let root = init.root(flags);
    let mut remarks = init.foreign.answer()?;
    let mut workspace = Workspace::fresh(&root)?;
    if !init.nested {
        refuse_nested(&root)?;
    }
    let prompt = Prompt::new(report, !flags.no_input);
    if init.domain.is_none() && !prompt.is_allowed() {
        let domain = Domain::DEFAULT;
        remarks.push(format!(
            "the domain is `{domain}`, for want of `--domain`: it ends the API group of every stored object, and cannot change later"
        ));
    }
    let project = Project::init(options(flags, &root, init, prompt)?);
    let desired = template::tree(&project)?;
    let adopted = adopt::adopt(&root, &desired)?;
    for path in adopted.kept {
        let row = Last {
            owner: tree::Owner::User,
            any_of: vec![desired[&path].digest(&path)],
        };
        workspace.adopted.insert(path, row);
    }
    remarks.extend(adopted.remarks);
    remarks.extend(runtime::outer_workspace(&root, &project));
    let mut next = Vec::new();
    if root != Path::new(".") {
        next.push(NextStep::new(
            "go there:",
            Script::anywhere("cd").path(root.strip_prefix(".").unwrap_or(&root).to_string_lossy()),
        ));
    }
    next.push(NextStep::new(
        "add an API:",
        Script::forge("create api --group cache --version v1alpha1 --kind Memcached"),
    ));
    let makes_repository = init.vcs == Vcs::Git && !git::is_inside_repository(&root);
    let request = Request {
        forced: adopted.replaced.into_iter().collect(),
        remarks,
        next,
        explain: Some(|failure, set, adopted| adopt::explain(failure, set, adopted.keys())),
        ..Request::of("init", project)
    };
    let code = reconcile(&workspace, &request, flags, report)?;
    if makes_repository && !flags.dry_run {
        git::init(&root).map_err(|why| {
            Failure::refused(format!(
                "the project was made, but `git init` failed: {why}"
            ))
            .advise(
                Script::anywhere("git -C")
                    .path(root.to_string_lossy())
                    .code("init"),
            )
        })?;
    }
    Ok(code)
}

fn options(flags: &Global, root: &Path, init: &Init, prompt: Prompt<'_>) -> Result<InitOptions> {
    Ok(InitOptions {
        domain: domain(init.domain.as_deref(), prompt)?,
        name: match &init.project_name {
            Some(name) => name.parse()?,
            None => match package_name(root) {
                Some(name) => name,
                None => directory_name(root)?,
            },
        },
        owner: init.owner.as_deref().unwrap_or_default().parse()?,
        license: init.license.as_deref().unwrap_or("apache2").parse()?,
        header: header(flags, init.license.as_deref(), init.license_file.as_deref())?,
        namespaced: init.namespaced.unwrap_or(false),
        runtime: match &init.runtime {
            Some(text) => runtime::parse(root, text)?,
            None => Runtime::of_this_build(),
        },
    })
}

/// The domain, which nobody can change later: so whoever did not name it is asked.
fn domain(given: Option<&str>, prompt: Prompt<'_>) -> Result<Domain> {
    let default = Domain::DEFAULT;
    let given = given.or((!prompt.is_allowed()).then_some(default));
    let question =
        format!("Domain, the end of every API group, which cannot change later [{default}]");
    let missing = ("", Advice::set("--domain", "example.com"));
    prompt.value("--domain", &question, given, missing, |text| match text {
        "" if given.is_none() => Ok(default.parse()?),
        text => Ok(text.parse()?),
    })
}

/// The project's name after the package that is there, or what would be nearest.
fn package_name(root: &Path) -> Option<ProjectName> {
    let text = std::fs::read_to_string(root.join("Cargo.toml")).ok()?;
    let manifest = text.parse::<toml_edit::DocumentMut>().ok()?;
    let name = manifest.get("package")?.get("name")?.as_str()?;
    let nearest = |invalid: Invalid| invalid.suggestion?.parse().ok();
    name.parse().map_or_else(nearest, Some)
}

/// The directory's own name in lower case, as kubebuilder takes it.
fn directory_name(root: &Path) -> Result<ProjectName> {
    let name = tree::full(root)
        .file_name()
        .map(|name| name.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    name.parse().map_err(|invalid| {
        Failure::from(invalid).note("without `--project-name` it is what the directory is called")
    })
}

/// The text of `--license-file`, which is relative to where the command works.
pub fn header(
    flags: &Global,
    license: Option<&str>,
    file: Option<&Path>,
) -> Result<Option<Header>> {
    let Some(file) = file else { return Ok(None) };
    if let Some(license) = license {
        return Err(
            Failure::usage(format!("`--license {license}` beside `--license-file`"))
                .note("the file's text is the header, of whatever license it is")
                .advise(Advice::drop("--license")),
        );
    }
    let text = std::fs::read_to_string(flags.directory.join(file)).map_err(|error| {
        Failure::refused(format!(
            "cannot read `--license-file {}`: {error}",
            file.display()
        ))
        .note("it holds the comment that begins every source file")
        .advise(Advice::set("--license", "apache2"))
    })?;
    let commented = |invalid: Invalid| {
        let beside = |path: &Path| format!("{}.comment", path.display());
        let from = flags.directory.join(file);
        let from = from.strip_prefix(".").unwrap_or(&from);
        let comment = Script::anywhere("sed 's|^|// |'").path(from.to_string_lossy());
        Failure::refused("the license file is not a Rust comment")
            .note("it goes to the top of each Rust file as it is")
            .note(invalid.rule)
            .advise(comment.code(">").path(beside(from)))
            .advise(Advice::set("--license-file", beside(file)))
    };
    text.parse().map_err(commented).map(Some)
}
