//! Random bytes and mutated real files for everything that reads what somebody else may have written: no panic, no endless
//! loop, no overflow of the stack; what is accepted is read again as it was written; what is refused is refused with help.
//!
//! `FUZZ_INPUTS` is the number of inputs of all targets together; `make fuzz` tries a million.

mod commands;
mod mutation;
mod run;
mod seeds;

use std::{
    path::{Component, Path},
    str::FromStr,
};

use guarded_yaml as yaml;
use kubebuilder_port::{Code, GoProject};
use mutation::{Bytes, mutated, three};
use operator_forge::{
    branches,
    change::Policy,
    command::port,
    definitions,
    error::Failure,
    memory::{self, Memory},
    merge::{Driver, differing_keys, markers},
    name::{
        ControllerName, CrdName, Domain, Group, Invalid, Kind, Plural, ProjectName, RustPath,
        ShortName, Version, WebhookPath, rust,
    },
    project::{Key, LAYOUT, Project},
    syntax::{self, Names, Renamed},
    template,
    tree::{self, Digest, RelPath},
};
use proptest::{prelude::*, test_runner::TestCaseError};
use run::fuzz;

type Tested = Result<(), TestCaseError>;

/// A refusal says what was found and what to type instead.
fn is_helpful(failure: &Failure) -> Tested {
    prop_assert!(
        !failure.what.is_empty() && !failure.advice.is_empty(),
        "{:?}",
        failure
    );
    Ok(())
}

/// Whether a path names something below the project and out of git's own directory, on every system.
fn stays_inside(path: &RelPath) -> Tested {
    let mut parts = Path::new(path.as_str()).components();
    prop_assert!(
        parts.all(
            |part| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"))
        ),
        "{}",
        path
    );
    prop_assert!(!path.as_str().contains(['\\', ':', '\0']), "{}", path);
    Ok(())
}

#[test]
fn project() {
    fuzz(
        "project",
        200,
        || mutated(seeds::projects()),
        |input| match Project::read(&input.0) {
            Ok(project) => {
                project.settings.owned.iter().try_for_each(stays_inside)?;
                let text = project.write();
                let again = Project::read(text.as_bytes());
                prop_assert_eq!(again.as_ref().ok(), Some(&project), "{}\n{:?}", text, again);
                Ok(())
            }
            Err(error) => is_helpful(&error),
        },
    );
}

/// What is read is rendered, whatever it says. Only an entry whose CRD is missing is refused.
#[test]
fn tree_of_project() {
    let imported = seeds::imported();
    fuzz(
        "tree",
        5,
        || mutated(seeds::projects()),
        move |input| {
            let Ok(mut project) = Project::read(&input.0) else {
                return Ok(());
            };
            let find = |name: &CrdName, key: &Key| {
                let path = memory::definition_path(name, key.version).ok();
                Ok::<_, Failure>(path.and_then(|path| imported.get(path.as_str()).cloned()))
            };
            project.attach(find).expect("no error is made");
            let missing = project
                .sources()
                .find(|(_, source)| source.definition.is_none())
                .map(|(key, source)| (key.clone(), source.name.clone()));
            match (template::tree(&project), missing) {
                (Ok(tree), None) => tree.keys().try_for_each(stays_inside),
                (Err(failure), Some((key, name))) => {
                    let path = memory::definition_path(&name, key.version)
                        .map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
                    let expected = memory::no_definition(&path, &key);
                    prop_assert_eq!(&failure, &expected);
                    is_helpful(&failure)
                }
                (result, missing) => Err(TestCaseError::fail(format!(
                    "{:?} without {missing:?}",
                    result.map(|tree| tree.len())
                ))),
            }
        },
    );
}

