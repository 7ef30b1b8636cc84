//! Projects for tests.

use super::*;

/// The flags of a `create api`, as a line of text.
pub fn create(flags: &str) -> CreateApi {
    let mut words = flags.split_whitespace();
    let mut next = || words.next();
    let (group, version, kind) = (next().unwrap(), next().unwrap(), next().unwrap());
    let mut create = CreateApi {
        group: Group::parse(group.trim_matches('-')).unwrap(),
        version: Version::parse(version).unwrap(),
        kind: Kind::parse(kind).unwrap(),
        plural: None,
        namespaced: None,
        resource: true,
        controller: true,
        controller_name: None,
        short_names: Vec::new(),
        force: false,
    };
    for word in words {
        match word.split_once('=').unwrap_or((word, "true")) {
            ("plural", value) => create.plural = Some(Plural::parse(value).unwrap()),
            ("namespaced", value) => create.namespaced = Some(value == "true"),
            ("short", value) => {
                create.short_names = value
                    .split(',')
                    .map(|s| ShortName::parse(s).unwrap())
                    .collect()
            }
            ("resource", value) => create.resource = value == "true",
            ("controller", value) => create.controller = value == "true",
            ("name", value) => create.controller_name = Some(ControllerName::parse(value).unwrap()),
            ("force", _) => create.force = true,
            other => panic!("{other:?}"),
        }
    }
    create
}

/// A project without resources.
pub fn empty(domain: &str, namespaced: bool) -> Project {
    Project::init(InitOptions {
        domain: Domain::parse(domain).unwrap(),
        name: ProjectName::parse("demo").unwrap(),
        owner: Owner::default(),
        license: License::Apache2,
        header: None,
        namespaced,
    })
}
