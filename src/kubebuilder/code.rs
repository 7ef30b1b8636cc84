//! What Go code says in markers and in calls that are easy to find: permissions, watches, webhooks, flags. Go is not parsed: these
//! lists help a person to port the code, and a line that is missing is found by the compiler or by a test.

use std::collections::BTreeSet;

/// The permissions of one marker `+kubebuilder:rbac`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// The marker, as it is in the file.
    pub marker: String,
    /// The API groups; the core group is empty.
    pub groups: Vec<String>,
    /// The resources, also with a subresource: `deployments/scale`.
    pub resources: Vec<String>,
    /// The verbs.
    pub verbs: Vec<String>,
    /// Whether it is narrower or wider than a rule of types: with names, URLs, a namespace or another role.
    pub is_special: bool,
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
    /// The values of the setting with this name.
    pub fn values(&self, name: &str) -> &[String] {
        let mut settings = self.settings.iter();
        let found = settings.find(|setting| setting.name == name);
        found.map_or(&[], |setting| &setting.values)
    }
}

/// The markers for RBAC in a file.
pub fn rules(text: &str) -> Vec<Rule> {
    let rule = |(marker, fields): (&str, &str)| {
        let mut rule = Rule {
            marker: marker.to_owned(),
            ..Rule::default()
        };
        for Setting { name, values, .. } in settings(fields) {
            match name.as_str() {
                "groups" => rule.groups = values,
                "resources" => rule.resources = values,
                "verbs" => rule.verbs = values,
                _ => rule.is_special = true,
            }
        }
        rule
    };
    markers(text, "+kubebuilder:rbac:").map(rule).collect()
}

/// The markers for admission webhooks in a file.
pub fn admissions(text: &str) -> Vec<Admission> {
    let markers = markers(text, "+kubebuilder:webhook:");
    let admissions = markers.map(|(marker, fields)| Admission {
        marker: marker.to_owned(),
        settings: settings(fields),
    });
    admissions.collect()
}

/// The markers in a file that start with `prefix`, and what follows it.
fn markers<'a>(text: &'a str, prefix: &'static str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let comments = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("//"));
    comments.filter_map(move |line| {
        let marker = line.trim();
        Some((marker, marker.strip_prefix(prefix)?))
    })
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
        let values = values.into_iter();
        let values = values.map(|value| value.trim().trim_matches(['"', '`']).to_owned());
        Setting {
            text: field.trim().to_owned(),
            name: name.trim().to_owned(),
            values: values.collect(),
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

/// The kinds that a controller is built with by `call`: `For`, `Owns`, `Watches`.
pub fn built<'a>(text: &'a str, call: &str) -> BTreeSet<&'a str> {
    let call = format!("{call}(");
    let calls = text.match_indices(call.as_str()).filter(|(at, _)| {
        let before = text[..*at].trim_end();
        before.ends_with('.')
    });
    let kinds = calls.filter_map(|(at, call)| {
        let object = text[at + call.len()..].trim_start().strip_prefix('&')?;
        let name = object.split('{').next()?.rsplit('.').next()?.trim();
        name.chars().all(char::is_alphanumeric).then_some(name)
    });
    kinds.collect()
}

/// The flags that kubebuilder scaffolds into `cmd/main.go`.
const SCAFFOLDED: [&str; 14] = [
    "config",
    "enable-http2",
    "enable-leader-election",
    "health-probe-bind-address",
    "leader-elect",
    "metrics-addr",
    "metrics-bind-address",
    "metrics-cert-key",
    "metrics-cert-name",
    "metrics-cert-path",
    "metrics-secure",
    "webhook-cert-key",
    "webhook-cert-name",
    "webhook-cert-path",
];

/// The flags that a file defines, apart from those that kubebuilder scaffolds.
pub fn flags(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    let defined = lines.filter_map(|line| {
        let (_, call) = line.split_once("flag.")?;
        let (function, arguments) = call.split_once('(')?;
        let is_definition = function.chars().all(char::is_alphanumeric)
            && [
                "Bool", "Duration", "Float", "Func", "Int", "String", "Text", "Uint", "Var",
            ]
            .iter()
            .any(|start| function.starts_with(start));
        let name = arguments.split('"').nth(1)?;
        is_definition.then_some(name)
    });
    defined.filter(|name| !SCAFFOLDED.contains(name)).collect()
}
