//! The real files that are changed: those of the snapshots, which the tool itself has made, and Go projects.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use operator_forge::{memory, name::Version, project::Definition};
use walkdir::WalkDir;

/// A text is worth mutating while most of its places are about different things.
const LONGEST: u64 = 12_000;

/// The files below `folder` that are wanted by their path, each text once.
pub fn files(folder: &str, wanted: impl Fn(&str) -> bool) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut texts: Vec<Vec<u8>> = WalkDir::new(&root)
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.expect("a readable folder"))
        .filter(|entry| {
            entry.file_type().is_file()
                && entry.metadata().is_ok_and(|about| about.len() <= LONGEST)
        })
        .filter(|entry| wanted(&entry.path().display().to_string()))
        .map(|entry| fs::read(entry.path()).expect("a readable file"))
        .collect();
    texts.sort();
    texts.dedup();
    assert!(!texts.is_empty(), "no seeds in {folder}");
    texts
}

/// One file of the snapshots.
pub fn file(path: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    fs::read(root.join(path)).expect("a readable file")
}

/// The CRDs that the types of the imported project are generated from, by their path in a project.
pub fn imported() -> BTreeMap<String, Arc<Definition>> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots/projects/imported");
    let definitions: BTreeMap<_, _> = WalkDir::new(project.join(memory::DIRECTORY).join("crds"))
        .into_iter()
        .map(|entry| entry.expect("a readable folder").into_path())
        .filter_map(|file| {
            let version: Version = file.file_stem()?.to_str()?.parse().ok()?;
            let bytes = file.is_file().then(|| fs::read(&file).expect("a file"))?;
            let definition = Definition::parse(&bytes, version).expect("a definition");
            let path = file.strip_prefix(&project).ok()?.to_str()?.to_owned();
            Some((path, Arc::new(definition)))
        })
        .collect();
    assert!(!definitions.is_empty(), "no definitions");
    definitions
}

pub fn projects() -> Vec<Vec<u8>> {
    let mut texts = files("snapshots/projects", |path| path.ends_with("/PROJECT"));
    let tail = "version: \"3\"\n";
    let bomb: String = (1..9)
        .map(|at| {
            format!(
                "x{at}: &x{at} [{}]\n",
                vec![format!("*x{}", at - 1); 9].join(", ")
            )
        })
        .collect();
    texts.push(
        format!(
            "x0: &x0 [a, b]\n{bomb}{}",
            String::from_utf8_lossy(&texts[0])
        )
        .into_bytes(),
    );
    texts.push(
        format!(
            "domain: example.com\nlayout:\n- rust.operator-forge/v1\nplugins:\n  other: {{a: [1, 2.5, null, !t x]}}\n  \
             rust.operator-forge/v1:\n    certificates: cert-manager\n    header: |\n      Mine.\n    license: custom\n    owned:\n    \
             - src/api.rs\n    - a/../../b\n    templates: {}\nprojectName: demo\nnamespaced: true\nresources:\n- api:\n    crdVersion: \
             v1\n    namespaced: true\n  controller: true\n  controllers:\n  - name: backup\n  domain: example.com\n  group: cache\n  \
             kind: Memcached\n  plural: memcacheds\n  version: v1\n  webhooks:\n    conversion: true\n    defaulting: true\n    \
             defaultingPath: /a\n    spoke: [v1alpha1]\n    validation: true\n    webhookVersion: v1\n- core: true\n  controller: true\n  \
             group: apps\n  kind: Deployment\n  version: v1\n{tail}",
            operator_forge::template::SET
        )
        .into_bytes(),
    );
    texts
}

/// The project file of a Go project, and its code.
pub fn go() -> Vec<Vec<u8>> {
    files("tests/go-projects", |path| {
        path.ends_with("/PROJECT") || path.ends_with(".go")
    })
}

/// Definitions, each file one, and lists of them.
pub fn definitions() -> Vec<Vec<u8>> {
    let mut texts = files("snapshots/manifests", |path| path.contains("/crd/bases/"));
    let all = texts.clone();
    texts.push(all[..2].join(b"---\n".as_slice()));
    texts.push(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinitionList\nitems:\n- metadata: {name: as.x.io}\n  spec:\n    \
         group: x.io\n    names: {kind: A, plural: as, shortNames: [a]}\n    scope: Namespaced\n    versions:\n    - name: v1\n      \
         served: true\n      storage: true\n      schema:\n        openAPIV3Schema:\n          type: object\n          properties:\n            \
         spec:\n              type: object\n              required: [a]\n              properties:\n                a: {type: integer, \
         minimum: 1, maximum: 9e3, multipleOf: 2}\n                b: {type: array, minItems: 1, x-kubernetes-list-type: map, \
         x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string, pattern: '^a', maxLength: 9}}}}\n                \
         c: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}\n                d: {additionalProperties: \
         {enum: [a, b], default: a}, not: {type: object}}\n              x-kubernetes-validations: [{rule: self.a > 1}]\n  status: \
         {storedVersions: [v1]}\n"
            .as_bytes()
            .to_vec(),
    );
    texts
}

/// Types with attributes, some of them laid out in ways that rustfmt does not write.
pub fn types() -> Vec<Vec<u8>> {
    let mut texts = files("snapshots/projects", |path| {
        path.contains("/src/api/") && path.ends_with(".rs")
    });
    texts.push(
        "#[derive(CustomResource, Clone)]\n#[kube(group = \"x.io\", version = \"v1\", kind = \"Memcached\", plural=\"ms\", // why\n  \
         shortname = \"m\",shortname = r#\"mc\"#\n  , namespaced)]\n#[kube(printcolumn(json_path = \".a\"), status = \"MemcachedStatus\")]\npub \
         struct MemcachedSpec {\n    pub size: Option<Size>,\n    pub modes: BTreeMap<String, Vec<Mode>>,\n    pub all: Box<(i32, [Mode; \
         2])>,\n}\npub enum Mode { A, B(Size, i32), C { x: Option<Box<Mode>> } }\npub struct Size { pub a: i32, #[cfg(x)] pub b: u8 }\npub struct \
         MemcachedStatus {\n    pub observed_generation: Option<i64>,\n    pub conditions: Vec<Condition>,\n}\n"
            .as_bytes()
            .to_vec(),
    );
    texts
}

/// The beginning of a lock.
pub fn lock() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("snapshots/projects/one-api/.operator-forge/lock");
    let text = fs::read_to_string(path).expect("a readable file");
    text.split_inclusive('\n')
        .take(30)
        .collect::<String>()
        .into_bytes()
}
