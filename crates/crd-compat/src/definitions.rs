//! Definitions and their versions: names, scope, served and stored versions, subresources.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Finding, Findings, Place, Rule, Severity,
    definition::{Definition, Version},
    fields, rule,
};

/// Compares all definitions. A definition counts as renamed if it is gone and a new one has its kind.
pub fn compare(
    before: &BTreeMap<String, Arc<Definition>>,
    after: &BTreeMap<String, Arc<Definition>>,
) -> Vec<Finding> {
    let changes = |(name, old): (&String, &Arc<Definition>)| {
        let mut findings = Findings::default();
        findings.place.definition.clone_from(name);
        let renamed = || {
            let mut new = after.iter().filter(|(name, _)| !before.contains_key(*name));
            new.find(|(_, new)| new.spec.names.kind == old.spec.names.kind)
        };
        let new = after.get(name).or_else(|| Some(renamed()?.1));
        match new {
            Some(new) if Arc::ptr_eq(old, new) => {}
            Some(new) => definition(old, new, &mut findings),
            None => findings.add(&rule::CRD_REMOVED, "was removed"),
        }
        findings.list
    };
    before.iter().flat_map(changes).collect()
}

/// The names of a definition that may not change, with the defaults of those that are absent.
fn names(definition: &Definition) -> [(&'static Rule, &'static str, String); 6] {
    let (spec, names) = (&definition.spec, &definition.spec.names);
    let list_kind = names.list_kind.clone();
    let list_kind = list_kind.unwrap_or_else(|| format!("{}List", names.kind));
    let singular = names.singular.clone();
    let singular = singular.unwrap_or_else(|| names.kind.to_lowercase());
    [
        (&rule::GROUP_CHANGED, "group", spec.group.clone()),
        (&rule::PLURAL_CHANGED, "plural", names.plural.clone()),
        (&rule::KIND_CHANGED, "kind", names.kind.clone()),
        (&rule::LIST_KIND_CHANGED, "list kind", list_kind),
        (&rule::SINGULAR_CHANGED, "singular", singular),
        (&rule::SCOPE_CHANGED, "scope", spec.scope.clone()),
    ]
}

fn definition(before: &Definition, after: &Definition, findings: &mut Findings) {
    for ((rule, what, old), (.., new)) in names(before).into_iter().zip(names(after)) {
        findings.add_if_changed(rule, what, quoted(&old), quoted(&new));
    }
    let (old, new) = (&before.spec, &after.spec);
    for name in old.names.short_names.difference(&new.names.short_names) {
        let what = format!("short name `{name}` was removed");
        findings.add(&rule::SHORT_NAME_REMOVED, what);
    }
    for name in old.names.categories.difference(&new.names.categories) {
        let what = format!("category `{name}` was removed");
        findings.add(&rule::CATEGORY_REMOVED, what);
    }
    if old.preserve_unknown_fields && !new.preserve_unknown_fields {
        let what = "`preserveUnknownFields` was removed";
        findings.add(&rule::PRESERVE_UNKNOWN_REMOVED, what);
    }
    if before.converts() && !after.converts() && new.versions.len() > 1 {
        let what = "is no longer converted between its versions";
        findings.add(&rule::CONVERSION_REMOVED, what);
    }
    if let (Some(old), Some(new)) = (before.storage(), after.storage())
        && after.version(&old.name).is_some()
    {
        let (rule, old, new) = (&rule::STORAGE_VERSION_CHANGED, &old.name, &new.name);
        findings.add_if_changed(rule, "storage version", quoted(old), quoted(new));
    }
    for version in &old.versions {
        findings.place.version.clone_from(&version.name);
        let may_be_stored = before.may_store(version);
        match after.version(&version.name) {
            // Nobody uses a version before it is served, or after it was retired.
            _ if !version.served && !may_be_stored => {}
            Some(now) => self::version(version, now, findings),
            None if may_be_stored => {
                let what = "was removed, and objects may be stored in it";
                findings.add(&rule::STORED_VERSION_REMOVED, what);
            }
            None => findings.add(&rule::VERSION_REMOVED, "was removed"),
        }
    }
    unconverted(before, after, findings);
}

