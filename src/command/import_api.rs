//! `create api --from-crd`: types that are generated from the CRDs in files.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crd_types::Crd;
use serde_json::Value;

use crate::{
    advice::{Advice, NextStep, Script},
    cli::Api,
    definitions,
    engine::{Request, Workspace, conversions, crd_files, next},
    error::{Failure, Result},
    name::{self, CrdName, Invalid, ShortName, Version, kubernetes::KubernetesVersion},
    plan::NamedFiles,
    project::{Definition, Import, Key, Project},
    template,
    tree::{Content, RelPath},
};

/// How many permissions a report names.
const NAMED: usize = 5;

pub fn run(
    workspace: &Workspace,
    api: &Api,
    source: &str,
    mut remarks: Vec<String>,
) -> Result<Request> {
    refuse_flags(api)?;
    let imports = imports(workspace, api, source, &mut remarks)?;
    let before = &workspace.project;
    let mut project = before.clone();
    let (mut created, mut updated) = (Vec::new(), Vec::new());
    let mut newest = None;
    for import in &imports {
        let imported = project.import(import)?;
        project = imported.project;
        created.extend(imported.created);
        updated.extend(imported.updated);
        newest.get_or_insert(imported.newest);
    }
    if let (true, true, Some(key)) = (created.is_empty(), updated.is_empty(), newest) {
        return Err(Failure::refused(format!(
            "`{key}` exists already, with the types of this CRD"
        ))
        .note("a CRD that has changed since updates the types, and keeps your edits")
        .advise(Script::forge("status")));
    }
    let (project, conversions) = conversions(project, &created)?;
    let losses = losses(&project, created.iter().chain(&updated));
    remarks.extend(losses.clone());
    remarks.extend(older_types(&project));
    Ok(Request {
        named: NamedFiles {
            updated: former(before, &project, &updated)?,
            ..NamedFiles::default()
        },
        next: steps(before, &project, &created, &updated, conversions),
        remarks,
        left: losses,
        ..Request::of("create api", project)
    })
}

/// A remark about types of Kubernetes in imported CRDs, which are recognized by the fields that the newest version has.
pub fn older_types(project: &Project) -> Option<String> {
    let version = project.kubernetes();
    let mut entries = project.resources();
    let is_imported = entries.any(|(_, resource)| resource.source.is_some());
    (is_imported && version < KubernetesVersion::NEWEST).then(|| {
        format!(
            "where an imported CRD embeds types of Kubernetes, fields that are newer than {version} are missing: after `make manifests`, \
             `operator-forge check --crds ORIGINAL` lists them"
        )
    })
}

/// Refuses `--external` without a CRD.
pub fn refuse_external(api: &Api) -> Result<()> {
    match api.external {
        None | Some(false) => Ok(()),
        Some(true) => Err(Failure::usage("`--external` is given without `--from-crd`")
            .note("it says that the CRD belongs to another project")
            .note("for a type in a crate, `--external-api-path` names the type")
            .advise(Advice::set("--from-crd", "crds.yaml"))),
    }
}

/// Refuses flags for what the CRD says.
fn refuse_flags(api: &Api) -> Result<()> {
    let given = [
        ("--plural", api.plural.is_some()),
        ("--namespaced", api.namespaced.is_some()),
        ("--short-name", !api.short_name.is_empty()),
        ("--field", !api.field.is_empty()),
        ("--status-field", !api.status_field.is_empty()),
        ("--from-version", api.from_version.is_some()),
        ("--controller-name", api.controller_name.is_some()),
        ("--finalizer", api.finalizer.is_some()),
        ("--image", api.image.image.is_some()),
    ];
    let given: Vec<_> = given.into_iter().chain(of_others(api)).collect();
    let why = "names, scope, versions and fields come from the CRD; the controller is the default one of the kind";
    refuse_beside("--from-crd", &given, why)
}

/// Refuses the first flag that is given beside `with`, which decides what the flag would say.
pub fn refuse_beside(with: &str, given: &[(&str, bool)], why: &str) -> Result<()> {
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::usage(format!("`{flag}` is given with `{with}`"))
            .note(why)
            .advise(Advice::drop(*flag))),
    }
}

