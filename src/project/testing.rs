//! Projects for tests.

use super::*;

/// The flags of a `create api`, as a line of text.
pub fn create(flags: &str) -> CreateApi {
    let mut words = flags.split_whitespace();
    let mut next = || words.next();
    let (group, version, kind) = (next().unwrap(), next().unwrap(), next().unwrap());
    let mut create = CreateApi::of(Gvk {
        group: group.trim_matches('-').parse().unwrap(),
        version: version.parse().unwrap(),
        kind: kind.parse().unwrap(),
    });
    let mut domain = "".parse().unwrap();
    for word in words {
        match word.split_once('=').unwrap_or((word, "true")) {
            ("plural", value) => create.plural = Some(value.parse().unwrap()),
            ("namespaced", value) => create.namespaced = Some(value == "true"),
            ("short", value) => {
                create.short_names = value.split(',').map(|s| s.parse().unwrap()).collect()
            }
            ("field", value) => create.fields.spec.push(value.parse().unwrap()),
            ("status-field", value) => create.fields.status.push(value.parse().unwrap()),
            ("chart", value) => create.chart = Some(value.parse().unwrap()),
            ("ansible", value) => create.ansible = Some(value.parse().unwrap()),
            ("helm-storage", _) => create.helm_storage = true,
            ("resource", value) => create.resource = value == "true",
            ("controller", value) => create.controller = value == "true",
            ("name", value) => create.controller_name = Some(value.parse().unwrap()),
            ("finalizer", value) => create.finalizer = Some(value == "true"),
            ("domain", value) => domain = value.parse().unwrap(),
            ("path", value) => create.external = Some(external(value, &domain)),
            ("image", value) => {
                create.image = serde_yaml::from_str(&format!("image: {value}")).ok()
            }
            ("force", _) => create.force = true,
            other => panic!("{other:?}"),
        }
    }
    create
}

fn external(path: &str, domain: &Domain) -> External {
    External {
        path: path.parse().unwrap(),
        domain: domain.clone(),
    }
}

/// The flags of a `create webhook`, as a line of text.
pub fn webhook(flags: &str) -> CreateWebhook {
    let mut words = flags.split_whitespace();
    let mut next = || words.next();
    let (group, version, kind) = (next().unwrap(), next().unwrap(), next().unwrap());
    let mut create = CreateWebhook {
        gvk: Gvk {
            group: group.trim_matches('-').parse().unwrap(),
            version: version.parse().unwrap(),
            kind: kind.parse().unwrap(),
        },
        plural: None,
        defaulting: false,
        defaulting_path: None,
        validation: false,
        validation_path: None,
        conversion: false,
        spokes: Vec::new(),
        external: None,
        certificates: None,
        force: false,
    };
    let mut domain = "".parse().unwrap();
    let path = |value: &str| Some(value.parse().unwrap());
    for word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("defaulting", _) => create.defaulting = true,
            ("validation", _) => create.validation = true,
            ("conversion", _) => create.conversion = true,
            ("force", _) => create.force = true,
            ("plural", value) => create.plural = Some(value.parse().unwrap()),
            ("defaulting-path", value) => create.defaulting_path = path(value),
            ("validation-path", value) => create.validation_path = path(value),
            ("spoke", value) => create.spokes.push(value.parse().unwrap()),
            ("domain", value) => domain = value.parse().unwrap(),
            ("path", value) => create.external = Some(external(value, &domain)),
            ("certificates", value) => create.certificates = serde_yaml::from_str(value).ok(),
            other => panic!("{other:?}"),
        }
    }
    create
}

/// A project without resources, of template set 1, so that its texts are no newer with a new set.
pub fn empty(domain: &str, namespaced: bool) -> Project {
    let mut project = Project::init(InitOptions {
        runtime: Runtime::default(),
        domain: domain.parse().unwrap(),
        name: "demo".parse().unwrap(),
        owner: CopyrightHolder::default(),
        license: License::Apache2,
        header: None,
        namespaced,
        kubernetes: None,
        crypto: Crypto::default(),
        shards: None,
        plugins: Vec::new(),
    });
    project.settings.templates = 1;
    project
}
