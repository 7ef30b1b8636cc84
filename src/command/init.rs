//! `init`: a new project.

mod adopt;
mod origin;

use std::{io, path::Path};

use self::origin::Origin;
use crate::{
    advice::{Advice, NextStep, Script},
    arguments::{plugins, runtime},
    cli::{Global, Init, Vcs},
    engine::{Request, Workspace, around::refuse_nested, reconcile, refuse_existing},
    error::{Failure, Result},
    git,
    name::{Domain, Invalid, ProjectName},
    project::{Header, InitOptions, Plugin, PluginEdit, Project, Runtime},
    prompt::Prompt,
    reconcile::LastApplied,
    report::Report,
    template, tree,
};

pub fn run(flags: &Global, init: &Init, prompt: Prompt<'_>, report: &Report) -> Result<u8> {
    let root = init.root(flags);
    let mut remarks = init.foreign.remarks();
    let from = Origin::open(flags, init, &root)?;
    refuse_existing(&root)?;
    if !init.nested {
        refuse_nested(&root)?;
    }
    if init.domain.is_none() && from.is_none() && !prompt.is_allowed() {
        let domain = Domain::DEFAULT;
        remarks.push(format!(
            "the domain is `{domain}`, because `--domain` is missing: it is part of every API group, and cannot change later"
        ));
    }
    let project = Project::init(options(flags, &root, init, from.as_ref(), prompt)?);
    if project.plugins().contains(&Plugin::Helm) {
        remarks.push(
            "the plugin `helm` packages the operator itself; a kind whose objects are releases of a chart: `operator-forge create api \
             --helm-chart CHART`"
                .to_owned(),
        );
    }
    let mut request = match &from {
        Some(from) => from.request(flags, init, &root, project)?,
        None => Request {
            next: vec![NextStep::new(
                "add an API:",
                Script::forge("create api --group cache --version v1alpha1 --kind Memcached"),
            )],
            ..Request::of("init", project)
        },
    };
    let desired = template::tree(&request.project)?;
    if let Some(from) = &from {
        from.refuse_overlap(&root, &desired)?;
    }
    let adopted = adopt::adopt(&root, &desired)?;
    remarks.append(&mut request.remarks);
    remarks.extend(adopted.remarks);
    remarks.extend(runtime::outer_workspace(&root, &request.project));
    request.remarks = remarks;
    request.forced = adopted.replaced.into_iter().collect();
    let kept = adopted.kept.into_iter();
    let kept = kept.map(|path| (path.clone(), LastApplied::of_file(&path, &desired[&path])));
    request.adopted = kept.collect();
    request.explain = Some(adopt::explain);
    if root != Path::new(".") {
        let shown = root.strip_prefix(".").unwrap_or(&root).to_string_lossy();
        let step = NextStep::new("enter the project:", Script::anywhere("cd").path(shown));
        request.next.insert(0, step);
    }
    let makes_repository =
        init.vcs == Vcs::Git && !flags.dry_run && !git::is_inside_repository(&root);
    let workspace = Workspace::fresh(&root, request.project.clone());
    let code = reconcile(&workspace, &request, flags, report)?;
    if makes_repository {
        git::init(&root).map_err(|why| {
            let again = Script::anywhere("git -C").path(root.to_string_lossy());
            Failure::refused(format!(
                "the project was created, but `git init` failed: {why}"
            ))
            .advise(again.code("init"))
        })?;
    }
    Ok(code)
}

fn options(
    flags: &Global,
    root: &Path,
    init: &Init,
    from: Option<&Origin>,
    prompt: Prompt<'_>,
) -> Result<InitOptions> {
    Ok(InitOptions {
        domain: match (&init.domain, from) {
            (None, Some(from)) => from.domain()?.parse()?,
            (given, _) => domain(given.as_deref(), prompt)?,
        },
        name: match (&init.project_name, from.and_then(Origin::project_name)) {
            (Some(name), _) | (None, Some(name)) => name.parse()?,
            (None, None) => match package_name(root) {
                Some(name) => name,
                None => directory_name(from.map_or(root, Origin::directory))?,
            },
        },
        owner: init.owner.as_deref().unwrap_or_default().parse()?,
        license: init.license.as_deref().unwrap_or("apache2").parse()?,
        header: header(flags, init.license.as_deref(), init.license_file.as_deref())?,
        namespaced: init
            .namespaced
            .unwrap_or(from.is_some_and(Origin::namespaced)),
        runtime: match &init.runtime {
            Some(text) => runtime::parse(root, text)?,
            None => Runtime::of_this_build(),
        },
        kubernetes: init.kubernetes.as_deref().map(str::parse).transpose()?,
        crypto: init.crypto.unwrap_or_default(),
        shards: init.shards,
        plugins: match &init.plugins[..] {
            // A command line with a domain asks nothing: it is often pasted.
            [] if prompt.has_boxes() && init.domain.is_none() && from.is_none() => {
                plugins::ask(prompt, |_| false)?
            }
            given => PluginEdit::parse(given)?,
        },
    })
}

/// The domain. It cannot change later, so a command without `--domain` asks for it.
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

/// The name of an existing package, or the nearest valid project name.
fn package_name(root: &Path) -> Option<ProjectName> {
    let manifest = runtime::manifest(root)?;
    let name = manifest.get("package")?.get("name")?.as_str()?;
    let nearest = |invalid: Invalid| invalid.suggestion?.parse().ok();
    name.parse().map_or_else(nearest, Some)
}

/// The name of the directory in lower case, as in kubebuilder.
fn directory_name(root: &Path) -> Result<ProjectName> {
    let name = tree::full(root)
        .file_name()
        .map(|name| name.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    name.parse().map_err(|invalid| {
        Failure::from(invalid)
            .note("without `--project-name`, the project has the name of its directory")
    })
}

/// The text of `--license-file`, a path relative to the project.
pub fn header(
    flags: &Global,
    license: Option<&str>,
    file: Option<&Path>,
) -> Result<Option<Header>> {
    let Some(file) = file else { return Ok(None) };
    if let Some(license) = license {
        return Err(
            Failure::usage(format!("`--license {license}` beside `--license-file`"))
                .note("the file holds the whole header, so it needs no license")
                .advise(Advice::drop("--license")),
        );
    }
    let text = tree::read(&flags.directory.join(file)).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
    });
    let text = text.map_err(|error| {
        Failure::refused(format!(
            "cannot read `--license-file {}`: {error}",
            file.display()
        ))
        .note("it holds the comment at the top of every source file")
        .advise(Advice::set("--license", "apache2"))
    })?;
    let commented = |invalid: Invalid| {
        let beside = |path: &Path| format!("{}.comment", path.display());
        let from = flags.directory.join(file);
        let from = from.strip_prefix(".").unwrap_or(&from);
        let comment = Script::anywhere("sed 's|^|// |'").path(from.to_string_lossy());
        Failure::refused("the license file is not a Rust comment")
            .note("its text is copied to the top of each Rust file")
            .note(invalid.rule)
            .advise(comment.code(">").path(beside(from)))
            .advise(Advice::set("--license-file", beside(file)))
    };
    text.parse().map_err(commented).map(Some)
}
