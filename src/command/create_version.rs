//! `create api --from-version`: the files of the new version start as copies of the old ones.

use std::path::Path;

use guarded_yaml as yaml;

use crate::{
    advice::{Advice, NextStep, Script},
    engine::{Request, Workspace, next},
    error::{Failure, Result},
    name::{parse_flag, rust},
    plan::NamedFiles,
    project::{CreateApi, Key, NewVersion},
    syntax::{self, Conversion},
    template,
    tree::{self, Content, Found, RelPath},
};

pub fn run(
    workspace: &Workspace,
    create: &CreateApi,
    from: &str,
    mut remarks: Vec<String>,
) -> Result<Request> {
    let from = parse_flag("--from-version", from)?;
    let version = workspace.project.create_version(create, from)?;
    let mut created = copies(&workspace.root, &version, &mut remarks)?;
    let conversion = conversion(&version, &created)?;
    let mut files = template::files_of(&version.project, &version.to, create)?;
    files.extend(template::files_of_webhook(
        &version.project,
        &version.target,
    )?);
    let (kind, to) = (&version.to.kind, version.to.version);
    let mut steps = Vec::new();
    for path in files.iter().map(RelPath::as_str) {
        let what = match conversion {
            _ if path.starts_with("src/api/") => {
                format!("change the fields of {to} that differ from {from}")
            }
            _ if path.starts_with("config/samples/") => format!("write a sample of {to}"),
            _ if !path.starts_with("src/webhooks/") => continue,
            Some(_) => "adapt the conversion".to_owned(),
            None => "write the conversion of every field".to_owned(),
        };
        steps.push(NextStep::by_hand(format!("{what} in {path}")));
    }
    steps.push(next::manifests());
    let kinds = version.project.kinds().into_iter();
    let mut storing = kinds.filter(|kind| kind.storage == to);
    if storing.any(|kind| kind.apis.iter().any(|api| *api.key == version.to)) {
        steps.push(NextStep::new(
            format!("after {to} is deployed everywhere, rewrite every stored {kind} in {to}:"),
            Script::of("make migrate-storage"),
        ));
    }
    created.extend(conversion);
    Ok(Request {
        named: NamedFiles {
            created,
            ..NamedFiles::default()
        },
        forced: if create.force { files } else { [].into() },
        remarks,
        next: steps,
        ..Request::of("create api", version.project)
    })
}

/// The types with the new version in their attribute, and the sample with the new `apiVersion`.
fn copies(
    root: &Path,
    version: &NewVersion,
    remarks: &mut Vec<String>,
) -> Result<Vec<(RelPath, Content)>> {
    let NewVersion {
        project, from, to, ..
    } = version;
    let mut copies = Vec::new();
    let files = template::files_of_api(project, from)?.into_iter();
    for (old, new) in files.zip(template::files_of_api(project, to)?) {
        let text = match tree::find(root, &old)? {
            Found::File(bytes) => String::from_utf8(bytes).ok(),
            _ => None,
        };
        let is_code = old.extension() == "rs";
        let text = match text {
            Some(text) if is_code => {
                syntax::set_version(&text, to.kind.as_str(), &to.version.to_string())
                    .map_err(|error| not_copied(&old, next::why_not_edited(error)))?
            }
            None if is_code => {
                return Err(not_copied(&old, "it was deleted, or is no text".to_owned()));
            }
            // The schemas of types from a CRD.
            Some(text) if old.extension() == "json" => text,
            Some(text) => {
                let value = |version| format!("{}/{version}", to.api_group(false));
                let (was, is) = (value(from.version), value(to.version));
                let named = yaml::with_name(&text, |name| other_name(name, from, to));
                let text = named.unwrap_or(text);
                yaml::with_value(&text, "apiVersion", &was, &is).unwrap_or_else(|| {
                    remarks.push(format!(
                        "`{new}` is a copy of `{old}`, which has no line `apiVersion: {was}`; check that it has `{is}`"
                    ));
                    text
                })
            }
            None => continue,
        };
        copies.push((new, Content::from(text.into_bytes())));
    }
    Ok(copies)
}

/// The name of the object in the copy of a sample: of two objects with one name, the second would replace the first.
fn other_name(name: &str, from: &Key, to: &Key) -> String {
    let end = format!("-{}", from.version);
    match name {
        name if name == from.sample_name() => to.sample_name(),
        name => format!("{}-{}", name.strip_suffix(&end).unwrap_or(name), to.version),
    }
}

/// The conversion between the copy and its original with every field, if one of them is the hub.
fn conversion(
    version: &NewVersion,
    copies: &[(RelPath, Content)],
) -> Result<Option<(RelPath, Content)>> {
    let (from, to) = (version.from.version, version.to.version);
    let spoke = match version.target.key.version {
        hub if hub == to => from,
        hub if hub == from => to,
        _ => return Ok(None),
    };
    let types = copies.iter().find(|(path, _)| path.extension() == "rs");
    let fields = types.and_then(|(_, types)| {
        let types = String::from_utf8_lossy(types);
        Conversion::of(&types, &rust::type_name(&version.to.kind))
    });
    let Some(fields) = fields else {
        return Ok(None);
    };
    let spoke = Key {
        version: spoke,
        ..version.target.key.clone()
    };
    let file = template::conversion(&version.project, &spoke, fields)?;
    Ok(file.map(|(path, file)| (path, file.content)))
}

fn not_copied(path: &RelPath, why: String) -> Failure {
    Failure::refused(format!("cannot copy the types in `{path}`"))
        .note(why)
        .note("without `--from-version` the new version starts empty, and you copy what you want to keep")
        .advise(Advice::drop("--from-version"))
}