fn quoted(name: &str) -> Option<String> {
    Some(format!("`{name}`"))
}

fn version(before: &Version, after: &Version, findings: &mut Findings) {
    if before.served && !after.served {
        findings.add(&rule::VERSION_NOT_SERVED, "is no longer served");
    }
    if !before.deprecated && after.deprecated {
        findings.add(&rule::VERSION_DEPRECATED, "is now deprecated");
    }
    let (old, new) = (&before.subresources, &after.subresources);
    match (&old.status, &new.status) {
        (Some(_), None) => {
            findings.add(&rule::STATUS_SUBRESOURCE_REMOVED, "no longer has `/status`");
        }
        (None, Some(_)) => findings.add(&rule::STATUS_SUBRESOURCE_ADDED, "now has `/status`"),
        _ => {}
    }
    match (&old.scale, &new.scale) {
        (Some(_), None) => findings.add(&rule::SCALE_SUBRESOURCE_REMOVED, "no longer has `/scale`"),
        (Some(old), Some(new)) if old.is_replaced_by(new) => {
            let what = "`/scale` now uses different fields";
            findings.add(&rule::SCALE_SUBRESOURCE_CHANGED, what);
        }
        _ => {}
    }
    for field in &before.selectable_fields {
        if !after.selectable_fields.contains(field) {
            let what = format!("`{}` is no longer a selectable field", field.json_path);
            findings.add(&rule::SELECTABLE_FIELD_REMOVED, what);
        }
    }
    if before.additional_printer_columns != after.additional_printer_columns {
        let what = "has different columns in `kubectl get`";
        findings.add(&rule::PRINTER_COLUMNS_CHANGED, what);
    }
    fields::compare(before.schema(), after.schema(), findings);
}

/// Compares the storage version with each other served version, in both directions, unless a webhook converts. Of two
/// versions that were served and stored without conversion before, only new differences count.
fn unconverted(before: &Definition, after: &Definition, findings: &mut Findings) {
    let Some(storage) = after.storage().filter(|_| !after.converts()) else {
        return;
    };
    let was_stored = before.storage().filter(|_| !before.converts());
    let was_stored = was_stored.filter(|old| old.name == storage.name);
    for version in &after.spec.versions {
        if !version.served || version.name == storage.name {
            continue;
        }
        findings.place.version.clone_from(&version.name);
        let place = &findings.place;
        let was_served = before.version(&version.name).filter(|old| old.served);
        let known = was_stored.zip(was_served);
        let mut places = BTreeSet::new();
        for (from, to, old) in [
            (storage, version, known.map(|(stored, _)| stored)),
            (version, storage, known.map(|(_, served)| served)),
        ] {
            let mut lost = lost(from, to, place);
            if let Some(old) = old {
                let new = self::lost(from, old, place);
                lost.retain(|place| new.contains(place));
            }
            places.extend(lost);
        }
        let what = format!(
            "differs from the storage version `{}`, and there is no conversion",
            storage.name
        );
        let rule = &rule::VERSION_UNCONVERTED;
        for place in places {
            let what = what.clone();
            findings.list.push(Finding { place, rule, what });
        }
    }
}

/// The places where a value that is valid in `from` is dropped by `to`, or rejected by `to` if that is served.
fn lost(from: &Version, to: &Version, place: &Place) -> BTreeSet<Place> {
    let mut found = Findings {
        place: place.clone(),
        ..Findings::default()
    };
    fields::compare(from.schema(), to.schema(), &mut found);
    let refuses = |rule: &Rule| {
        to.served && (rule.severity == Severity::Breaking || *rule == rule::DEFAULT_CHANGED)
    };
    let found = found.list.into_iter();
    found
        .filter(|finding| DROPS.contains(&finding.rule) || refuses(finding.rule))
        .map(|finding| finding.place)
        .collect()
}

/// The rules whose findings mean that a version drops values of another one, whether it is served or not.
const DROPS: [&Rule; 4] = [
    &rule::FIELD_REMOVED,
    &rule::TYPE_CHANGED,
    &rule::PRESERVE_UNKNOWN_REMOVED,
    &rule::ADDITIONAL_PROPERTIES_REMOVED,
];
