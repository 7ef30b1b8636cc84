//! The CRDs of a Go project: those that the command line names, or those that its files hold.

use std::path::Path;

use kubebuilder_port::{Definitions, Files};

use crate::{
    advice::Advice,
    definitions::{self, Manifest},
    engine::crd_files,
    error::{Failure, Result},
};

/// The CRDs in the directories `named` by the command line, seen from `base`; without any, in the places where such projects have
/// them.
///
/// Errors: a directory that is named does not exist, or a file in it cannot be read.
pub fn search(files: &Files, base: &Path, named: &[String]) -> Result<Definitions> {
    let mut all = Definitions::default();
    for directory in named {
        let files = crd_files::read(base, directory)?.ok_or_else(|| no_directory(directory))?;
        for file in &files {
            all.add(
                &file.source,
                definitions::values(std::slice::from_ref(file))?,
            );
        }
    }
    if !named.is_empty() {
        return Ok(all);
    }
    for (path, text) in files.definitions() {
        let file = Manifest {
            source: path.to_owned(),
            bytes: text.as_bytes().to_vec(),
        };
        match definitions::values(&[file]) {
            Ok(values) => all.add(path, values),
            Err(error) if text.contains("CustomResourceDefinition") => {
                all.unreadable.insert(path.to_owned(), error.to_string());
            }
            // Templates and broken files of other kinds.
            Err(_) => {}
        }
    }
    Ok(all)
}

fn no_directory(directory: &str) -> Failure {
    Failure::refused(format!("no file or directory `{directory}`"))
        .note("`--crds` names a file or a directory with CRDs of the Go project")
        .advise(Advice::drop("--crds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crd(name: &str, more: &str) -> String {
        let (plural, group) = name.split_once('.').unwrap();
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {name}}}\n\
             spec: {{group: {group}, names: {{kind: Box, plural: {plural}}}, versions: [{{name: v1, storage: true}}]{more}}}\n"
        )
    }

    #[test]
    fn the_nearest_of_several_places_is_right() {
        let boxes = crd("boxes.example.com", "");
        let other = crd("boxes.example.com", ", scope: Cluster");
        let patch = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: boxes.example.com}\n\
                     spec: {conversion: {strategy: Webhook}}\n";
        let texts = [
            ("charts/a/crds/boxes.yaml", boxes.as_str()),
            (
                "charts/a/templates/crd.yaml",
                "{{ broken CustomResourceDefinition",
            ),
            ("config/crd/bases/boxes.yaml", &boxes),
            ("config/crd/patches/webhook.yaml", patch),
            (
                "config/crd/kustomization.yaml",
                "patches: [{path: patches/webhook.yaml}]\n",
            ),
            (
                "config/crd/patches/unused.yaml",
                &patch.replace("boxes", "jars"),
            ),
            ("config/samples/crd.yaml", &crd("samples.example.com", "")),
            (
                "config/extra/a.yaml",
                "{{ a template of a CustomResourceDefinition",
            ),
            ("deploy/boxes.yaml", &other),
            ("deploy/jars.yaml", &crd("jars.example.com", "")),
            ("deploy/template.yaml", "{{ a: b"),
        ];
        let own = texts.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let all = search(&Files::read(own), Path::new("."), &[]).unwrap();
        let found: Vec<_> = all
            .found
            .iter()
            .map(|(name, it)| (name.as_str(), it.file.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("boxes.example.com", "config/crd/bases/boxes.yaml"),
                ("jars.example.com", "deploy/jars.yaml"),
            ]
        );
        assert_eq!(
            all.differing,
            [
                "`boxes.example.com` of `deploy/boxes.yaml` differs from that of `config/crd/bases/boxes.yaml`, which is taken"
            ]
        );
        assert_eq!(all.converted, ["boxes.example.com"]);
        let unreadable: Vec<_> = all.unreadable.keys().collect();
        assert_eq!(
            unreadable,
            ["charts/a/templates/crd.yaml", "config/extra/a.yaml"]
        );
    }
}
