//! Laws of projects: what was written is read back, and the order of creates does not matter.

use proptest::prelude::*;

use super::testing::{create, empty, webhook};
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
        1 => Just("finalizer"),
        2 => Just("controller=false"),
        1 => prop::sample::select(vec!["name=foo", "name=extra finalizer", "name=cache-foo", "name=cache-foo finalizer"]),
    ];
    let resource = rare(&["resource=false"]);
    let content = rare(&[
        "chart=charts/a",
        "chart=charts/a helm-storage",
        "chart=charts/b-c",
        "chart=charts/b.c",
        "ansible=roles/a",
        "ansible=playbooks/a.yml",
        "ansible=example.cache.a",
    ]);
    let own = (
        group, version, kind, scope, plural, short, controller, resource, content,
    )
        .prop_map(|(g, v, k, a, b, c, d, e, f)| {
            // Only a type that the project defines has a chart, a role or a playbook.
            let f = if e.is_empty() { f } else { "" };
            create(&format!("{g} {v} {k} {a} {b} {c} {d} {e} {f}"))
        });
    prop_oneof![4 => own, 1 => external_creates()]
}

/// Controllers of a type of another project, as [`webhooks`] has it.
fn external_creates() -> impl Strategy<Value = CreateApi> {
    let external = prop_oneof![3 => Just("domain=io path=cert::v1::Certificate"), 1 => prop::sample::select(vec![
        "",
        "domain=io path=other::v1::Certificate",
        "domain=example.com path=a::B",
    ])];
    let plural = prop::sample::select(vec!["", "plural=certificates", "plural=certs"]);
    let name = prop::sample::select(vec!["", "name=foo", "name=extra"]);
    (external, plural, name).prop_map(|(external, plural, name)| {
        // Without a path, `plural` would be refused whatever the project.
        let plural = if external.is_empty() { "" } else { plural };
        create(&format!(
            "cert-manager v1 Certificate resource=false {external} {plural} {name}"
        ))
    })
}

/// A command: `create api` or `create webhook`.
#[derive(Clone, Debug)]
enum Create {
    Api(CreateApi),
    Webhook(CreateWebhook),
}

impl Create {
    fn apply(&self, project: &Project) -> Result<Project> {
        match self {
            Self::Api(create) => project.create_api(create),
            Self::Webhook(create) => project.create_webhook(create),
        }
    }

    /// Deletes from `created` what it adds to `before`.
    fn undo(&self, before: &Project, created: &Project) -> Result<Project> {
        match self {
            Self::Api(create) => created.delete_api(&DeleteApi {
                gvk: create
                    .key_in(before)
                    .map_or(create.gvk.clone(), |key| key.gvk()),
                resource: Some(create.resource),
                controller: Some(create.controller),
                controller_name: create.controller_name.clone(),
            }),
            Self::Webhook(create) => created.delete_webhook(&DeleteWebhook {
                gvk: create
                    .target(before)
                    .map_or(create.gvk.clone(), |target| target.key.gvk()),
                defaulting: create.defaulting,
                validation: create.validation,
                conversion: create.conversion,
                spokes: match create.target(before) {
                    Ok(target) => target.spokes.into_iter().collect(),
                    Err(_) => create.spokes.clone(),
                },
            }),
        }
    }

    /// Whether its group may also mean one of another project that begins with it.
    fn may_mean_another(&self, project: &Project) -> bool {
        let (Self::Api(CreateApi { gvk, .. }) | Self::Webhook(CreateWebhook { gvk, .. })) = self;
        let longer = format!("{}.", gvk.group);
        let mut all = project.resources();
        all.any(|(key, it)| it.external.is_some() && key.group.as_str().starts_with(&longer))
    }

    fn forced(self) -> Self {
        match self {
            Self::Api(create) => Self::Api(CreateApi {
                force: true,
                ..create
            }),
            Self::Webhook(create) => Self::Webhook(CreateWebhook {
                force: true,
                ..create
            }),
        }
    }
}

