//! Webhook markers in Go as calls on `Webhook` in Rust.

use kubebuilder_port::{Admission, Setting};

use crate::command::checklist::Item;
use crate::{
    name::WebhookPath,
    project::{Key, Project},
    tree::RelPath,
};

/// The purpose of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It changes objects.
    Defaulting,
    /// It allows or denies changes.
    Validating,
}

/// The operations, and their names in Rust.
const OPERATIONS: [(&str, &str); 4] = [
    ("create", "Create"),
    ("update", "Update"),
    ("delete", "Delete"),
    ("connect", "Connect"),
];

/// The operations that a webhook has by default.
const DEFAULT: [&str; 2] = ["create", "update"];

impl Purpose {
    /// The word before `webhook`.
    pub fn text(self) -> &'static str {
        match self {
            Self::Defaulting => "defaulting",
            Self::Validating => "validating",
        }
    }

    /// The purpose of the webhook in a generated file.
    pub fn of(path: &RelPath) -> Option<Self> {
        match path.as_str().rsplit('/').next()? {
            "default.rs" => Some(Self::Defaulting),
            "validate.rs" => Some(Self::Validating),
            _ => None,
        }
    }
}

/// A webhook for objects of one version of a kind.
struct Webhook {
    purpose: Purpose,
    group: String,
    version: String,
    plural: String,
    path: String,
}

/// The URL path that kubebuilder gives the webhook of `key` with a purpose; `core` for a type of Kubernetes.
pub fn path(key: &Key, core: bool, purpose: Purpose) -> String {
    let verb = match purpose {
        Purpose::Defaulting => "mutate",
        Purpose::Validating => "validate",
    };
    WebhookPath::of(verb, &key.api_group(core), key.version, &key.kind)
}

/// The calls and the notes that follow from the markers of the webhooks of `key` with a purpose, of which the first counts. Its URL
/// path in `PROJECT` is `custom`.
pub fn of_webhook(
    project: &Project,
    key: &Key,
    purpose: Purpose,
    custom: Option<&str>,
    markers: &[&Admission],
) -> Item {
    let core = project.resource(key).is_some_and(|it| it.core);
    let webhook = Webhook {
        purpose,
        group: key.api_group(core),
        version: key.version.to_string(),
        plural: project
            .plural(key)
            .map(ToString::to_string)
            .unwrap_or_default(),
        path: custom.map_or_else(|| path(key, core, purpose), str::to_owned),
    };
    let mine = markers.first();
    let mut item = Item::default();
    if let Some(mine) = mine {
        for setting in &mine.settings {
            if let Err(note) = webhook.call(setting).map(|call| item.calls.extend(call)) {
                item.notes.push(format!("`{}` {note}", setting.text));
            }
            let is_deleting = |verb: &String| ["delete", "*"].contains(&&*verb.to_lowercase());
            let deletes = setting.name == "verbs" && setting.values.iter().any(is_deleting);
            if deletes && purpose == Purpose::Defaulting {
                item.notes.push(format!(
                    "`{}`: a defaulting webhook does not get `delete`; a validating one does",
                    setting.text
                ));
            }
        }
    }
    let others = markers.iter().filter(|it| Some(*it) != mine);
    item.notes.extend(others.map(|it| {
        format!(
            "`{}` is another webhook of the same type: do its work here, too",
            it.marker
        )
    }));
    item
}

