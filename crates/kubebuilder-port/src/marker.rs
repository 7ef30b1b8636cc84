//! Markers in comments of Go: permissions and admission webhooks.

use guarded_yaml as yaml;
use serde_yaml::Value;

/// The permissions of one marker `+kubebuilder:rbac`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// The marker, as it is in the file.
    pub marker: String,
    /// The API groups; the core group is empty.
    pub groups: Vec<String>,
    /// The resources, also with a subresource: `deployments/scale`.
    pub resources: Vec<String>,
    /// The names of objects; empty for all objects.
    pub names: Vec<String>,
    /// The verbs.
    pub verbs: Vec<String>,
    /// The namespace of a Role; a ClusterRole has none.
    pub namespace: Option<String>,
    /// Whether there is something else: URLs, another role.
    pub has_more: bool,
}

/// The settings of one marker `+kubebuilder:webhook`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admission {
    /// The marker, as it is in the file.
    pub marker: String,
    /// The settings, in their order.
    pub settings: Vec<Setting>,
}

/// One setting of a marker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// The setting, as it is in the file: `verbs=create;update`.
    pub text: String,
    /// Its name.
    pub name: String,
    /// Its values, without quotes.
    pub values: Vec<String>,
}

impl Admission {
    /// The webhook of a comment, if it is such a marker.
    pub fn of(comment: &str) -> Option<Self> {
        let (marker, fields) = marker(comment, "+kubebuilder:webhook:")?;
        Some(Self {
            marker: marker.to_owned(),
            settings: settings(fields),
        })
    }

    /// The webhooks of configurations in a manifest, as the markers that controller-gen would make them of.
    pub fn of_manifest(text: &str) -> Vec<Self> {
        let documents: Vec<Value> = yaml::documents(text).unwrap_or_default();
        let configurations = documents.iter().filter_map(|it| {
            let kind = it
                .get("kind")?
                .as_str()?
                .strip_suffix("WebhookConfiguration")?;
            Some((kind == "Mutating", it.get("webhooks")?.as_sequence()?))
        });
        let webhooks = configurations.flat_map(|(is_mutating, webhooks)| {
            webhooks
                .iter()
                .map(move |webhook| Self::of_webhook(is_mutating, webhook))
        });
        webhooks.collect()
    }

    fn of_webhook(is_mutating: bool, webhook: &Value) -> Self {
        let rule = webhook.get("rules").and_then(|rules| rules.get(0));
        let service = webhook.get("clientConfig").and_then(|it| it.get("service"));
        let from = |value: Option<&Value>, key: &str, name: &str| {
            let value = value.and_then(|it| it.get(key));
            let values: Vec<String> = match value {
                Some(Value::Sequence(all)) => all.iter().filter_map(scalar).collect(),
                // A selector: that it is there has to be said.
                Some(Value::Mapping(fields)) if !fields.is_empty() => vec!["…".to_owned()],
                Some(one) => scalar(one).into_iter().collect(),
                None => Vec::new(),
            };
            (name.to_owned(), values)
        };
        let settings = [
            ("mutating".to_owned(), vec![is_mutating.to_string()]),
            from(service, "path", "path"),
            from(rule, "apiGroups", "groups"),
            from(rule, "apiVersions", "versions"),
            from(rule, "resources", "resources"),
            from(rule, "operations", "verbs"),
            from(Some(webhook), "failurePolicy", "failurePolicy"),
            from(Some(webhook), "matchPolicy", "matchPolicy"),
            from(Some(webhook), "sideEffects", "sideEffects"),
            from(Some(webhook), "reinvocationPolicy", "reinvocationPolicy"),
            from(Some(webhook), "timeoutSeconds", "timeoutSeconds"),
            from(Some(webhook), "namespaceSelector", "namespaceSelector"),
            from(Some(webhook), "objectSelector", "objectSelector"),
        ];
        let settings = settings
            .into_iter()
            .filter(|(_, values)| !values.is_empty());
        let name = webhook
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        Self {
            marker: name.to_owned(),
            settings: settings
                .map(|(name, values)| Setting {
                    text: format!("{name}={}", values.join(";")),
                    name,
                    values,
                })
                .collect(),
        }
    }

    /// The values of the setting with this name.
    pub fn values(&self, name: &str) -> &[String] {
        let mut settings = self.settings.iter();
        let found = settings.find(|setting| setting.name == name);
        found.map_or(&[], |setting| &setting.values)
    }

    /// Whether it changes objects.
    pub fn is_mutating(&self) -> bool {
        self.values("mutating").iter().any(|it| it == "true")
    }
}

