//! Laws of projects: what was written is read back, and the order of creates does not matter.

use proptest::prelude::*;

use super::testing::{create, empty};
use super::*;

/// Creates that meet one another often, but not always.
fn creates() -> impl Strategy<Value = CreateApi> {
    let nasty_group = prop::sample::select(vec![
        "--",
        "a-b",
        "a.b",
        "apps",
        "networking",
        "type",
        "example-com",
    ]);
    let group = prop_oneof![3 => Just("cache"), 2 => nasty_group];
    let version = prop::sample::select(vec!["v1", "v2", "v1alpha1", "v1beta1", "v10"]);
    let nasty_kind = prop::sample::select(vec![
        "FOO",
        "FooList",
        "Deployment",
        "Ingress",
        "Option",
        "OptionResource",
    ]);
    let kind = prop_oneof![3 => prop::sample::select(vec!["Foo", "Bar", "Baz", "Policy"]), 1 => nasty_kind];
    let rare = |flags: &'static [&'static str]| prop_oneof![5 => Just(""), 1 => prop::sample::select(flags)];
    let scope = rare(&["namespaced=true", "namespaced=false"]);
    let plural = rare(&["plural=foos", "plural=things"]);
    let short = rare(&["short=f", "short=f,g", "short=b"]);
    let controller = prop_oneof![
        2 => Just(""),
        2 => Just("controller=false"),
        1 => prop::sample::select(vec!["name=foo", "name=extra", "name=cache-foo"]),
    ];
    let resource = rare(&["resource=false"]);
    (
        group, version, kind, scope, plural, short, controller, resource,
    )
        .prop_map(|(g, v, k, a, b, c, d, e)| create(&format!("{g} {v} {k} {a} {b} {c} {d} {e}")))
}

fn projects() -> impl Strategy<Value = Project> {
    let domain = prop_oneof![4 => Just("example.com"), 1 => prop::sample::select(vec!["", "local", "k8s.io"])];
    (
        domain,
        prop::bool::weighted(0.2),
        prop::collection::vec(creates(), 0..12),
    )
        .prop_map(|(domain, namespaced, creates)| {
            creates
                .iter()
                .fold(empty(domain, namespaced), |project, create| {
                    project.create_api(create).unwrap_or(project)
                })
        })
}

fn headers() -> impl Strategy<Value = String> {
    prop_oneof![
        "(//[^\\p{Cc}/!]?[^\\p{Cc}]{0,20}\n){0,4}",
        "\n?/\\*[^\\p{Cc}!]?[ *a-z\t\r\n]{0,30}\\*/\n?"
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_written_is_read_back(project in projects()) {
        let text = project.write();
        let read = Project::read(text.as_bytes()).map_err(|failure| TestCaseError::fail(format!("{failure:?}\n{text}")))?;
        prop_assert_eq!(&read, &project);
        prop_assert_eq!(read.write(), text);
    }

    /// Law 3.
    #[test]
    fn creates_are_confluent(project in projects(), a in creates(), b in creates()) {
        let ab = project.create_api(&a).and_then(|project| project.create_api(&b));
        let ba = project.create_api(&b).and_then(|project| project.create_api(&a));
        if let (Ok(ab), Ok(ba)) = (ab, ba) {
            prop_assert_eq!(ab.write(), ba.write());
            prop_assert_eq!(ab, ba);
        }
    }

    /// Half of law 1: repeating a create is refused, and with `--force` changes nothing.
    #[test]
    fn creates_are_not_repeated(project in projects(), create in creates()) {
        if let Ok(once) = project.create_api(&create) {
            prop_assert!(once.create_api(&create).is_err());
            let forced = CreateApi { force: true, ..create };
            prop_assert_eq!(once.create_api(&forced).unwrap(), once);
        }
    }

    #[test]
    fn owners_and_headers_survive(owner in "[^\\p{Cc}]{0,40}", header in headers()) {
        let mut project = empty("example.com", false);
        let Ok(parsed) = Header::parse(&header) else { return Ok(()) };
        project.settings.owner = Owner::parse(&owner).unwrap_or_default();
        (project.settings.license, project.settings.header) = (License::Custom, Some(parsed));
        prop_assert_eq!(Project::read(project.write().as_bytes()).unwrap(), project);
    }

    /// No text makes the reader panic.
    #[test]
    fn any_text_is_read_or_refused(text in "([a-z]{0,3}[:\\-\\[\\]{}'\"|>&*!%#? \n]{0,4}){0,30}", cut in 0_usize..4000) {
        let _ = Project::read(text.as_bytes());
        let whole = empty("example.com", false).create_api(&create("cache v1 Foo short=f")).unwrap().write();
        let cut = cut % whole.len();
        let mixed = format!("{}{text}{}", &whole[..cut], &whole[cut..]);
        let _ = Project::read(mixed.as_bytes());
        // All but the last line end has to be there.
        prop_assert!(cut == whole.len() - 1 || Project::read(&whole.as_bytes()[..cut]).is_err());
    }
}