/// The tree of a project that was read without the CRD of its types is a refusal that names the file.
#[test]
fn a_tree_without_its_definition_is_refused() {
    let text = seeds::file("projects/imported/PROJECT");
    let project = Project::read(&text).expect("a valid project");
    let failure = template::tree(&project).expect_err("no definition is attached");
    assert_eq!(
        failure.what,
        "`.operator-forge/crds/gateways.edge.acme.dev/v1.json` is missing"
    );
    is_helpful(&failure).unwrap();
}

/// A Go project is read, or refused with help; its code is only searched.
#[test]
fn go_projects() {
    fuzz(
        "go",
        100,
        || mutated(seeds::go()),
        |input| {
            let text = input.text();
            let _ = Code::read(&text);
            match GoProject::read(&text, true, &[LAYOUT]) {
                Ok(_) => Ok(()),
                Err(error) => is_helpful(&port::refusal(&error, "go")),
            }
        },
    );
}

#[test]
fn lock() {
    let small = b"# a\nformat 1\ntemplates 4\ntool 77f0c3d1a3b1f0d5e2c4b6a897867564534231201f0e0d0c0b0a090807060504 src/api.rs\n";
    fuzz(
        "lock",
        200,
        || mutated(vec![small.to_vec(), seeds::lock()]),
        |input| match Memory::parse(&input.text()) {
            Ok(memory) => {
                memory.rows.keys().try_for_each(stays_inside)?;
                for path in memory.rows.keys() {
                    prop_assert!(memory::base_path(path).is_ok(), "{}", path);
                }
                let again = Memory::parse(&memory.write());
                prop_assert_eq!(again.ok(), Some(memory));
                Ok(())
            }
            Err(error) => is_helpful(&error),
        },
    );
}

#[test]
fn conflict_markers() {
    let marked = "a\n<<<<<<< HEAD\nb\n||||||| 12\nc\n=======\nd\n>>>>>>> other\ne\n<<<<<<< yours\n=======\nf\n>>>>>>> generated\n";
    let seeds = seeds::projects()
        .into_iter()
        .chain([marked.as_bytes().to_vec(), marked.repeat(3).into_bytes()])
        .collect();
    fuzz(
        "markers",
        80,
        || three(seeds),
        |[base, yours, generated]| {
            let [base, yours, generated] = [base, yours, generated].map(Bytes::text);
            if let Some(split) = markers::split(&yours) {
                let first = yours.split_inclusive('\n').nth(split.line - 1);
                prop_assert!(first.is_some_and(markers::is_marker));
            }
            let marked = markers::conflict(&yours, &generated);
            let plain = |text: &str| {
                !text.lines().any(markers::is_marker) && (text.is_empty() || text.ends_with('\n'))
            };
            if plain(&yours) && plain(&generated) && yours != generated {
                let split = markers::split(&marked).map(|split| (split.ours, split.theirs));
                prop_assert_eq!(split, Some((yours.clone(), generated.clone())));
            }
            markers::conflict_from(&base, &yours, &generated);
            Ok(())
        },
    );
}

#[test]
fn project_of_two_branches() {
    fuzz(
        "branches",
        60,
        || (three(seeds::projects()), 0..4usize),
        |([base, ours, theirs], policy)| {
            let [base, ours, theirs] = [base, ours, theirs].map(Bytes::text);
            let policy = [Policy::Abort, Policy::Keep, Policy::Take, Policy::Markers][*policy];
            let conflicted = format!("<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> other\n");
            let all = [
                markers::split(&conflicted),
                Some(markers::Split::of(ours, theirs)),
            ];
            for split in all.into_iter().flatten() {
                match branches::merge(Some(&base), &split, policy) {
                    Ok(merged) => drop(
                        Project::read(merged.as_bytes())
                            .map_err(|error| is_helpful(&error))
                            .err()
                            .transpose()?,
                    ),
                    Err(failure) => is_helpful(&failure)?,
                }
            }
            Ok(())
        },
    );
}