/// The flags for what a chart, role or playbook decides, and whether each is given.
pub fn decided_by_recipe(api: &Api) -> [(&'static str, bool); 9] {
    [
        ("--from-crd", api.from_crd.is_some()),
        ("--external", api.external.is_some()),
        ("--field", !api.field.is_empty()),
        ("--status-field", !api.status_field.is_empty()),
        ("--controller", api.controller.is_some()),
        ("--controller-name", api.controller_name.is_some()),
        ("--finalizer", api.finalizer.is_some()),
        ("--image", api.image.image.is_some()),
        ("--from-version", api.from_version.is_some()),
    ]
}

/// The flags for a kind that another project defines, and whether each is given.
pub fn of_others(api: &Api) -> [(&'static str, bool); 3] {
    let of_crate = &api.crate_type;
    [
        ("--resource", api.resource.is_some()),
        ("--external-api-path", of_crate.external_api_path.is_some()),
        (
            "--external-api-domain",
            of_crate.external_api_domain.is_some(),
        ),
    ]
}

/// Remarks about permissions: the first ones, and how many more there are.
pub fn permissions(notes: &[String]) -> Vec<String> {
    let more = notes.len().saturating_sub(NAMED);
    let shown = notes.iter().take(NAMED);
    let shown = shown.map(|note| format!("permissions: {}", note.trim_end_matches('.')));
    let more = (more > 0).then(|| format!("permissions: and {more} more"));
    shown.chain(more).collect()
}

/// The CRDs of `--from-crd` that the other flags select.
fn imports(
    workspace: &Workspace,
    api: &Api,
    source: &str,
    remarks: &mut Vec<String>,
) -> Result<Vec<Import>> {
    let files = crd_files::read(&workspace.root, source)?;
    let files = files.ok_or_else(|| {
        Failure::refused(format!("no file or directory `{source}`"))
            .note("`--from-crd` names a file or a directory with CRDs, or `-` for standard input")
            .advise(Advice::Help)
    })?;
    let values = definitions::values(&files)?;
    if values.is_empty() {
        return Err(
            Failure::refused(format!("no CustomResourceDefinition in `{source}`"))
                .note("`kubectl get crd NAME -o yaml` prints one of a cluster, and `-` reads it")
                .advise(Script::anywhere("kubectl get crd")),
        );
    }
    let mut imports = Vec::new();
    let mut others = Vec::new();
    for (name, value) in &values {
        let crd = crd_types::read(value).map_err(|error| without_types(name, &error))?;
        match is_selected(api, &crd) {
            true => imports.push(import(workspace, api, name, value, &crd, remarks)?),
            false => others.push((name.as_str(), crd.names.kind)),
        }
    }
    if imports.is_empty() {
        let there = others.iter().take(8);
        let there = there.map(|(name, kind)| format!("`{name}` (Kind {kind})"));
        let there = there.collect::<Vec<_>>().join(", ");
        let kinds = others.iter().map(|(_, kind)| kind.as_str());
        let meant = api.of.kind.as_deref();
        let meant = meant.and_then(|kind| name::nearest(kind, kinds));
        return Err(
            Failure::refused(format!("no CRD in `{source}` is selected"))
                .note(format!("it has {there}"))
                .note("`--group`, `--kind` and `--version` select some of them")
                .advise(match meant {
                    Some(kind) => Advice::set("--kind", kind),
                    None => Advice::Drop(vec!["--group".to_owned(), "--kind".to_owned()]),
                }),
        );
    }
    Ok(imports)
}

/// Whether a CRD has the group and the kind of the flags. `cert-manager` and `cert-manager.io` are both the group of
/// `certificates.cert-manager.io`.
fn is_selected(api: &Api, crd: &Crd) -> bool {
    let is_group = |group: &str| {
        let rest = crd.group.strip_prefix(group);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let is_kind = |kind: &str| kind == crd.names.kind;
    let (group, kind) = (api.of.group.as_deref(), api.of.kind.as_deref());
    group.is_none_or(is_group) && kind.is_none_or(is_kind)
}

fn import(
    workspace: &Workspace,
    api: &Api,
    name: &str,
    value: &Value,
    crd: &Crd,
    remarks: &mut Vec<String>,
) -> Result<Import> {
    let wanted = api.of.version.as_deref();
    let known = workspace.project.sources();
    let known = known.filter(|(_, source)| source.name.as_str() == name);
    let known: Vec<String> = known.map(|(key, _)| key.version.to_string()).collect();
    let is_served = crd.versions.iter().any(|version| version.served);
    let is_wanted = |version: &crd_types::Version| match wanted {
        Some(wanted) => wanted == version.name,
        None => is_served && is_used(version) || known.contains(&version.name),
    };
    let import = of_crd(name, value, crd, is_wanted)?;
    if wanted.is_none() {
        let left_out = crd.versions.iter().filter(|version| !is_wanted(version));
        remarks.extend(left_out.map(|version| {
            format!(
                "`{name}` does not serve {}, which is left out; `--version {}` adds it",
                version.name, version.name
            )
        }));
    }
    if import.versions.is_empty() {
        let there = crd.versions.iter().map(|version| version.name.as_str());
        let there = there.collect::<Vec<_>>();
        let failure = Failure::refused(match wanted {
            Some(wanted) => format!("`{name}` has no version `{wanted}`"),
            None => format!("`{name}` serves none of its versions"),
        });
        return Err(failure
            .note(format!("it has {}", there.join(", ")))
            .advise(Advice::set("--version", there[there.len() - 1])));
    }
    Ok(Import {
        group: api.of.group.as_deref().map(str::parse).transpose()?,
        external: api.external.unwrap_or_default(),
        controller: api.controller,
        force: api.force,
        ..import
    })
}

/// Whether clients or etcd use a version.
pub fn is_used(version: &crd_types::Version) -> bool {
    version.served || version.storage
}

/// The versions of a CRD that are wanted; the project takes it over.
pub fn of_crd(
    name: &str,
    value: &Value,
    crd: &Crd,
    is_wanted: impl Fn(&crd_types::Version) -> bool,
) -> Result<Import> {
    let invalid = |invalid: Invalid| invalid_name(name, invalid);
    let mut versions = BTreeMap::new();
    for version in crd.versions.iter().filter(|it| is_wanted(it)) {
        let parsed: Version = version.name.parse().map_err(invalid)?;
        let definition = Definition::of(value, &version.name);
        let definition = definition.map_err(|error| without_types(name, &error))?;
        versions.insert(parsed, Arc::new(definition));
    }
    let short_names = crd.names.short.iter().map(|name| name.parse());
    Ok(Import {
        name: name.parse::<CrdName>().map_err(invalid)?,
        group: None,
        kind: crd.names.kind.parse().map_err(invalid)?,
        plural: crd.names.plural.parse().map_err(invalid)?,
        short_names: short_names
            .collect::<Result<Vec<ShortName>, _>>()
            .map_err(invalid)?,
        versions,
        external: false,
        controller: None,
        force: false,
    })
}

/// The refusal of a CRD that no types can be generated from.
fn without_types(name: &str, error: &crd_types::Error) -> Failure {
    Failure::refused(format!("cannot generate types from `{name}`: {error}"))
        .note("the API server would refuse this CRD, too; `--kind` selects others")
        .advise(Script::anywhere(
            "kubectl explain customresourcedefinition.spec.versions",
        ))
}

/// The refusal of a CRD with a name that a project cannot have.
fn invalid_name(crd: &str, invalid: Invalid) -> Failure {
    let Invalid {
        what, found, fault, ..
    } = invalid;
    Failure::refused(format!("`{crd}` has the {what} `{found}`: {fault}"))
        .note(invalid.rule)
        .note("`--kind` and `--version` select others")
        .advise(Advice::Help)
}

/// What the CRDs of the types will lack.
pub fn losses<'a>(project: &Project, keys: impl Iterator<Item = &'a Key>) -> Vec<String> {
    let (mut losses, mut seen) = (Vec::new(), BTreeSet::new());
    for key in keys {
        if let Some(resource) = project.resource(key)
            && let Some(definition) = resource.definition()
        {
            let of_key = &definition.types(key, resource).losses;
            let of_key = of_key.iter().map(|loss| format!("{}: {loss}", key.kind));
            // What is lost of the names is lost once.
            losses.extend(of_key.filter(|loss| seen.insert(loss.clone())));
        }
    }
    losses
}

/// The texts that were generated from the definitions before, of the files that change with them.
fn former(
    before: &Project,
    after: &Project,
    updated: &[Key],
) -> Result<BTreeMap<RelPath, Content>> {
    let mut former = BTreeMap::new();
    for key in updated {
        let files = template::changed(before, after, key)?.into_iter();
        former.extend(files.map(|(path, (was, _))| (path, was)));
    }
    Ok(former)
}

/// Adds the conversions that the CRDs of new versions ask for, and returns the steps for those that a person has to write.
fn conversions(mut project: Project, created: &[Key]) -> Result<(Project, Vec<NextStep>)> {
    let mut steps = Vec::new();
    for key in created {
        let resource = project.resource(key).filter(|it| it.api.is_some());
        let definition = resource.and_then(|it| it.definition());
        let asks = definition.is_some_and(|it| it.crd().conversion == "Webhook");
        // With the conversions of the first of its versions, a kind has all of them.
        let is_first = created.iter().find(|it| it.is_same_kind(key)) == Some(key);
        let Some(version) = project.storage_of(key).filter(|_| asks && is_first) else {
            continue;
        };
        let hub = key.in_version(version);
        let spokes = project.unconverted(&hub);
        let (after, left) = conversions::convert(&project, &hub, &spokes)?;
        project = after;
        for spoke in spokes.iter().filter(|_| left.is_empty()) {
            let file = conversions::file(&project, &hub, *spoke)?;
            steps.extend(file.map(|path| {
                NextStep::by_hand(format!("compare {path} with the former conversion"))
            }));
        }
        steps.extend(left);
    }
    Ok((project, steps))
}

fn steps(
    before: &Project,
    project: &Project,
    created: &[Key],
    updated: &[Key],
    conversions: Vec<NextStep>,
) -> Vec<NextStep> {
    let mut steps = Vec::new();
    let was: Vec<String> = before.controllers().iter().map(|it| it.path()).collect();
    let controllers = project.controllers();
    let paths = controllers.iter().map(|controller| controller.path());
    let new = paths.filter(|path| !was.contains(path));
    steps.extend(
        new.map(|path| NextStep::by_hand(format!("write the reconcile function in {path}"))),
    );
    for key in created {
        let resource = project.resource(key);
        if let Some(path) = resource.and_then(|it| it.external.as_ref()) {
            steps.push(NextStep::by_hand(format!("use {} as {path}", key.kind)));
        }
    }
    steps.extend(conversions);
    if !updated.is_empty() {
        steps.push(NextStep::new(
            "after `make manifests`, see what breaks for stored objects and clients:",
            Script::forge("check --crds HEAD"),
        ));
    }
    steps.push(next::manifests());
    steps
}
