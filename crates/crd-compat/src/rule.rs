//! The rules, each with its id, its severity, the reason and a source.
//!
//! `docs/compatibility.md` of the repository lists the same rules in the same order; a test compares the two.

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Stored objects or existing clients stop working: the check fails.
    Breaking,
    /// Some clients may misbehave.
    Warning,
    /// People see a difference, programs do not.
    Info,
}

impl Severity {
    /// The severity in lower case, as in reports and `--output json`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// One rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name, such as `field-removed`; `check --crds --allow` takes it.
    pub id: &'static str,
    /// The severity of its findings.
    pub severity: Severity,
    /// The reason: the consequences of the change.
    pub why: &'static str,
    /// The page that documents the reason.
    pub source: &'static str,
}

/// Finds the rule with this id.
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.id == id)
}

// The pages that document the reasons.
const CHANGES: &str = "https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api_changes.md#on-compatibility";
const DEFAULTING: &str = "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting";
const DEPRECATION: &str = "https://kubernetes.io/docs/reference/using-api/deprecation-policy/";
const NAMES: &str = "https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/";
const PRUNING: &str = "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning";
const RATCHETING: &str = "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting";
const SELECTABLE: &str = "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#crd-selectable-fields";
const SERVER_SIDE_APPLY: &str =
    "https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy";