fn webhooks() -> impl Strategy<Value = CreateWebhook> {
    let of = prop::sample::select(vec![
        "cache v1 Foo",
        "cache v1alpha1 Foo",
        "cache v1beta1 Foo",
        "cache v2 Foo",
        "cache v1 Bar",
        "apps v1 Deployment",
        "networking v1 Ingress",
        "cert-manager v1 Certificate",
    ]);
    let rare = |flags: &'static [&'static str]| prop_oneof![5 => Just(""), 1 => prop::sample::select(flags)];
    let kinds = prop::sample::select(vec![
        "defaulting",
        "validation",
        "defaulting validation",
        "conversion",
        "conversion spoke=v1",
        "conversion spoke=v1alpha1",
        "conversion spoke=v2 spoke=v1beta1",
        "validation conversion",
        "defaulting defaulting-path=/a",
        "validation validation-path=/a",
        "validation validation-path=/validate-cache-example-com-v1-foo",
    ]);
    let external = rare(&[
        "domain=io path=cert::v1::Certificate",
        "domain=io path=other::v1::Certificate",
        "domain=example.com path=a::B",
    ]);
    let plural = rare(&[
        "plural=foos",
        "plural=things",
        "plural=certificates",
        "plural=certs",
    ]);
    let certificates = rare(&["certificates=cert-manager", "certificates=mounted"]);
    (of, kinds, external, plural, certificates)
        .prop_map(|(a, b, c, d, e)| webhook(&format!("{a} {b} {c} {d} {e}")))
}

fn any_create() -> impl Strategy<Value = Create> {
    prop_oneof![
        creates().prop_map(Create::Api),
        webhooks().prop_map(Create::Webhook),
    ]
}

/// Projects with nasty names, made by commands.
pub fn projects() -> impl Strategy<Value = Project> {
    let domain = prop_oneof![4 => Just("example.com"), 1 => prop::sample::select(vec!["", "local", "k8s.io"])];
    (
        domain,
        prop::bool::weighted(0.2),
        prop::collection::vec(any_create(), 0..16),
    )
        .prop_map(|(domain, namespaced, creates)| {
            creates
                .iter()
                .fold(empty(domain, namespaced), |project, create| {
                    create.apply(&project).unwrap_or(project)
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
    fn creates_are_confluent(project in projects(), a in any_create(), b in any_create()) {
        let ab = a.apply(&project).and_then(|project| b.apply(&project));
        let ba = b.apply(&project).and_then(|project| a.apply(&project));
        if let (Ok(ab), Ok(ba)) = (ab, ba) {
            prop_assert_eq!(ab.write(), ba.write());
            prop_assert_eq!(ab, ba);
        }
    }

    /// Half of law 1: repeating a create is refused, and with `--force` changes nothing.
    #[test]
    fn creates_are_not_repeated(project in projects(), create in any_create()) {
        if let Ok(once) = create.apply(&project) {
            prop_assert!(create.apply(&once).is_err());
            prop_assert_eq!(create.forced().apply(&once).unwrap(), once);
        }
    }

    /// Law 2. Only where certificates come from stays said as long as there are other webhooks.
    #[test]
    fn deletes_are_inverse(project in projects(), create in any_create()) {
        let Ok(created) = create.apply(&project) else { return Ok(()) };
        let mut expected = project.clone();
        if !project.webhooks().is_empty() {
            expected.settings.certificates = created.settings.certificates;
        }
        prop_assert_eq!(create.undo(&project, &created).map_err(|failure| TestCaseError::fail(format!("{failure:?}")))?, expected);
        prop_assert!(create.may_mean_another(&project) || create.undo(&project, &project).is_err());
    }

    /// Whatever is deleted, the rest is a project, and deleting it again is refused.
    #[test]
    fn deletes_leave_a_project(project in projects(), create in any_create()) {
        if let Ok(left) = create.undo(&project, &project) {
            prop_assert_eq!(&Project::read(left.write().as_bytes()).unwrap(), &left);
            prop_assert!(create.may_mean_another(&left) || create.undo(&project, &left).is_err());
        }
    }

    #[test]
    fn owners_and_headers_survive(owner in "[^\\p{Cc}]{0,40}", header in headers()) {
        let mut project = empty("example.com", false);
        let Ok(parsed) = header.parse() else { return Ok(()) };
        project.settings.owner = owner.parse().unwrap_or_default();
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