/// What every driver promises, and whether its result can be read if the user's file could.
fn merged(
    path: &'static str,
    [base, ours, theirs]: &[Bytes; 3],
    parses: impl Fn(&str) -> bool,
) -> Tested {
    let driver = Driver::of(&path.parse::<RelPath>().unwrap());
    let [base, ours, theirs] = [base, ours, theirs].map(Bytes::text);
    prop_assert_eq!(driver.merge(&base, &base, &theirs), Ok(theirs.clone()));
    prop_assert_eq!(driver.merge(&base, &ours, &base), Ok(ours.clone()));
    if let Ok(merged) = driver.merge(&base, &ours, &theirs) {
        prop_assert!(
            !parses(&ours) || parses(&merged) || merged == theirs,
            "{}",
            merged
        );
    }
    let _ = driver.merge("", &ours, &theirs);
    Ok(())
}

#[test]
fn merge_of_toml() {
    let seeds = seeds::files("snapshots/projects", |path| path.ends_with(".toml"));
    let parses = |text: &str| text.parse::<toml_edit::DocumentMut>().is_ok();
    fuzz(
        "toml",
        50,
        || three(seeds),
        |texts| {
            merged("Cargo.toml", texts, parses)?;
            differing_keys(&texts[1].text(), &texts[2].text());
            Ok(())
        },
    );
}

#[test]
fn merge_of_yaml() {
    let seeds = seeds::files("snapshots/projects", |path| {
        path.ends_with("kustomization.yaml") || path.contains("/config/manager/")
    });
    let parses = |text: &str| yaml::documents::<serde_yaml::Value>(text).is_ok();
    fuzz(
        "yaml",
        80,
        || three(seeds),
        |texts| merged("config/kustomization.yaml", texts, parses),
    );
}

#[test]
fn merge_of_rust() {
    let seeds = seeds::files("snapshots/projects", |path| {
        path.ends_with("/src/main.rs") || path.ends_with("/src/lib.rs")
    });
    fuzz(
        "rust",
        40,
        || three(seeds),
        |texts| merged("src/main.rs", texts, |_| false),
    );
}

#[test]
fn merge_of_text() {
    let seeds = seeds::files("snapshots/projects", |path| {
        path.ends_with("/Makefile") || path.ends_with(".gitignore") || path.ends_with(".md")
    });
    fuzz(
        "text",
        60,
        || three(seeds),
        |texts| {
            merged("Makefile", texts, |_| true)?;
            merged(".gitignore", texts, |_| true)
        },
    );
}

#[test]
fn definitions() {
    fuzz(
        "crds",
        60,
        || (mutated(seeds::definitions()), mutated(seeds::definitions())),
        |texts| {
            let read = |text: &Bytes| definitions::read("crds.yaml", &text.text());
            let (before, after) = match (read(&texts.0), read(&texts.1)) {
                (Ok(before), Ok(after)) => (before, after),
                (Err(error), _) | (_, Err(error)) => return is_helpful(&error),
            };
            prop_assert_eq!(crd_compat::compare(&before, &before), []);
            crd_compat::compare(&before, &after);
            crd_compat::compare(&after, &before);
            Ok(())
        },
    );
}

#[test]
fn edits_of_rust() {
    let kinds = ["Memcached", "Backup", "Vec", "Type"];
    fuzz(
        "syntax",
        60,
        || (mutated(seeds::types()), 0..kinds.len()),
        |(types, kind)| {
            let (text, kind) = (types.text(), kinds[*kind]);
            let names = Names {
                plural: "others".into(),
                short_names: vec!["o".into(), "p".into()],
                namespaced: text.len() % 2 == 0,
            };
            if let Ok(edited) = syntax::set_names(&text, kind, &names) {
                prop_assert_eq!(
                    syntax::names(&edited, kind),
                    Ok(names.clone()),
                    "{}",
                    edited
                );
                prop_assert_eq!(syntax::set_names(&edited, kind, &names), Ok(edited));
            }
            if let Ok(edited) = syntax::set_version(&text, kind, "v7") {
                prop_assert_eq!(syntax::set_version(&edited, kind, "v7"), Ok(edited));
            }
            let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
            let renamed = Renamed {
                kind: pair(kind, "Other"),
                type_name: pair(kind, "Other"),
                module: pair(&kind.to_lowercase(), "other"),
                plural: pair(&format!("{}s", kind.to_lowercase()), "others"),
                controller: pair(&kind.to_lowercase(), "other"),
                library: "operator".to_owned(),
            };
            let _ = syntax::rename(&text, &renamed);
            let _ = syntax::Conversion::of(&text, kind);
            Ok(())
        },
    );
}