impl Webhook {
    /// The call for a setting, unless it is the default.
    ///
    /// Errors: what to say about a setting without a call.
    fn call(&self, setting: &Setting) -> Result<Option<String>, String> {
        let values: Vec<_> = setting.values.iter().map(String::as_str).collect();
        let lower: Vec<_> = values.iter().map(|it| it.to_lowercase()).collect();
        let one = match lower.as_slice() {
            [one] => one.as_str(),
            _ => "",
        };
        let call = match (setting.name.as_str(), one) {
            // They have no effect on requests.
            ("mutating" | "name", _) => None,
            ("failurePolicy", "fail")
            | ("matchPolicy", "equivalent")
            | ("sideEffects", "none")
            | ("reinvocationPolicy", "never")
            | ("timeoutSeconds", "10")
            | ("webhookVersions", "v1") => None,
            ("failurePolicy", "ignore") => {
                Some(".failure_policy(FailurePolicy::Ignore)".to_owned())
            }
            ("matchPolicy", "exact") => Some(".match_policy(MatchPolicy::Exact)".to_owned()),
            ("sideEffects", "noneondryrun") => {
                Some(".side_effects(SideEffects::NoneOnDryRun)".to_owned())
            }
            ("reinvocationPolicy", "ifneeded") if self.purpose == Purpose::Defaulting => {
                Some(".reinvocation(ReinvocationPolicy::IfNeeded)".to_owned())
            }
            ("timeoutSeconds", seconds)
                if seconds.parse().is_ok_and(|it: u8| (1..=30).contains(&it)) =>
            {
                Some(format!(".timeout(Duration::from_secs({seconds}))"))
            }
            ("admissionReviewVersions", _) if values.contains(&"v1") => None,
            ("path", _) if values == [self.path.as_str()] => None,
            ("path", _) => {
                return Err(match self.purpose {
                    Purpose::Defaulting => "is `defaultingPath` in `PROJECT`".to_owned(),
                    Purpose::Validating => "is `validationPath` in `PROJECT`".to_owned(),
                });
            }
            // controller-gen reads both as the core group.
            ("groups", group)
                if group == self.group || group == "core" && self.group.is_empty() =>
            {
                None
            }
            ("versions", version) if version == self.version => None,
            ("resources", _) => return self.subresources(&values),
            ("verbs", _) => return self.operations(&lower),
            _ => return Err("has no call".to_owned()),
        };
        Ok(call)
    }

    fn subresources(&self, resources: &[&str]) -> Result<Option<String>, String> {
        if resources == [self.plural.as_str()] {
            return Ok(None);
        }
        let names = resources.iter().map(|it| {
            let (plural, name) = it.split_once('/')?;
            (plural == self.plural && name != "*").then(|| format!("{name:?}"))
        });
        let names: Option<Vec<_>> = names.collect();
        let names = names.ok_or_else(|| "has no call".to_owned())?;
        Ok(Some(format!(".subresources(&[{}])", names.join(", "))))
    }

