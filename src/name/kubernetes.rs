//! The core types, with their paths in k8s-openapi.
//!
//! A controller for a core type needs no CRD: `create api --group apps --version v1 --kind Deployment --resource=false`. The
//! table holds every type of k8s-openapi 0.29 (feature `v1_37`) that can be listed and watched: the `impl Resource` blocks in
//! the crate's source that have an `impl ListableResource` beside them. A controller for each row was generated and compiled. A
//! project for an older version of Kubernetes has fewer of them.

mod sample;
mod table;
mod version;

use self::table::{GROUPS, SINCE};
pub use self::version::KubernetesVersion;
use super::{Kind, Plural, Version};

/// A type that Kubernetes itself serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreType {
    /// The value of `--group`, as in kubebuilder: `core`, `apps`, `networking`, `rbac.authorization`.
    pub group: &'static str,
    /// The API group in RBAC rules: empty for `core`, otherwise `apps` or `networking.k8s.io`.
    pub api_group: &'static str,
    /// The group's module in k8s-openapi: `api::apps`.
    pub module: &'static str,
    /// The API version, also the module below.
    pub version: &'static str,
    /// The kind, also the type's name.
    pub kind: &'static str,
    /// The resource name in RBAC rules.
    pub plural: &'static str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

impl CoreType {
    /// The domain in `PROJECT`: `k8s.io`, or empty for groups such as `apps`.
    pub fn domain(&self) -> &'static str {
        match self.api_group.ends_with(".k8s.io") {
            true => "k8s.io",
            false => "",
        }
    }

    /// The fields beside `metadata` of a minimal valid object, in the syntax of `json!`, if they are known.
    pub fn sample(&self) -> Option<&'static str> {
        sample::fields(self.api_group, self.kind)
    }

    /// The oldest version of Kubernetes that a project can choose and that has the type.
    pub fn since(&self) -> KubernetesVersion {
        let mut newer = SINCE.iter();
        let row = newer.find(|(group, version, kind, _)| {
            (*group, *version, *kind) == (self.group, self.version, self.kind)
        });
        row.map_or(KubernetesVersion::OLDEST, |row| {
            KubernetesVersion::minor(row.3)
        })
    }

    /// The Rust path of the type: `k8s_openapi::api::apps::v1::Deployment`.
    pub fn path(&self) -> String {
        format!(
            "k8s_openapi::{}::{}::{}",
            self.module, self.version, self.kind
        )
    }
}

/// All core types, by group, version and kind.
pub fn all() -> impl Iterator<Item = CoreType> {
    GROUPS
        .iter()
        .flat_map(|&(group, api_group, module, kinds)| {
            kinds
                .iter()
                .map(move |&(version, kind, plural, namespaced)| CoreType {
                    group,
                    api_group,
                    module,
                    version,
                    kind,
                    plural,
                    namespaced,
                })
        })
}

/// The group that `--group` means, under its short name (`networking`) or its full one (`networking.k8s.io`).
pub fn group(flag: &str) -> Option<&'static str> {
    let is =
        |(group, api, ..): &&(&str, &str, _, _)| flag == *group || flag == *api && !api.is_empty();
    GROUPS.iter().find(is).map(|row| row.0)
}

/// The type of a group (short or full name), version and kind.
pub fn find(group: &str, version: Version, kind: &Kind) -> Option<CoreType> {
    let (group, version) = (self::group(group)?, version.to_string());
    all().find(|t| t.group == group && t.version == version && t.kind == kind.as_str())
}

/// The core type that was probably meant in a group of Kubernetes (or, if the group is empty, in any): the same kind in another
/// version, the kind with the longest common start, or the same kind in another group.
pub fn nearest(group: &str, kind: &Kind) -> Option<CoreType> {
    let kind = kind.as_str();
    let anywhere = || all().find(|t| t.kind == kind);
    if group.is_empty() {
        return anywhere();
    }
    let group = self::group(group)?;
    let alike = |t: &CoreType| {
        t.kind
            .bytes()
            .zip(kind.bytes())
            .take_while(|(a, b)| a == b)
            .count()
    };
    all()
        .filter(|t| t.group == group && alike(t) >= 3)
        .max_by_key(|t| {
            // Of several versions, the first is the stable one.
            (t.kind == kind, alike(t), std::cmp::Reverse(t.version))
        })
        .or_else(anywhere)
}

impl From<CoreType> for Plural {
    fn from(core: CoreType) -> Self {
        Self(core.plural.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_full_group_names_find_the_same_type() {
        let (version, kind) = ("v1".parse().unwrap(), "Ingress".parse().unwrap());
        let short = find("networking", version, &kind).unwrap();
        assert_eq!(find("networking.k8s.io", version, &kind), Some(short));
        assert_eq!(short.path(), "k8s_openapi::api::networking::v1::Ingress");
        assert_eq!(
            (short.domain(), short.plural, short.namespaced),
            ("k8s.io", "ingresses", true)
        );
        assert_eq!(find("", version, &kind), None);
        assert_eq!(group("core"), Some("core"));
        assert_eq!(group(""), None);
    }

    #[test]
    fn nearest_types() {
        let check = |group: &str, kind: &str, expected: Option<&str>| {
            let nearest = nearest(group, &kind.parse().unwrap());
            assert_eq!(nearest.map(|core| core.path()).as_deref(), expected);
        };
        check(
            "apps",
            "Deploymint",
            Some("k8s_openapi::api::apps::v1::Deployment"),
        );
        check(
            "resource.k8s.io",
            "DeviceClass",
            Some("k8s_openapi::api::resource::v1::DeviceClass"),
        );
        check("", "Pod", Some("k8s_openapi::api::core::v1::Pod"));
        check("apps", "Foo", None);
        check(
            "batch",
            "Deployment",
            Some("k8s_openapi::api::apps::v1::Deployment"),
        );
        check("cache", "Deployment", None);
    }

    #[test]
    fn every_row_is_made_of_valid_names() {
        for core in all() {
            core.version.parse::<Version>().unwrap();
            core.kind.parse::<Kind>().unwrap();
            core.plural.parse::<Plural>().unwrap();
        }
        assert!(all().count() > 80);
    }

    #[test]
    fn every_newer_type_is_a_row() {
        for (group, version, kind, minor) in SINCE {
            let found = all().find(|it| (it.group, it.version, it.kind) == (group, version, kind));
            let since = found.map(|it| it.since());
            assert_eq!(since, Some(KubernetesVersion::minor(*minor)), "{kind}");
        }
    }
}
