//! Any text as any name is refused with help, or the project renders.

use std::str::FromStr;

use operator_forge::{
    error::Failure,
    name::Invalid,
    project::{
        CopyrightHolder, CreateApi, CreateWebhook, EditApi, External, Fields, Gvk, InitOptions,
        License, Project, Runtime,
    },
    syntax::{self, Names},
    template,
};
use proptest::{prelude::*, sample::select, test_runner::FileFailurePersistence};

fn config() -> ProptestConfig {
    let given = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: given.and_then(|number| number.parse().ok()).unwrap_or(150),
        max_shrink_iters: 256,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    }
}

/// A text that is nearly a name, or one that is not at all.
fn name() -> impl Strategy<Value = String> {
    let word = select(vec![
        "self",
        "Self",
        "crate",
        "super",
        "type",
        "Type",
        "async",
        "gen",
        "union",
        "core",
        "std",
        "kube",
        "serde",
        "test",
        "con",
        "Con",
        "nul",
        "Aux",
        "com1",
        "Lpt9",
        "Option",
        "Result",
        "Vec",
        "String",
        "Condition",
        "Api",
        "Client",
        "Context",
        "Controller",
        "Error",
        "Spec",
        "Status",
        "Object",
        "Main",
        "Lib",
        "mod",
        "Mod",
        "Tests",
        "manager",
        "operator",
        "api",
        "controllers",
        "k8s.io",
        "default",
        "Default",
        "2b",
        "v1",
        "V1",
        "r#type",
        "/convert",
        "/Custom//path",
        "cert_manager::v1::Certificate",
        "cert-manager::v1",
        "crate::a::B",
        "_",
        "..",
        "a/../b",
        "--kind",
        "'",
        "\"",
        "\\",
        "{= 1 =}",
        "{% if %}",
        "{{ x }}",
        "${{ x }}",
        "\u{202e}",
        "ß",
        "ﬁ",
        "名",
    ]);
    prop_oneof![
        4 => word.prop_map(str::to_owned),
        3 => "[A-Z][a-zA-Z0-9]{0,62}",
        3 => "[a-z]([a-z0-9-]{0,61}[a-z0-9])?",
        2 => "[a-z][a-z0-9]{0,20}([-.]{1,2}[a-z0-9]{1,20}){0,4}",
        2 => "v[1-9][0-9]{0,3}((alpha|beta)[1-9][0-9]?)?",
        1 => "\\PC{0,70}",
        1 => any::<String>(),
    ]
}

/// The parsed text, or without it a usable one; a refusal has to help, and what it suggests has to be accepted.
fn parse_or<T: FromStr<Err = Invalid>>(text: &str, usable: &str) -> T {
    text.parse().unwrap_or_else(|invalid: Invalid| {
        if let Some(suggestion) = &invalid.suggestion {
            assert!(
                suggestion.parse::<T>().is_ok(),
                "{}: `{suggestion}` was suggested for {text:?}",
                invalid.what
            );
        }
        check_help(text, &invalid.into());
        usable.parse().unwrap()
    })
}

fn check_help(what: &str, failure: &Failure) {
    assert!(!failure.advice.is_empty(), "{what:?}: {failure:?}");
    assert!(failure.exit_code() == 1 || failure.exit_code() == 2);
}

/// The types of an API with other names are what they would be if it had been made with them.
fn check_names(project: &Project) {
    let Some(key) = project.apis().first().map(|api| api.key.clone()) else {
        return;
    };
    let wanted = Names {
        plural: "things".to_owned(),
        short_names: vec!["t".to_owned(), "th".to_owned()],
        namespaced: true,
    };
    let edit = EditApi {
        gvk: key.gvk(),
        plural: Some(wanted.plural.parse().unwrap()),
        namespaced: Some(true),
        short_names: Some(
            wanted
                .short_names
                .iter()
                .map(|name| name.parse().unwrap())
                .collect(),
        ),
        fields: Fields::default(),
        force: true,
        finalizer: None,
    };
    // The plural may be another kind's.
    let Ok((edited, _)) = project.edit_api(&edit) else {
        return;
    };
    let text = |project: &Project| {
        let path = template::types_of(project, &key).unwrap();
        String::from_utf8(template::tree(project).unwrap()[&path].content.to_vec()).unwrap()
    };
    let kind = key.kind.as_str();
    assert_eq!(
        syntax::set_names(&text(project), kind, &wanted).unwrap(),
        text(&edited)
    );
    let back = syntax::names(&text(project), kind).unwrap();
    assert_eq!(
        syntax::set_names(&text(&edited), kind, &back).unwrap(),
        text(project)
    );
}

