//! The names that follow from the release: of its objects, its namespace and its service account.

use serde_json::Value;

use super::node::{escaped, scalar};

// They stand for expressions while a scalar is quoted.
const FULL: &str = "zzFULLNAMEzz";
const NAMESPACE: &str = "zzNAMESPACEzz";
const ACCOUNT: &str = "zzACCOUNTzz";

pub struct Names {
    /// The name of the templates in `_helpers.tpl`.
    pub chart: String,
    /// kustomize's `namePrefix`.
    pub prefix: String,
    pub namespace: String,
    /// The manager's service account.
    pub account: String,
    /// The names of all objects with the prefix, the longest first.
    known: Vec<String>,
}

impl Names {
    /// The names in the manager's Deployment. `chart` starts the names of the templates in `_helpers.tpl`.
    pub fn new(chart: String, manager: &Value) -> Self {
        let text = |pointer| manager.pointer(pointer).and_then(Value::as_str);
        let name = text("/metadata/name").unwrap_or_default();
        let prefix = name.strip_suffix("controller-manager").unwrap_or_default();
        let account = text("/spec/template/spec/serviceAccountName");
        Self {
            chart,
            prefix: prefix.to_owned(),
            namespace: text("/metadata/namespace").unwrap_or("default").to_owned(),
            account: account.unwrap_or("default").to_owned(),
            known: Vec::new(),
        }
    }

    /// Learns the names with the prefix, also that of the Secret that the manager mounts, which may be somebody else's. An
    /// empty prefix marks no name, so all of them stay as they are.
    pub fn learn<'a>(
        &mut self,
        objects: impl Iterator<Item = &'a Value>,
        mounted: Option<&'a str>,
    ) {
        // kustomize adds no prefix to these.
        let fixed = ["Namespace", "CustomResourceDefinition"].map(Value::from);
        let prefixed = |name: &&str| !self.prefix.is_empty() && name.starts_with(&self.prefix);
        let names = objects
            .filter(|object| !fixed.contains(&object["kind"]))
            .filter_map(|object| object["metadata"]["name"].as_str())
            .chain(mounted)
            .filter(prefixed);
        self.known = names.map(str::to_owned).collect();
        self.known.sort_by_key(|name| std::cmp::Reverse(name.len()));
        self.known.dedup();
    }

    /// The name of an object without the prefix.
    pub fn bare<'a>(&self, object: &'a Value) -> &'a str {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        name.strip_prefix(&self.prefix).unwrap_or(name)
    }

    /// A string of an object, as a scalar with expressions. `parent` is the mapping around it, `key` the nearest key.
    pub fn line(&self, parent: &Value, key: &str, text: &str) -> String {
        let is_account = match key {
            "serviceAccountName" | "serviceAccount" => true,
            "name" => parent["kind"] == "ServiceAccount",
            _ => false,
        };
        // In the selector of a webhook.
        let is_namespace = key == "values" && parent["key"] == "kubernetes.io/metadata.name";
        let marked = match key {
            _ if is_account && text == self.account => ACCOUNT.to_owned(),
            _ if is_namespace && text == self.namespace => NAMESPACE.to_owned(),
            // The name of an image is no object's.
            "image" => text.to_owned(),
            _ => self.marked(key, text),
        };
        if marked == NAMESPACE {
            return "{{ .Release.Namespace | quote }}".to_owned();
        }
        escaped(&scalar(&marked))
            .replace(FULL, &self.fullname())
            .replace(NAMESPACE, "{{ .Release.Namespace }}")
            .replace(ACCOUNT, &self.service_account())
    }

    pub fn fullname(&self) -> String {
        format!(r#"{{{{ include "{}.fullname" . }}}}"#, self.chart)
    }

    /// The manager's service account: as `_helpers.tpl` has it, unless the project gives it another name.
    pub fn service_account(&self) -> String {
        let chart = &self.chart;
        match self.account.strip_prefix(&self.prefix) {
            Some("controller-manager") if !self.prefix.is_empty() => {
                format!(r#"{{{{ include "{chart}.serviceAccountName" . }}}}"#)
            }
            _ => {
                let name = self.marked("", &self.account).replace(FULL, "%s");
                let full = format!(r#"(include "{chart}.fullname" .)"#);
                let default = match name.contains("%s") {
                    true => format!("(printf {name:?} {full})"),
                    false => format!("{name:?}"),
                };
                format!("{{{{ .Values.serviceAccount.name | default {default} }}}}")
            }
        }
    }

    /// The text with marks instead of names. A name counts only as a whole: not as a part of a longer one.
    fn marked(&self, key: &str, text: &str) -> String {
        // A namespace like `default` is a common word, too.
        if key == "namespace" && text == self.namespace {
            return NAMESPACE.to_owned();
        }
        let unique = self.namespace.contains('-');
        let mut out = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if !out.ends_with(is_of_name) {
                let name = self.known.iter().find(|name| starts(rest, name));
                if let Some(name) = name {
                    let stem = self.prefix.trim_end_matches('-').len();
                    out.push_str(FULL);
                    out.push_str(&name[stem..]);
                    rest = &rest[name.len()..];
                    continue;
                }
                if starts(rest, &self.namespace) {
                    let after = &rest[self.namespace.len()..];
                    let of_service = out.ends_with('.') && out.contains(FULL);
                    let of_object = after
                        .strip_prefix('/')
                        .is_some_and(|after| self.known.iter().any(|name| starts(after, name)));
                    if unique || of_service || of_object {
                        out.push_str(NAMESPACE);
                        rest = after;
                        continue;
                    }
                }
            }
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
        out
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// Whether `text` starts with exactly this name.
fn starts(text: &str, name: &str) -> bool {
    text.strip_prefix(name)
        .is_some_and(|after| !after.starts_with(is_of_name))
}