/// What is accepted is the text that was given; what is not has a suggestion that is.
fn named<T: FromStr<Err = Invalid> + ToString>(text: &str) -> Tested {
    match text.parse::<T>() {
        Ok(name) => prop_assert_eq!(name.to_string(), text),
        Err(invalid) => {
            if let Some(like) = &invalid.suggestion {
                prop_assert!(like.parse::<T>().is_ok(), "{:?}", invalid);
            }
            is_helpful(&Failure::from(invalid))?;
        }
    }
    Ok(())
}

#[test]
fn names() {
    let seeds: Vec<Vec<u8>> = [
        "Memcached",
        "HTTPRoute",
        "v1alpha1",
        "v4294967295",
        "cache",
        "example.com",
        "memcacheds",
        "mc",
        "my-operator",
        "type",
        "/mutate-cache-example-com-v1-memcached",
        "cert_manager_crds::v1::Certificate",
        "crate::flux::r#type::Source",
        "src/api/cache/v1/memcached.rs",
        ".github/workflows/test.yml",
        "con.txt",
    ]
    .map(|name| name.as_bytes().to_vec())
    .to_vec();
    fuzz(
        "names",
        100,
        || mutated(seeds),
        |input| {
            let text = input.text();
            named::<Domain>(&text)?;
            named::<Group>(&text)?;
            named::<Kind>(&text)?;
            named::<Version>(&text)?;
            named::<Plural>(&text)?;
            named::<ShortName>(&text)?;
            named::<ControllerName>(&text)?;
            named::<ProjectName>(&text)?;
            named::<WebhookPath>(&text)?;
            named::<RustPath>(&text)?;
            if let Ok(kind) = text.parse() {
                let plural = Plural::of(&kind);
                named::<Plural>(plural.as_str())?;
                prop_assert!(
                    rust::is_identifier(&rust::type_name(&kind)),
                    "{}",
                    rust::type_name(&kind)
                );
                prop_assert!(rust::is_identifier(&rust::Module::of_kind(&kind).ident));
            }
            match text.parse::<RelPath>() {
                Ok(path) => stays_inside(&path),
                Err(error) => is_helpful(&error.into()),
            }
        },
    );
}

/// What a text is known by, whatever it is.
#[test]
fn digests() {
    let seeds = seeds::files("snapshots/projects", |path| path.ends_with(".rs"));
    let path = |text: &str| text.parse::<RelPath>().unwrap();
    fuzz(
        "digests",
        60,
        || mutated(seeds),
        |Bytes(bytes)| {
            let unix = tree::unix_line_ends(bytes).into_owned();
            // A CR in front of a CRLF is a character of its line, and not for ever.
            if unix.windows(2).any(|pair| pair == b"\r\n") {
                return Ok(());
            }
            let dos = tree::with_line_ends_of(b"\r\n", unix.clone().into()).into_owned();
            prop_assert_eq!(&*tree::unix_line_ends(&dos), &*unix);
            for path in [path("a.rs"), path("a")] {
                let digest = Digest::of(&path, bytes);
                prop_assert_eq!(Digest::of(&path, &dos), digest);
                prop_assert_eq!(digest.to_string().parse(), Ok(digest));
            }
            Ok(())
        },
    );
}
