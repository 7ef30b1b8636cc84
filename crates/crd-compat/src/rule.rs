//! The rules: what each is called, how bad it is to break it, why, and where that is written.
//!
//! `docs/compatibility.md` of the repository lists the same rules in the same order, and a test compares the two.

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Stored objects or clients that worked stop working: the check fails.
    Breaking,
    /// Some clients may be surprised.
    Warning,
    /// People see a difference, programs do not.
    Info,
}

impl Severity {
    /// The word of reports and of `--output json`.
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
    /// What `--allow` takes.
    pub id: &'static str,
    /// How bad it is to break it.
    pub severity: Severity,
    /// What happens to whom.
    pub why: &'static str,
    /// The page that says so.
    pub source: &'static str,
}

/// The rule called `id`.
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.id == id)
}

macro_rules! pages {
    ($($name:ident $url:literal)*) => { $(const $name: &str = $url;)* };
}

pages! {
    CHANGES "https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api_changes.md#on-compatibility"
    DEFAULTING "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting"
    DEPRECATION "https://kubernetes.io/docs/reference/using-api/deprecation-policy/"
    NAMES "https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/"
    PRUNING "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning"
    RATCHETING "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting"
    SELECTABLE "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#crd-selectable-fields"
    SERVER_SIDE_APPLY "https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy"
    SUBRESOURCES "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#subresources"
    VERSIONS "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/"
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $source:ident $why:literal)*) => {
        $(pub static $name: Rule = Rule { id: $id, severity: Severity::$severity, why: $why, source: $source };)*
        /// Every rule: those of whole definitions, of versions, of fields.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    CRD_REMOVED "crd-removed" Breaking DEPRECATION
        "when the definition is deleted, every object of its kind is deleted with it"
    GROUP_CHANGED "group-changed" Breaking NAMES
        "a group cannot change: it is another definition, and the objects stay with the old one"
    PLURAL_CHANGED "plural-changed" Breaking NAMES
        "a plural cannot change: it is another definition, and the objects stay with the old one"
    KIND_CHANGED "kind-changed" Breaking NAMES
        "the API server refuses to change the kind of a definition, and every manifest names it"
    LIST_KIND_CHANGED "list-kind-changed" Warning NAMES
        "clients that look at the kind of a list do not know the new one"
    SINGULAR_CHANGED "singular-changed" Warning NAMES
        "people and scripts that use the old word with kubectl get an error"
    SCOPE_CHANGED "scope-changed" Breaking NAMES
        "the API server refuses to change the scope of a definition, and every URL of an object changes with it"
    SHORT_NAME_REMOVED "short-name-removed" Warning NAMES
        "people and scripts that use it with kubectl get an error"
    CATEGORY_REMOVED "category-removed" Warning NAMES
        "`kubectl get CATEGORY` no longer shows the objects"
    CONVERSION_REMOVED "conversion-removed" Breaking VERSIONS
        "objects stored in another version are then served with nothing but their `apiVersion` changed"

    VERSION_REMOVED "version-removed" Breaking DEPRECATION
        "clients and manifests that use the version get 404 Not Found"
    STORED_VERSION_REMOVED "stored-version-removed" Breaking VERSIONS
        "objects may be stored in it: the API server refuses to remove a version that `status.storedVersions` names"
    VERSION_NOT_SERVED "version-not-served" Breaking VERSIONS
        "clients and manifests that use the version get 404 Not Found"
    VERSION_DEPRECATED "version-deprecated" Info DEPRECATION
        "clients that use the version get a warning with every answer"
    VERSION_UNCONVERTED "version-unconverted" Breaking VERSIONS
        "without conversion only `apiVersion` changes between versions: what the stored or the served one lacks is lost, and what it refuses cannot be updated through it"
    STORAGE_VERSION_CHANGED "storage-version-changed" Warning VERSIONS
        "objects stay stored in the old version until they are written again, and until then it cannot be removed"
    STATUS_SUBRESOURCE_REMOVED "status-subresource-removed" Breaking SUBRESOURCES
        "writes to `/status` get 404 Not Found, and other writes change the status"
    STATUS_SUBRESOURCE_ADDED "status-subresource-added" Breaking SUBRESOURCES
        "clients that write the status with the object are ignored from then on, without an error"
    SCALE_SUBRESOURCE_REMOVED "scale-subresource-removed" Breaking SUBRESOURCES
        "`kubectl scale`, autoscalers and disruption budgets no longer find `/scale`"
    SCALE_SUBRESOURCE_CHANGED "scale-subresource-changed" Breaking SUBRESOURCES
        "`kubectl scale` and autoscalers read and write another field"
    SELECTABLE_FIELD_REMOVED "selectable-field-removed" Breaking SELECTABLE
        "requests with that field selector get 400 Bad Request"
    PRINTER_COLUMNS_CHANGED "printer-columns-changed" Info NAMES
        "`kubectl get` shows another table"

    FIELD_REMOVED "field-removed" Breaking PRUNING
        "the API server drops fields that the schema does not have: values are lost, and clients that set it are ignored"
    TYPE_CHANGED "type-changed" Breaking CHANGES
        "values of the old type are refused, and clients cannot decode the new one"
    TYPE_WIDENED "type-widened" Warning CHANGES
        "stored objects stay valid, but older clients may not decode what new ones write"
    REQUIRED_ADDED "required-added" Breaking CHANGES
        "objects without the field are refused: manifests that worked do not, and stored objects cannot be updated"
    REQUIRED_REMOVED "required-removed" Warning CHANGES
        "clients that rely on the field may not find it"
    DEFAULT_CHANGED "default-changed" Warning DEFAULTING
        "objects that leave the field out change their meaning, the stored ones too"
    NULLABLE_REMOVED "nullable-removed" Breaking DEFAULTING
        "a `null` is refused, or becomes the default"
    NULL_DROPPED "null-dropped" Warning DEFAULTING
        "the API server drops a `null`, of stored objects, too; it refuses one that is applied server-side"
    NULLABLE_ADDED "nullable-added" Warning CHANGES
        "clients may not decode a `null`"
    ADDITIONAL_PROPERTIES_REMOVED "additional-properties-removed" Breaking PRUNING
        "keys of the map that are not named in the schema are dropped"
    PRESERVE_UNKNOWN_REMOVED "preserve-unknown-removed" Breaking PRUNING
        "fields that the schema does not name were kept, and are dropped now"
    EMBEDDED_RESOURCE_CHANGED "embedded-resource-changed" Breaking PRUNING
        "`apiVersion`, `kind` and `metadata` in it are required and checked, or no longer kept"
    LIST_TYPE_CHANGED "list-type-changed" Breaking RATCHETING
        "a list that becomes a set or a map may hold no item twice, and ratcheting does not spare stored lists"
    LIST_MAP_KEYS_CHANGED "list-map-keys-changed" Breaking SERVER_SIDE_APPLY
        "other items count as the same: stored lists may be refused, and managers own other items"
    MERGE_STRATEGY_CHANGED "merge-strategy-changed" Warning SERVER_SIDE_APPLY
        "server-side apply merges in another way, so that two managers overwrite or keep each other's values"

    ENUM_VALUE_REMOVED "enum-value-removed" Breaking CHANGES
        "objects with that value are refused"
    ENUM_ADDED "enum-added" Breaking CHANGES
        "objects with any other value are refused"
    ENUM_VALUE_ADDED "enum-value-added" Warning CHANGES
        "clients that know all values meet one that they do not know"
    MAXIMUM_LOWERED "maximum-lowered" Breaking RATCHETING
        "greater numbers are refused; ratcheting spares values that do not change, but no new object"
    MINIMUM_RAISED "minimum-raised" Breaking RATCHETING
        "smaller numbers are refused; ratcheting spares values that do not change, but no new object"
    MAX_LENGTH_LOWERED "max-length-lowered" Breaking RATCHETING
        "longer strings are refused; ratcheting spares values that do not change, but no new object"
    MIN_LENGTH_RAISED "min-length-raised" Breaking RATCHETING
        "shorter strings are refused; ratcheting spares values that do not change, but no new object"
    MAX_ITEMS_LOWERED "max-items-lowered" Breaking RATCHETING
        "longer lists are refused; ratcheting spares lists that do not change, but no new object"
    MIN_ITEMS_RAISED "min-items-raised" Breaking RATCHETING
        "shorter lists are refused; ratcheting spares lists that do not change, but no new object"
    MAX_PROPERTIES_LOWERED "max-properties-lowered" Breaking RATCHETING
        "larger maps are refused; ratcheting spares maps that do not change, but no new object"
    MIN_PROPERTIES_RAISED "min-properties-raised" Breaking RATCHETING
        "smaller maps are refused; ratcheting spares maps that do not change, but no new object"
    MULTIPLE_OF_CHANGED "multiple-of-changed" Breaking RATCHETING
        "numbers that are no multiple of it are refused"
    PATTERN_CHANGED "pattern-changed" Breaking RATCHETING
        "strings that do not match are refused; whether a pattern allows all that another one does cannot be told"
    FORMAT_CHANGED "format-changed" Breaking RATCHETING
        "strings of another format and numbers of another size are refused"
    UNIQUE_ITEMS_ADDED "unique-items-added" Breaking RATCHETING
        "lists that hold an item twice are refused"
    COMBINATION_TIGHTENED "combination-tightened" Breaking RATCHETING
        "`allOf`, `anyOf`, `oneOf` or `not` refuses more, or may; what it refuses is not ratcheted below a `not`"
    CEL_RULE_ADDED "cel-rule-added" Breaking RATCHETING
        "objects that break the rule are refused; ratcheting spares values that do not change, unless the rule uses `oldSelf`, but no new object"
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
