//! Whole definitions and their versions: names, scope, what is served and stored, subresources.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Finding, Findings, Place, Rule, Severity,
    definition::{Definition, Version},
    fields, rule,
};

/// Compares all definitions. One that is gone while a new one has its kind was renamed.
pub fn compare(
    before: &BTreeMap<String, Arc<Definition>>,
    after: &BTreeMap<String, Arc<Definition>>,
) -> Vec<Finding> {
    let changes = |(name, old): (&String, &Arc<Definition>)| {
        let mut findings = Findings::default();
        findings.place.definition.clone_from(name);
        let renamed = || {
            let new = |(name, new): &(&String, &Arc<Definition>)| {
                !before.contains_key(*name) && new.spec.names.kind == old.spec.names.kind
            };
            after.iter().find(new).map(|(_, new)| new)
        };
        match after.get(name).or_else(renamed) {
            Some(new) if Arc::ptr_eq(old, new) => {}
            Some(new) => definition(old, new, &mut findings),
            None => findings.add(&rule::CRD_REMOVED, "was removed"),
        }
        findings.list
    };
    before.iter().flat_map(changes).collect()
}

fn definition(before: &Definition, after: &Definition, findings: &mut Findings) {
    let (old, new) = (&before.spec, &after.spec);
    for (rule, what, old, new) in [
        (&rule::GROUP_CHANGED, "group", &old.group, &new.group),
        (
            &rule::PLURAL_CHANGED,
            "plural",
            &old.names.plural,
            &new.names.plural,
        ),
        (
            &rule::KIND_CHANGED,
            "kind",
            &old.names.kind,
            &new.names.kind,
        ),
        (
            &rule::LIST_KIND_CHANGED,
            "list kind",
            &before.list_kind(),
            &after.list_kind(),
        ),
        (
            &rule::SINGULAR_CHANGED,
            "singular",
            &before.singular(),
            &after.singular(),
        ),
        (&rule::SCOPE_CHANGED, "scope", &old.scope, &new.scope),
    ] {
        if old != new {
            findings.add(rule, format!("{what} was `{old}`, now `{new}`"));
        }
    }
    for name in old.names.short_names.difference(&new.names.short_names) {
        findings.add(
            &rule::SHORT_NAME_REMOVED,
            format!("short name `{name}` was removed"),
        );
    }
    for name in old.names.categories.difference(&new.names.categories) {
        findings.add(
            &rule::CATEGORY_REMOVED,
            format!("category `{name}` was removed"),
        );
    }
    if old.preserve_unknown_fields && !new.preserve_unknown_fields {
        findings.add(
            &rule::PRESERVE_UNKNOWN_REMOVED,
            "`preserveUnknownFields` was removed",
        );
    }
    if before.converts() && !after.converts() && new.versions.len() > 1 {
        findings.add(
            &rule::CONVERSION_REMOVED,
            "is no longer converted between its versions",
        );
    }
    if let (Some(old), Some(new)) = (before.storage(), after.storage())
        && old.name != new.name
        && after.version(&old.name).is_some()
    {
        let what = format!("storage version was `{}`, now `{}`", old.name, new.name);
        findings.add(&rule::STORAGE_VERSION_CHANGED, what);
    }
    for version in &old.versions {
        findings.place.version.clone_from(&version.name);
        match after.version(&version.name) {
            // Nobody uses it, as long as it is being developed or since it was retired.
            Some(_) if !version.served && !before.may_store(version) => {}
            Some(now) => self::version(version, now, findings),
            None if before.may_store(version) => findings.add(
                &rule::STORED_VERSION_REMOVED,
                "was removed, and objects may be stored in it",
            ),
            // The last step of retiring a version, which nobody can use.
            None if !version.served => {}
            None => findings.add(&rule::VERSION_REMOVED, "was removed"),
        }
    }
    unconverted(before, after, findings);
    findings.place.version.clear();
}

fn version(before: &Version, after: &Version, findings: &mut Findings) {
    if before.served && !after.served {
        findings.add(&rule::VERSION_NOT_SERVED, "is no longer served");
    }
    if !before.deprecated && after.deprecated {
        findings.add(&rule::VERSION_DEPRECATED, "is deprecated now");
    }
    let (old, new) = (&before.subresources, &after.subresources);
    match (&old.status, &new.status) {
        (Some(_), None) => findings.add(
            &rule::STATUS_SUBRESOURCE_REMOVED,
            "has no `/status` any more",
        ),
        (None, Some(_)) => findings.add(&rule::STATUS_SUBRESOURCE_ADDED, "has `/status` now"),
        _ => {}
    }
    match (&old.scale, &new.scale) {
        (Some(_), None) => {
            findings.add(&rule::SCALE_SUBRESOURCE_REMOVED, "has no `/scale` any more")
        }
        (Some(old), Some(new)) if old.changes_in(new) => {
            findings.add(
                &rule::SCALE_SUBRESOURCE_CHANGED,
                "`/scale` uses other fields",
            );
        }
        _ => {}
    }
    let selectable: BTreeSet<_> = after.selectable_fields.iter().collect();
    for field in before
        .selectable_fields
        .iter()
        .filter(|field| !selectable.contains(field))
    {
        let what = format!("`{}` cannot be selected by any more", field.json_path);
        findings.add(&rule::SELECTABLE_FIELD_REMOVED, what);
    }
    if before.additional_printer_columns != after.additional_printer_columns {
        findings.add(
            &rule::PRINTER_COLUMNS_CHANGED,
            "has other columns in `kubectl get`",
        );
    }
    fields::compare(&before.schema.schema, &after.schema.schema, findings);
}

/// What is lost or refused between the stored version and another one, if nothing converts: a write through the one drops
/// what it does not have, and so does reading what was written through the other; what the one takes and the other
/// refuses cannot be updated through that. Of two versions that were so before, only what one of them lets in since is new.
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
        findings
            .list
            .extend(places.into_iter().map(|place| Finding {
                place,
                rule: &rule::VERSION_UNCONVERTED,
                what: format!(
                    "differs from the stored version `{}`, and nothing converts",
                    storage.name
                ),
            }));
    }
}

/// Where a value that one version takes and keeps is dropped by another one, or refused if that is served.
fn lost(from: &Version, to: &Version, place: &Place) -> BTreeSet<Place> {
    let mut found = Findings {
        place: place.clone(),
        list: Vec::new(),
    };
    fields::compare(&from.schema.schema, &to.schema.schema, &mut found);
    let refuses = |rule: &Rule| {
        to.served && (rule.severity == Severity::Breaking || *rule == rule::DEFAULT_CHANGED)
    };
    let found = found.list.into_iter();
    found
        .filter(|finding| DROPS.contains(&finding.rule) || refuses(finding.rule))
        .map(|finding| finding.place)
        .collect()
}

/// What drops values where two versions of an object have only their `apiVersion` changed, served or not.
const DROPS: [&Rule; 4] = [
    &rule::FIELD_REMOVED,
    &rule::TYPE_CHANGED,
    &rule::PRESERVE_UNKNOWN_REMOVED,
    &rule::ADDITIONAL_PROPERTIES_REMOVED,
];