impl Rule {
    /// The permissions of a comment, if it is such a marker.
    pub fn of(comment: &str) -> Option<Self> {
        let (marker, fields) = marker(comment, "+kubebuilder:rbac:")?;
        let mut rule = Self {
            marker: marker.to_owned(),
            ..Self::default()
        };
        for Setting { name, values, .. } in settings(fields) {
            match name.as_str() {
                // controller-gen reads both as the core group.
                "groups" => {
                    let group = |it: String| if it == "core" { String::new() } else { it };
                    rule.groups = values.into_iter().map(group).collect();
                }
                "resources" => rule.resources = values,
                "resourceNames" => rule.names = values,
                "verbs" => rule.verbs = values,
                "namespace" => rule.namespace = values.into_iter().next(),
                _ => rule.has_more = true,
            }
        }
        Some(rule)
    }
}

/// A value in a marker.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A marker with this start, without the space around it, and what follows the start.
fn marker<'a>(comment: &'a str, start: &str) -> Option<(&'a str, &'a str)> {
    let marker = comment.trim();
    Some((marker, marker.strip_prefix(start)?))
}

/// The settings of a marker.
fn settings(fields: &str) -> Vec<Setting> {
    let settings = split(fields, ',').into_iter().map(|field| {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        let inner = value.trim().strip_prefix('{');
        let values = match inner.and_then(|inner| inner.strip_suffix('}')) {
            Some(list) => split(list, ','),
            None => split(value, ';'),
        };
        // `get;list;` has two values, and `groups=` has an empty one.
        let is_first = |at: usize| at == 0;
        let values = values.into_iter().map(str::trim).enumerate();
        let values = values.filter(|(at, value)| is_first(*at) || !value.is_empty());
        Setting {
            text: field.trim().to_owned(),
            name: name.trim().to_owned(),
            values: values
                .map(|(_, value)| value.trim_matches(['"', '`']).to_owned())
                .collect(),
        }
    });
    settings.collect()
}

/// The parts of a text between separators that are not in quotes or braces.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0, None);
    for (at, c) in text.char_indices() {
        match c {
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => {}
            '"' | '`' => quote = Some(c),
            '{' => depth += 1,
            '}' => depth -= 1,
            _ if c == separator && depth <= 0 => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&it| it.to_owned()).collect()
    }

    #[track_caller]
    fn check_rule(fields: &str, lists: [&[&str]; 4], more: bool) {
        let marker = format!("+kubebuilder:rbac:{fields}");
        let [groups, resources, names, verbs] = lists.map(words);
        let rule = Rule::of(&format!(" {marker} ")).unwrap();
        let expected = Rule {
            marker,
            groups,
            resources,
            names,
            verbs,
            has_more: more,
            namespace: rule.namespace.clone(),
        };
        assert_eq!(rule, expected);
    }

    #[test]
    fn rules() {
        check_rule(
            "groups=\"\",resources=configmaps;secrets,verbs=get;list;watch",
            [
                &[""],
                &["configmaps", "secrets"],
                &[],
                &["get", "list", "watch"],
            ],
            false,
        );
        check_rule(
            "groups={apps,\"batch\"},resources=deployments/scale,verbs=\"*\"",
            [&["apps", "batch"], &["deployments/scale"], &[], &["*"]],
            false,
        );
        check_rule(
            "groups=core , resources=`pods`; nodes ,resourceNames=a;b,verbs=get;list;",
            [&[""], &["pods", "nodes"], &["a", "b"], &["get", "list"]],
            false,
        );
        check_rule(
            "groups=,resources=a,verbs=get",
            [&[""], &["a"], &[], &["get"]],
            false,
        );
        check_rule("urls=/metrics,verbs=get", [&[], &[], &[], &["get"]], true);
        let in_namespace = Rule::of("+kubebuilder:rbac:namespace=kube-system,verbs=get").unwrap();
        assert_eq!(in_namespace.namespace.as_deref(), Some("kube-system"));
        assert_eq!(Rule::of("+kubebuilder:object:root=true"), None);
    }

    #[test]
    fn admissions() {
        let found = |text: &str| Admission::of(text).unwrap();
        let pods = found(
            "+kubebuilder:webhook:path=/mutate-v1-pod,mutating=true,groups=\"\",verbs=create;update",
        );
        assert!(pods.is_mutating());
        assert_eq!(pods.values("groups"), [""]);
        assert_eq!(pods.values("verbs"), ["create", "update"]);
        assert_eq!(pods.settings[3].text, "verbs=create;update");
        let other = found("+kubebuilder:webhook:verbs={create,\"delete\"},timeoutSeconds=5");
        assert_eq!(other.values("verbs"), ["create", "delete"]);
        assert!(!other.is_mutating());
        assert_eq!(other.values("name"), [""; 0]);
        assert_eq!(
            Admission::of("+kubebuilder:webhookconfiguration:mutating=true"),
            None
        );
    }
}