    /// The call for the operations. A defaulting webhook cannot have `delete`.
    fn operations(&self, verbs: &[String]) -> Result<Option<String>, String> {
        let is_asked = |verb: &str| verbs.iter().any(|it| it == verb || it == "*");
        let is_known = |verb: &String| OPERATIONS.iter().any(|(it, _)| it == verb) || verb == "*";
        if !verbs.iter().all(is_known) {
            return Err("has no call".to_owned());
        }
        let is_defaulting = self.purpose == Purpose::Defaulting;
        let mut asked = OPERATIONS.to_vec();
        asked.retain(|(verb, _)| is_asked(verb) && !(is_defaulting && *verb == "delete"));
        // `*` is every operation that the type has.
        if verbs.iter().any(|it| it == "*") {
            asked.retain(|(verb, _)| *verb != "connect");
        }
        if asked.is_empty() || asked.iter().map(|(verb, _)| *verb).eq(DEFAULT) {
            return Ok(None);
        }
        let names: Vec<_> = asked
            .iter()
            .map(|(_, name)| format!("Operation::{name}"))
            .collect();
        Ok(Some(format!(".operations(&[{}])", names.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use kubebuilder_port::Code;

    use super::*;
    use crate::project::testing::{create, empty};

    const TYPE: &str = "groups=media.example.com,resources=videos,versions=v1";

    #[track_caller]
    fn check(purpose: Purpose, settings: &str, calls: &[&str], notes: &[&str]) {
        let mutates = purpose == Purpose::Defaulting;
        let marker = format!("// +kubebuilder:webhook:mutating={mutates},{settings}\n");
        check_file(purpose, &marker, calls, notes);
    }

    #[track_caller]
    fn check_file(purpose: Purpose, text: &str, calls: &[&str], notes: &[&str]) {
        let project = empty("example.com", false);
        let project = project.create_api(&create("media v1 Video")).unwrap();
        let (video, _) = project.resources().next().unwrap();
        let code = Code::read(text);
        let mut markers: Vec<_> = code.admissions.iter().collect();
        markers.retain(|it| it.is_mutating() == (purpose == Purpose::Defaulting));
        let found = of_webhook(&project, video, purpose, None, &markers);
        let own = |texts: &[&str]| texts.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        assert_eq!((found.calls, found.notes), (own(calls), own(notes)));
    }

    #[test]
    fn defaults_need_no_call() {
        let scaffolded = format!(
            "path=/mutate-media-example-com-v1-video,failurePolicy=fail,sideEffects=None,{TYPE},\
             verbs=create;update,name=mvideo-v1.kb.io,admissionReviewVersions=v1"
        );
        check(Purpose::Defaulting, &scaffolded, &[], &[]);
        let explicit = format!(
            "{TYPE},verbs=UPDATE;CREATE,timeoutSeconds=10,matchPolicy=Equivalent,reinvocationPolicy=Never"
        );
        check(Purpose::Validating, &explicit, &[], &[]);
        check_file(Purpose::Validating, "", &[], &[]);
    }

    #[test]
    fn other_settings_are_calls() {
        check(
            Purpose::Validating,
            &format!(
                "failurePolicy=ignore,matchPolicy=Exact,sideEffects=NoneOnDryRun,timeoutSeconds=5,{TYPE},\
                 verbs=create;update;delete"
            ),
            &[
                ".failure_policy(FailurePolicy::Ignore)",
                ".match_policy(MatchPolicy::Exact)",
                ".side_effects(SideEffects::NoneOnDryRun)",
                ".timeout(Duration::from_secs(5))",
                ".operations(&[Operation::Create, Operation::Update, Operation::Delete])",
            ],
            &[],
        );
        let all = format!("{TYPE},verbs=*");
        let operations = ".operations(&[Operation::Create, Operation::Update, Operation::Delete])";
        check(Purpose::Validating, &all, &[operations], &[]);
        check(
            Purpose::Defaulting,
            "groups=media.example.com,resources=videos/status,versions=v1,verbs=update,reinvocationPolicy=IfNeeded",
            &[
                r#".subresources(&["status"])"#,
                ".operations(&[Operation::Update])",
                ".reinvocation(ReinvocationPolicy::IfNeeded)",
            ],
            &[],
        );
    }

    #[test]
    fn what_has_no_call_is_a_note() {
        check(
            Purpose::Defaulting,
            &format!("{TYPE},verbs=create;update;delete"),
            &[],
            &[
                "`verbs=create;update;delete`: a defaulting webhook does not get `delete`; a validating one does",
            ],
        );
        check(
            Purpose::Validating,
            "path=/other,groups=*,resources=videos;videos/status,versions=v1;v2,sideEffects=Some,timeoutSeconds=60,url=a.b",
            &[],
            &[
                "`path=/other` is `validationPath` in `PROJECT`",
                "`groups=*` has no call",
                "`resources=videos;videos/status` has no call",
                "`versions=v1;v2` has no call",
                "`sideEffects=Some` has no call",
                "`timeoutSeconds=60` has no call",
                "`url=a.b` has no call",
            ],
        );
    }

    #[test]
    fn a_marker_of_another_webhook_is_a_note() {
        let other =
            "+kubebuilder:webhook:path=/b,groups=media.example.com,resources=videos,versions=v1";
        let second = format!(
            "// +kubebuilder:webhook:path=/validate-media-example-com-v1-video,{TYPE},timeoutSeconds=1\n// {other}"
        );
        let note = format!("`{other}` is another webhook of the same type: do its work here, too");
        let calls = [".timeout(Duration::from_secs(1))"];
        check_file(Purpose::Validating, &second, &calls, &[&note]);
        check_file(Purpose::Defaulting, &second, &[], &[]);
    }
}
