//! The reasons that a project, or a change of it, is refused. Flags and commands are in `refusal::project`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::{Certificates, Immutable, Key, Webhooks};
use crate::field::Field;
use crate::name::{
    ControllerName, Domain, Group, Kind, ProjectName, RustPath, Version,
    kubernetes::KubernetesVersion,
};
use crate::tree::RelPath;

/// The result of reading or changing a project.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason that a project, or a change of it, is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The project would break a rule.
    Broken(Violation),
    /// The project does not allow a command.
    Refused(Refused),
    /// The text of `PROJECT` is not a project.
    Unreadable(Unreadable),
}

impl From<Violation> for Error {
    fn from(violation: Violation) -> Self {
        Self::Broken(violation)
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Unreadable> for Error {
    fn from(unreadable: Unreadable) -> Self {
        Self::Unreadable(unreadable)
    }
}

/// A broken rule, in words that fit a command and a hand-edited `PROJECT`, with a correction for each.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The origin of the broken entry.
    pub origin: Origin,
    /// The entry of `resources` that breaks the rule; of two, the later one.
    pub at: Key,
    /// The entry with which it clashes.
    pub other: Option<Key>,
    /// The violation, a fragment with the user's text in backticks.
    pub what: String,
    /// The reasons.
    pub notes: Vec<String>,
    /// The correction of a command; `None` if only `PROJECT` can break the rule, or if no other value is obvious.
    pub remedy: Option<Remedy>,
    /// The correction in `PROJECT`: a line, or the change in words.
    pub correction: String,
}

/// The correction of a command that breaks a rule. Fields have their names in `PROJECT`.
#[derive(Clone, Debug, PartialEq)]
pub enum Remedy {
    /// Other values of these fields.
    Set(Vec<(&'static str, String)>),
    /// A command without these fields.
    Drop(Vec<&'static str>),
    /// An API that has to be defined first.
    Define {
        /// The entry of the API.
        key: Key,
        /// Whether it gets a controller.
        controller: bool,
    },
    /// A name that a person has to choose or to find.
    Inspect,
    /// A project of its own.
    OwnProject,
    /// A project that is not namespaced.
    ClusterWide,
    /// A project for this version of Kubernetes or a newer one.
    Kubernetes(KubernetesVersion),
}

/// A violation by the entry at a key: `violation!(key => "what", "note", …)`. The texts are those of [`format!`].
macro_rules! violation {
    ($at:expr => $what:literal $(, $note:literal)*) => {
        $crate::project::Violation::of($at, format!($what))$(.note(format!($note)))*
    };
}
pub(super) use violation;

impl Remedy {
    /// Other values of `fields`.
    pub fn set<T: ToString, const N: usize>(fields: [(&'static str, T); N]) -> Self {
        Self::Set(
            fields
                .map(|(field, value)| (field, value.to_string()))
                .into(),
        )
    }

    /// Another entry.
    pub fn entry(group: impl ToString, version: impl ToString, kind: impl ToString) -> Self {
        Self::Set(vec![
            ("group", group.to_string()),
            ("version", version.to_string()),
            ("kind", kind.to_string()),
        ])
    }
}

/// The purpose of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// A controller watches its objects.
    Controller,
    /// A webhook is called for its objects.
    Webhook,
}

/// The origin of an entry that breaks a rule. It decides whether flags or fields have to change.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A command.
    Command,
    /// A command that changes a kind, and lacks flags of the command that created it.
    Edit,
    /// `PROJECT`, edited by hand, at the line of the entry.
    File(Option<usize>),
    /// The merge of two branches. The user sees the entries of one branch, at these lines.
    Branches(Vec<(Key, Option<usize>)>),
}

impl Violation {
    /// A violation by the entry `at`.
    pub fn of(at: &Key, what: String) -> Self {
        Self {
            origin: Origin::Command,
            at: at.clone(),
            other: None,
            what,
            notes: Vec::new(),
            remedy: None,
            correction: String::new(),
        }
    }

    /// Adds a reason.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Corrects a command and `PROJECT` by the same value of a field.
    pub fn set(self, field: &'static str, value: impl ToString) -> Self {
        let line = format!("{field}: {}", value.to_string());
        self.by_command(Remedy::set([(field, value)])).in_file(line)
    }

    /// Corrects both by another kind, which a person has to name.
    pub fn another_kind(self) -> Self {
        self.by_command(Remedy::Inspect)
            .in_file("rename one of the kinds")
    }

    /// The correction of a command.
    pub fn by_command(self, remedy: Remedy) -> Self {
        let remedy = Some(remedy);
        Self { remedy, ..self }
    }

    /// The correction in `PROJECT`.
    pub fn in_file(self, correction: impl Into<String>) -> Self {
        let correction = correction.into();
        Self { correction, ..self }
    }

    /// The same violation, between two entries.
    pub fn beside(self, other: &Key) -> Self {
        let other = Some(other.clone());
        Self { other, ..self }
    }

    /// The same violation from another origin than a command.
    pub fn by(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }
}

/// A command that the project does not allow. Fields of entries have their names in `PROJECT`.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "`refusal::project` has the words of each")]
pub enum Refused {
    OtherTemplates(u32),
    /// The user changed a field that cannot change.
    Changed {
        field: &'static str,
        now: String,
        then: String,
    },
    /// `edit` names a field that cannot change.
    Fixed {
        field: &'static str,
        domain: Domain,
        name: ProjectName,
        wanted: String,
    },
    FinalizerChanged {
        controller: String,
        added: bool,
    },
    // Entries that commands name.
    NotThere {
        key: Key,
        known: Vec<Key>,
        meant: Option<Key>,
    },
    /// The entry has another value in a field that belongs to its type.
    OtherType {
        key: Key,
        field: &'static str,
        known: String,
        given: String,
    },
    /// A field that has no effect where another one is false.
    NoEffect {
        field: &'static str,
        without: &'static str,
    },
    /// A field with a value, which has no effect where another one is absent.
    NotAsked {
        field: &'static str,
        value: String,
        of: &'static str,
    },
    // `create api`
    NothingToCreate {
        elsewhere: bool,
    },
    PathWithResource(RustPath),
    /// Fields for a version that is a copy.
    FieldsOfCopy(&'static str),
    ApiExists(Key),
    ExternalKind(Key),
    /// A field that a controller with an image cannot have.
    BesideImage(&'static str),
    /// The types of the API are not generated from a CRD.
    NotFromCrd(Key),
    /// The project defines the kind, and the CRD would be that of another project; or the other way round.
    OtherOwner(Key),
    /// The CRD was read before, and has not changed.
    SameCrd(Key),
    ControllerExists(Key),
    NameExists(Key, ControllerName),
    NoSource {
        key: Key,
        known: Vec<Key>,
        other: Option<Version>,
    },
    NotCopied(Key),
    // `create webhook`
    NoWebhookAsked,
    SpokeGivenTwice(Version),
    WebhookExists(Key, &'static str),
    Converted(Key, Option<Version>),
    OtherCertificates {
        now: Certificates,
        wanted: Certificates,
    },
    /// The command has to name one of these versions.
    SpokeMissing(Vec<Version>),
    // `edit api` and `rename`
    NotEditable(Key),
    NoApiEdit,
    /// A new field that existing objects lack.
    RequiredField {
        field: Field,
        of_status: bool,
        /// All fields that the flag gives.
        given: Vec<Field>,
    },
    Stored {
        key: Key,
        what: Immutable,
        crd: String,
    },
    NoDefaultController(Key),
    FinalizerStays {
        controller: String,
        path: String,
        wanted: bool,
    },
    SameKind(Kind),
    KindExists(Kind),
    NoKind {
        kind: Kind,
        known: Vec<String>,
        meant: Option<(Group, Kind)>,
    },
    CrdStays {
        kind: Kind,
        to: Kind,
        crd: String,
    },
    // `edit`
    NoEdit,
    NothingCertified {
        api: Option<Key>,
        wanted: Certificates,
    },
    WideEntry {
        key: Key,
        own: bool,
    },
    // `delete api`
    NothingToDelete,
    NotDefined(Key),
    NoController {
        key: Key,
        wanted: Option<ControllerName>,
        others: Vec<(String, Version)>,
        near: Option<String>,
    },
    Needed {
        key: Key,
        by: Vec<Need>,
        alone: Option<ControllerName>,
    },
    // `delete webhook`
    NoWebhookSelected(Webhooks),
    NoWebhooks(Key, Vec<Version>),
    NoSuchWebhook {
        key: Key,
        what: &'static str,
        there: Webhooks,
        alone: bool,
    },
    NoHub(Key),
    NotConverted {
        key: Key,
        version: Version,
        there: BTreeSet<Version>,
    },
    // `own` and `disown`
    Owned(RelPath),
    NotOwned(RelPath, BTreeSet<RelPath>),
}

impl Refused {
    /// A field that has no effect where another one is false.
    pub fn no_effect(field: &'static str, without: &'static str) -> Self {
        Self::NoEffect { field, without }
    }
}

/// A part of the project that needs an API.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// The default controller, or one with a name of its own.
    Controller(Option<ControllerName>),
    /// Its webhooks.
    Webhooks(Webhooks),
    /// The hub, to which the API is converted.
    Hub(Version),
}

/// The reason that a text is no project.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "`refusal::project` has the words of each")]
pub enum Unreadable {
    NoDirectory(PathBuf),
    NoProject(PathBuf),
    NotUtf8 {
        line: usize,
    },
    Empty {
        comments: bool,
    },
    Conflict {
        line: usize,
    },
    NoVersion,
    OtherVersion(String),
    NoLayout,
    NewerLayout(String),
    Foreign {
        layout: String,
        domain: Option<String>,
        name: Option<String>,
    },
    NoSettings,
    /// A value that is not valid. The explanation may have lines of its own, as [`Invalid`](crate::name::Invalid) writes them.
    Value {
        place: String,
        explanation: String,
        note: Option<&'static str>,
    },
}
