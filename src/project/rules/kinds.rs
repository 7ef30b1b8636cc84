//! Rules of kinds: their versions, their names in the API group, their Rust types.

use super::{Defined, Entry, clash};
use crate::name::{Kind, Plural, ShortName, rust};
use crate::project::violation::{Remedy, Violation, violation};

/// A CRD has one scope and one set of names for all its versions.
pub fn versions(apis: &[Defined<'_>]) -> Option<Violation> {
    let (first, it, _) = clash(apis, |it| (&it.key.group, &it.key.kind), Defined::shared)?;
    let (plural, namespaced, shorts) = first.shared();
    let [ours, theirs] = [it, first].map(|it| {
        let (plural, namespaced, shorts) = it.shared();
        let scope = match namespaced {
            true => "namespaced",
            false => "cluster-wide",
        };
        let shorts = match shorts {
            [] => "(none)".to_owned(),
            names => format!("`{}`", list(names)),
        };
        [format!("`{plural}`"), scope.to_owned(), shorts]
    });
    let different = (0..3).find(|&at| ours[at] != theirs[at])?;
    let what = ["plural", "scope", "short names"][different];
    let (ours, theirs) = (&ours[different], &theirs[different]);
    let (kind, version, other) = (&it.key.kind, it.key.version, first.key.version);
    let broken =
        violation!(it.key => "`{kind}` has the {what} {ours} in {version} and {theirs} in {other}",
        "all versions of a kind are one CRD, which has one scope and one set of names")
        .beside(first.key);
    Some(match different {
        0 => broken.set("plural", plural),
        1 => broken.set("namespaced", namespaced),
        _ => broken
            .note("to change them, edit the kind: that changes all versions")
            .short_names(shorts),
    })
}

/// In one API group, every kind and every kind of a list is unique.
pub fn lists(apis: &[Defined<'_>]) -> Option<Violation> {
    let mut names = Vec::new();
    for it in apis {
        names.push((it.key, it.key.kind.to_string()));
        names.push((it.key, format!("{}List", it.key.kind)));
    }
    let ((first, _), (key, list), _) =
        clash(&names, |(key, it)| (&key.group, it), |it| &it.0.kind)?;
    let (other, kind) = (&first.kind, &key.kind);
    let broken = violation!(key => "the kinds `{other}` and `{kind}` clash",
        "a list of `{other}` or `{kind}` is of kind `{list}`");
    Some(broken.another_kind().beside(first))
}

/// A kind has each of its short names once.
pub fn short_names(apis: &[Defined<'_>]) -> Option<Violation> {
    apis.iter().find_map(|it| {
        let (kind, names) = (&it.key.kind, &it.api.short_names);
        let twice = |at: &usize| names[..*at].contains(&names[*at]);
        let short = &names[(1..names.len()).find(twice)?];
        let mut once = names.clone();
        once.sort();
        once.dedup();
        let broken = violation!(it.key => "`{kind}` has the short name `{short}` twice");
        Some(broken.short_names(&once))
    })
}

/// In one API group, every plural, singular and short name means one kind: the API server would not establish the second CRD.
pub fn names(apis: &[Defined<'_>]) -> Option<Violation> {
    let mut names = Vec::new();
    for it in apis {
        names.push((it, it.key.kind.singular(), "singular"));
        names.push((it, it.resource.plural.to_string(), "plural"));
        let shorts = it.api.short_names.iter();
        names.extend(shorts.map(|name| (it, name.to_string(), "short name")));
    }
    let ((first, _, as_what), (it, name, what), _) = clash(
        &names,
        |(it, name, _)| (&it.key.group, name),
        |it| &it.0.key.kind,
    )?;
    let (other, kind, singular) = (&first.key.kind, &it.key.kind, it.key.kind.singular());
    if other.singular() == singular {
        let broken = violation!(it.key => "the kinds `{other}` and `{kind}` differ only by upper and lower case",
            "in lower case a kind is the CRD's singular and, with `_`, a Rust module: both have to be unique")
            .beside(first.key);
        return Some(broken.other_kind(other));
    }
    let broken = violation!(it.key => "`{name}`, the {what} of `{kind}`, is already the {as_what} of `{other}`",
        "plurals, singulars and short names share one space in an API group")
    .beside(first.key);
    Some(match *what {
        "singular" => broken.other_kind(other),
        "plural" => match Plural::of(kind) {
            regular if regular.as_str() != name => broken.set("plural", regular),
            _ => broken.set("plural", format!("{singular}-resources")),
        },
        _ => {
            let mut left = it.api.short_names.clone();
            left.retain(|short| short.as_str() != name);
            broken
                .short_names(&left)
                .in_file(format!("remove {name} from `shortNames`"))
        }
    })
}

/// The types of one version are re-exported side by side.
pub fn types(typed: &[Entry<'_>]) -> Option<Violation> {
    let types: Vec<_> = typed
        .iter()
        .map(|(key, _)| (*key, rust::type_name(&key.kind)))
        .collect();
    let ((first, _), (key, name), _) = clash(
        &types,
        |(key, name)| (&key.group, key.version, name),
        |it| it.0,
    )?;
    let (other, kind) = (&first.kind, &key.kind);
    let broken = violation!(key => "`{other}` and `{kind}` would both be the Rust type `{name}`",
        "a kind whose name Rust or the generated code uses already gets `Resource` behind it");
    Some(broken.another_kind().beside(first))
}

impl Defined<'_> {
    /// The names and the scope, which all versions of a kind share.
    fn shared(&self) -> (&Plural, bool, &[ShortName]) {
        (
            &self.resource.plural,
            self.api.namespaced,
            &self.api.short_names,
        )
    }
}

impl Violation {
    /// Corrects a command by the kind that is there.
    fn other_kind(self, kind: &Kind) -> Self {
        let remedy = Remedy::set([("kind", kind)]);
        self.another_kind().by_command(remedy)
    }

    /// Corrects a command by these short names, or by none.
    fn short_names(self, names: &[ShortName]) -> Self {
        let remedy = match names {
            [] => Remedy::Drop(vec!["shortNames"]),
            names => Remedy::set([("shortNames", list(names).replace(", ", ","))]),
        };
        self.by_command(remedy)
            .in_file(format!("shortNames: [{}]", list(names)))
    }
}

/// `a, b`.
fn list(names: &[ShortName]) -> String {
    let names: Vec<_> = names.iter().map(ShortName::as_str).collect();
    names.join(", ")
}