/// Whatever the project is, it renders, every Rust file of it parses, and `PROJECT` reads back as it was written.
fn check_renders(project: &Project) {
    let tree = template::tree(project).unwrap_or_else(|failure| panic!("{failure:?}"));
    for (path, file) in &tree {
        let text = std::str::from_utf8(&file.content).unwrap();
        if path.extension() == "rs" && !path.as_str().starts_with("crates/") {
            syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}\n{text}"));
        } else if path.extension() == "toml" {
            text.parse::<toml_edit::DocumentMut>()
                .unwrap_or_else(|error| panic!("{path}: {error}\n{text}"));
        } else if matches!(path.extension(), "yaml" | "yml") {
            for document in serde_yaml::Deserializer::from_str(text) {
                <serde_yaml::Value as serde::Deserialize>::deserialize(document)
                    .unwrap_or_else(|error| panic!("{path}: {error}\n{text}"));
            }
        }
    }
    let read = Project::read(project.write().as_bytes()).unwrap_or_else(|failure| {
        panic!("{failure:?}\n{}", project.write());
    });
    assert_eq!(&read, project);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_name_is_refused_with_help_or_renders(
        (domain, project_name, owner) in (name(), name(), name()),
        (group, kind, plural, controller, short) in (name(), name(), name(), name(), name()),
        version in name(),
        (namespaced, resource, with_plural, with_name) in any::<(bool, bool, bool, bool)>(),
    ) {
        let project = Project::init(InitOptions {
            runtime: Runtime::default(),
            domain: parse_or(&domain, "example.com"),
            name: parse_or(&project_name, "project"),
            owner: owner.parse::<CopyrightHolder>().unwrap_or_else(|failure| {
                check_help(&owner, &failure.into());
                CopyrightHolder::default()
            }),
            license: License::Apache2,
            header: None,
            namespaced,
            kubernetes: None,
            crypto: Default::default(),
            shards: None,
            plugins: Vec::new(),
        });
        let create = CreateApi {
            gvk: Gvk {
                group: parse_or(&group, "cache"),
                version: parse_or(&version, "v1"),
                kind: parse_or(&kind, "Memcached"),
            },
            plural: with_plural.then(|| parse_or(&plural, "memcachedes")),
            namespaced: None,
            resource: true,
            chart: None,
            ansible: None,
            helm_storage: false,
            domain: None,
            external: None,
            controller: true,
            controller_name: None,
            finalizer: Some(with_plural),
            fields: Fields::default(),
            short_names: vec![parse_or(&short, "mc")],
            image: None,
            force: false,
        };
        let mut project = match project.create_api(&create) {
            Ok(project) => project,
            Err(failure) => {
                check_help(&format!("{create:?}"), &failure);
                project
            }
        };
        let external = (!resource && namespaced).then(|| External {
            path: parse_or(&controller, "a::B"),
            domain: parse_or(&short, "example.org"),
        });
        let other = CreateApi {
            chart: None,
            ansible: None,
            external: external.clone(),
            controller_name: with_name.then(|| parse_or(&controller, "other")),
            resource,
            finalizer: None,
            plural: None,
            short_names: Vec::new(),
            gvk: Gvk {
                version: "v2".parse().unwrap(),
                ..create.gvk.clone()
            },
            ..create
        };
        check_names(&project);
        match project.create_api(&other) {
            Ok(more) => project = more,
            Err(failure) => check_help(&format!("{other:?}"), &failure),
        }
        let hook = CreateWebhook {
            gvk: other.gvk,
            plural: None,
            defaulting: true,
            defaulting_path: with_plural.then(|| parse_or(&plural, "/default")),
            validation: true,
            validation_path: None,
            conversion: resource,
            spokes: Vec::new(),
            external,
            certificates: None,
            force: false,
        };
        match project.create_webhook(&hook) {
            Ok(more) => project = more,
            Err(failure) => check_help(&format!("{hook:?}"), &failure),
        }
        check_renders(&project);
    }
}