const SUBRESOURCES: &str = "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#subresources";
const VERSIONS: &str = "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/";

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $source:ident $why:literal)*) => {
        $(pub static $name: Rule = Rule { id: $id, severity: Severity::$severity, why: $why, source: $source };)*
        /// All rules: first those for definitions, then those for versions, fields and limits.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    CRD_REMOVED "crd-removed" Breaking DEPRECATION
        "deleting the definition deletes every object of its kind"
    GROUP_CHANGED "group-changed" Breaking NAMES
        "the group cannot change: this is a new definition, and existing objects stay with the old one"
    PLURAL_CHANGED "plural-changed" Breaking NAMES
        "the plural cannot change: this is a new definition, and existing objects stay with the old one"
    KIND_CHANGED "kind-changed" Breaking NAMES
        "the API server does not allow a definition to change its kind, and every manifest names it"
    LIST_KIND_CHANGED "list-kind-changed" Warning NAMES
        "clients that check the kind of a list do not recognize the new one"
    SINGULAR_CHANGED "singular-changed" Warning NAMES
        "people and scripts that use the old name with kubectl get an error"
    SCOPE_CHANGED "scope-changed" Breaking NAMES
        "the API server does not allow a definition to change its scope, and the URL of every object changes with it"
    SHORT_NAME_REMOVED "short-name-removed" Warning NAMES
        "people and scripts that use the short name with kubectl get an error"
    CATEGORY_REMOVED "category-removed" Warning NAMES
        "`kubectl get CATEGORY` no longer shows the objects"
    CONVERSION_REMOVED "conversion-removed" Breaking VERSIONS
        "objects stored in another version are served unchanged, except for their `apiVersion`"

    VERSION_REMOVED "version-removed" Breaking DEPRECATION
        "clients and manifests that use the version get 404 Not Found"
    STORED_VERSION_REMOVED "stored-version-removed" Breaking VERSIONS
        "objects may be stored in this version: the API server does not allow removing a version that `status.storedVersions` lists"
    VERSION_NOT_SERVED "version-not-served" Breaking VERSIONS
        "clients and manifests that use the version get 404 Not Found"
    VERSION_DEPRECATED "version-deprecated" Info DEPRECATION
        "clients that use the version get a warning with every response"
    VERSION_UNCONVERTED "version-unconverted" Breaking VERSIONS
        "without conversion, only `apiVersion` changes between versions: values that one version lacks are lost, and objects that it rejects cannot be updated through it"
    STORAGE_VERSION_CHANGED "storage-version-changed" Warning VERSIONS
        "objects remain stored in the old version until they are written again; until then, it cannot be removed"
    STATUS_SUBRESOURCE_REMOVED "status-subresource-removed" Breaking SUBRESOURCES
        "writes to `/status` get 404 Not Found, and any write to the object can change its status"
    STATUS_SUBRESOURCE_ADDED "status-subresource-added" Breaking SUBRESOURCES
        "clients that write the status together with the object are ignored, without an error"
    SCALE_SUBRESOURCE_REMOVED "scale-subresource-removed" Breaking SUBRESOURCES
        "`kubectl scale`, autoscalers and disruption budgets no longer find `/scale`"
    SCALE_SUBRESOURCE_CHANGED "scale-subresource-changed" Breaking SUBRESOURCES
        "`kubectl scale` and autoscalers read and write a different field"
    SELECTABLE_FIELD_REMOVED "selectable-field-removed" Breaking SELECTABLE
        "requests with this field selector get 400 Bad Request"
    PRINTER_COLUMNS_CHANGED "printer-columns-changed" Info NAMES
        "`kubectl get` shows a different table"

    FIELD_REMOVED "field-removed" Breaking PRUNING
        "the API server prunes fields that are not in the schema: stored values are lost, and values that clients set are ignored"
    TYPE_CHANGED "type-changed" Breaking CHANGES
        "values of the old type are rejected, and clients cannot decode the new type"
    TYPE_WIDENED "type-widened" Warning CHANGES
        "stored objects stay valid, but older clients may fail to decode new values"
    REQUIRED_ADDED "required-added" Breaking CHANGES
        "objects without the field are rejected: existing manifests fail, and stored objects cannot be updated"
    REQUIRED_REMOVED "required-removed" Warning CHANGES
        "clients that rely on the field may not find it"
    DEFAULT_CHANGED "default-changed" Warning DEFAULTING
        "objects that omit the field, including stored ones, change their meaning"
    NULLABLE_REMOVED "nullable-removed" Breaking DEFAULTING
        "a `null` is rejected, or replaced by the default"
    NULL_DROPPED "null-dropped" Warning DEFAULTING
        "the API server drops a `null`, including in stored objects, and rejects it in a server-side apply"
    NULLABLE_ADDED "nullable-added" Warning CHANGES
        "clients may fail to decode a `null`"
    ADDITIONAL_PROPERTIES_REMOVED "additional-properties-removed" Breaking PRUNING
        "map keys that are not in the schema are pruned"
    PRESERVE_UNKNOWN_REMOVED "preserve-unknown-removed" Breaking PRUNING
        "fields that are not in the schema were preserved, and are now pruned"
    EMBEDDED_RESOURCE_CHANGED "embedded-resource-changed" Breaking PRUNING
        "its `apiVersion`, `kind` and `metadata` become required and validated, or are no longer preserved"
    LIST_TYPE_CHANGED "list-type-changed" Breaking RATCHETING
        "a list that becomes a set or a map must not contain duplicates, and ratcheting does not exempt stored lists"
    LIST_MAP_KEYS_CHANGED "list-map-keys-changed" Breaking SERVER_SIDE_APPLY
        "different items count as duplicates: stored lists may be rejected, and field managers own different items"
    MERGE_STRATEGY_CHANGED "merge-strategy-changed" Warning SERVER_SIDE_APPLY
        "server-side apply merges differently: field managers may overwrite or keep each other's values"

    ENUM_VALUE_REMOVED "enum-value-removed" Breaking CHANGES
        "objects with this value are rejected"
    ENUM_ADDED "enum-added" Breaking CHANGES
        "objects with any other value are rejected"
    ENUM_VALUE_ADDED "enum-value-added" Warning CHANGES
        "clients that handle every known value meet an unknown one"
    MAXIMUM_LOWERED "maximum-lowered" Breaking RATCHETING
        "larger numbers are rejected; ratcheting exempts unchanged values, but not new objects"
    MINIMUM_RAISED "minimum-raised" Breaking RATCHETING
        "smaller numbers are rejected; ratcheting exempts unchanged values, but not new objects"
    MAX_LENGTH_LOWERED "max-length-lowered" Breaking RATCHETING
        "longer strings are rejected; ratcheting exempts unchanged values, but not new objects"
    MIN_LENGTH_RAISED "min-length-raised" Breaking RATCHETING
        "shorter strings are rejected; ratcheting exempts unchanged values, but not new objects"
    MAX_ITEMS_LOWERED "max-items-lowered" Breaking RATCHETING
        "longer lists are rejected; ratcheting exempts unchanged lists, but not new objects"
    MIN_ITEMS_RAISED "min-items-raised" Breaking RATCHETING
        "shorter lists are rejected; ratcheting exempts unchanged lists, but not new objects"
    MAX_PROPERTIES_LOWERED "max-properties-lowered" Breaking RATCHETING
        "larger maps are rejected; ratcheting exempts unchanged maps, but not new objects"
    MIN_PROPERTIES_RAISED "min-properties-raised" Breaking RATCHETING
        "smaller maps are rejected; ratcheting exempts unchanged maps, but not new objects"
    MULTIPLE_OF_CHANGED "multiple-of-changed" Breaking RATCHETING
        "numbers that are not a multiple of it are rejected"
    PATTERN_CHANGED "pattern-changed" Breaking RATCHETING
        "strings that do not match are rejected; whether a pattern accepts everything that another one does cannot be computed"
    FORMAT_CHANGED "format-changed" Breaking RATCHETING
        "strings of another format and numbers of another size are rejected"
    UNIQUE_ITEMS_ADDED "unique-items-added" Breaking RATCHETING
        "lists with duplicate items are rejected"
    COMBINATION_TIGHTENED "combination-tightened" Breaking RATCHETING
        "`allOf`, `anyOf`, `oneOf` or `not` rejects more, or may; below `not`, there is no ratcheting"
    CEL_RULE_ADDED "cel-rule-added" Breaking RATCHETING
        "objects that violate the rule are rejected; ratcheting exempts unchanged values unless the rule uses `oldSelf`, but not new objects"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique() {
        let ids: BTreeSet<&str> = ALL.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), ALL.len());
    }

    #[test]
    fn every_rule_is_documented_in_this_order() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compatibility.md");
        let text = std::fs::read_to_string(path).unwrap();
        let rows: Vec<String> = text
            .lines()
            .filter(|line| line.starts_with("| `"))
            .map(str::to_owned)
            .collect();
        let row = |rule: &&Rule| {
            format!(
                "| `{}` | {} | {} | [page]({}) |",
                rule.id,
                rule.severity.word(),
                rule.why,
                rule.source
            )
        };
        let rules: Vec<String> = ALL.iter().map(row).collect();
        assert_eq!(rows, rules);
    }
}
