//! `create api --from-version`: the files of the new version start as copies of the old one's.

use std::{collections::BTreeSet, path::Path};

use crate::{
    advice::{Advice, NextStep, Script},
    cli::Global,
    engine::{Request, Workspace, reconcile},
    error::{Failure, Result},
    name::rust,
    plan::NamedFiles,
    project::{CreateApi, Key, NewVersion, Project},
    refusal,
    report::Report,
    syntax::{self, Conversion},
    template,
    tree::{self, Content, Found, RelPath},
    yaml,
};

pub fn run(
    flags: &Global,
    (workspace, before): (&Workspace, &Project),
    (request, from): (&CreateApi, &str),
    mut remarks: Vec<String>,
    report: &Report,
) -> Result<u8> {
    let flag = "--from-version";
    let from = from
        .parse()
        .map_err(|invalid| refusal::of_flag(flag, invalid))?;
    let version = before.create_version(request, from)?;
    let copies = copies(&workspace.root, &version, &mut remarks)?;
    let conversion = conversion(&version, &copies)?;
    let converted = conversion.is_some();
    let named = NamedFiles {
        created: copies.into_iter().chain(conversion).collect(),
        ..NamedFiles::default()
    };
    let NewVersion {
        project,
        conversion,
        target,
        ..
    } = &version;
    let mut files = template::files_of(project, request)?;
    files.extend(template::files_of_webhook(project, conversion, target)?);
    let next = next(&version, &files, converted);
    let request = Request {
        named,
        forced: if request.force {
            files
        } else {
            BTreeSet::new()
        },
        remarks,
        next,
        ..Request::of("create api", version.project)
    };
    reconcile(workspace, &request, flags, report)
}

/// The types with the new version in their attribute, and the sample with it in its `apiVersion`.
fn copies(
    root: &Path,
    version: &NewVersion,
    remarks: &mut Vec<String>,
) -> Result<Vec<(RelPath, Content)>> {
    let NewVersion {
        project, from, to, ..
    } = version;
    let mut copies = Vec::new();
    for (old, new) in template::files_of_api(project, from)?
        .into_iter()
        .zip(template::files_of_api(project, to)?)
    {
        let text = match tree::find(root, &old)? {
            Found::File(bytes) => String::from_utf8(bytes).ok(),
            _ => None,
        };
        let text = match (text, old.extension()) {
            (Some(text), "rs") => {
                syntax::set_version(&text, to.kind.as_str(), &to.version.to_string()).map_err(
                    |fault| {
                        let why = match fault {
                    syntax::Error::NoAttribute => {
                        "it has no `#[kube(…)]` with that kind, and with its version as a string"
                            .to_owned()
                    }
                    syntax::Error::Unparsable { line, why, .. } => format!("line {line}: {why}"),
                };
                        not_copied(&old, why)
                    },
                )?
            }
            (None, "rs") => return Err(not_copied(&old, "it is gone, or no text".to_owned())),
            (Some(text), _) => {
                let value = |version| format!("{}/{version}", to.api_group(false));
                let (was, is) = (value(from.version), value(to.version));
                yaml::with_value(&text, "apiVersion", &was, &is).unwrap_or_else(|| {
                    remarks.push(format!(
                        "`{new}` is the same as `{old}`, in which no line says `apiVersion: {was}`; see that it says `{is}`"
                    ));
                    text
                })
            }
            (None, _) => continue,
        };
        copies.push((new, Content::from(text.into_bytes())));
    }
    Ok(copies)
}

/// The conversion between the copy and its original, if one of them is the hub, with every field named.
fn conversion(
    version: &NewVersion,
    copies: &[(RelPath, Content)],
) -> Result<Option<(RelPath, Content)>> {
    let NewVersion {
        project,
        from,
        to,
        conversion,
        target,
    } = version;
    let hub = conversion.version;
    let spoke = match (hub == to.version, hub == from.version) {
        (true, _) => from.version,
        (_, true) => to.version,
        _ => return Ok(None),
    };
    let types = copies.iter().find(|(path, _)| path.extension() == "rs");
    let Some((_, types)) = types else {
        return Ok(None);
    };
    let types = String::from_utf8_lossy(types);
    let Some(fields) = Conversion::of(&types, &rust::type_name(&to.kind)) else {
        return Ok(None);
    };
    let spoke = Key {
        version: spoke,
        ..target.key.clone()
    };
    let file = template::conversion(project, &spoke, fields)?;
    Ok(file.map(|(path, file)| (path, file.content)))
}

fn not_copied(path: &RelPath, why: String) -> Failure {
    Failure::refused(format!("cannot copy the types in `{path}`"))
        .note(why)
        .note(
            "without `--from-version` the version starts empty, and you copy what you want to keep",
        )
        .advise(Advice::drop("--from-version"))
}

fn next(version: &NewVersion, files: &BTreeSet<RelPath>, converted: bool) -> Vec<NextStep> {
    let (from, to) = (version.from.version, version.to.version);
    let mut next = Vec::new();
    for path in files.iter().map(|path| path.as_str()) {
        if path.starts_with("src/api/") {
            next.push(NextStep::by_hand(format!(
                "change what {to} has otherwise than {from}, in {path}"
            )));
        } else if path.starts_with("src/webhooks/") {
            let what = match converted {
                true => "change the conversion like it",
                false => "name every field that is converted",
            };
            next.push(NextStep::by_hand(format!("{what}, in {path}")));
        }
    }
    let kinds = version.project.kinds();
    let kind = kinds
        .iter()
        .find(|kind| kind.apis.iter().any(|api| *api.key == version.to));
    if let Some(kind) = kind.filter(|kind| kind.storage == to) {
        next.push(NextStep::new(
            format!(
                "when it is deployed everywhere, store every {} in {}:",
                version.to.kind, kind.storage
            ),
            Script::of("make migrate-storage"),
        ));
    }
    next.push(NextStep::new(
        "derive CRDs and webhook configurations, then test:",
        Script::of("make manifests && make test"),
    ));
    next
}
