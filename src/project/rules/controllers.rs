//! Rules of controllers: one default for each kind, one name and one file for each.

use super::{Entry, clash};
use crate::project::violation::{Violation, violation};
use crate::project::{ControllerView, Key};

pub fn check(entries: &[Entry<'_>]) -> Option<Violation> {
    let views = entries.iter().flat_map(|(key, it)| it.controllers_of(key));
    let controllers: Vec<_> = views.collect();
    defaults(&controllers)
        .or_else(|| files(&controllers))
        .or_else(|| names(&controllers))
}

/// A kind has one default controller, whichever entry it is in.
fn defaults(controllers: &[ControllerView<'_>]) -> Option<Violation> {
    let defaults: Vec<_> = controllers.iter().filter(|it| it.default).collect();
    let (first, it, _) = clash(&defaults, |it| it.key.full_kind(), |it| it.key)?;
    let (kind, version, name) = (&it.key.kind, first.key.version, own_name(it.key));
    let broken = violation!(it.key => "`{kind}` has a controller already",
        "its entry is that of {version}, and it uses the storage version; another controller needs a name of its own")
    .set("controller", false)
    .in_file(format!("controllers: [{{name: {name}}}]"));
    Some(broken.beside(first.key))
}

/// Two controllers of a group need two files.
fn files(controllers: &[ControllerView<'_>]) -> Option<Violation> {
    let (first, it, path) = clash(controllers, ControllerView::path, identity)?;
    let names = format!("the controllers `{}` and `{}`", first.name, it.name);
    Some(named(first, it, format!("{names} would both be `{path}`")))
}

/// Metrics, events and field managers tell controllers apart by their names.
fn names(controllers: &[ControllerView<'_>]) -> Option<Violation> {
    let (first, it, name) = clash(controllers, |it| &it.name, identity)?;
    let entries = format!("`{}` and `{}`", first.key, it.key);
    Some(named(
        first,
        it,
        format!("{entries} have controllers of one name, `{name}`"),
    ))
}

fn identity<'a>(it: &'a ControllerView<'_>) -> (&'a Key, bool, &'a str) {
    (it.key, it.default, &it.name)
}

fn named(first: &ControllerView<'_>, it: &ControllerView<'_>, what: String) -> Violation {
    let name = own_name(it.key);
    Violation::of(it.key, what)
        .note("a controller is named `<group>-<kind>` unless it has a name of its own")
        .set("controllers", &name)
        .in_file(format!("controllers: [{{name: {name}}}]"))
        .beside(first.key)
}

/// A name for another controller of the kind.
fn own_name(key: &Key) -> String {
    format!("{}-{}", key.kind.singular(), key.version)
}
