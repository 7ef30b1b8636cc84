//! Why a project, or a change of one, is refused: data alone. The words and the advice are in `refusal::project`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::{Certificates, Immutable, Key, Rename, Webhooks};
use crate::name::kubernetes::CoreType;
use crate::name::{
    ControllerName, Domain, Group, Invalid, Kind, Plural, ProjectName, RustPath, ShortName, Version,
};
use crate::tree::RelPath;

/// The result of reading or changing a project.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a project, or a change of one, is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The project would break a rule.
    Broken(Violation),
    /// The project does not allow a command.
    Refused(Refused),
    /// The text of `PROJECT` is no project.
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

/// A broken rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Who broke it.
    pub origin: Origin,
    /// The entry of `resources` that breaks it, the later one of two.
    pub at: Key,
    /// The entry that it clashes with.
    pub other: Option<Key>,
    /// The rule.
    pub rule: Rule,
}

/// Who broke a rule: it decides whether flags or fields have to change.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A command.
    Command,
    /// `edit api`, whose flags hold for all versions of a kind.
    EditApi,
    /// `rename`, which is about one kind and no other.
    Rename,
    /// `PROJECT`, edited by hand, at the line of the entry.
    File(Option<usize>),
    /// Two branches together. The user sees the entries of one, with their lines.
    Branches(Vec<(Key, Option<usize>)>),
}

impl Violation {
    /// The same violation, between two entries.
    pub fn beside(self, other: &Key) -> Self {
        let other = Some(other.clone());
        Self { other, ..self }
    }

    /// The same violation, by somebody else than a command.
    pub fn by(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }
}

/// A rule between the parts of a project.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "`refusal::project` has the words of each")]
pub enum Rule {
    // What a type is.
    Unknown(Use, Meant),
    NotCore,
    UnlikeCore(CoreType),
    CoreApi,
    NotExternal {
        core: bool,
    },
    NoPath,
    InvalidPath(Invalid),
    OtherDomain(Domain),
    TwoTypes {
        core: bool,
        defined: bool,
    },
    ClusterScoped {
        core: bool,
    },
    // What an entry holds.
    Idle,
    TwoEntries,
    OptionsWithoutEntry,
    ShortNamesWithoutApi,
    // API groups.
    NoGroup,
    NoDot,
    NoDotElsewhere,
    Reserved(&'static str),
    Device(String),
    LongCrd(String),
    LongFile(usize),
    SameModule(String),
    SameFile(String),
    // Kinds.
    OtherPlural(Plural, Plural),
    OtherScope {
        namespaced: bool,
    },
    OtherShortNames(Vec<ShortName>, Vec<ShortName>),
    SameList(String),
    SameLetters,
    SameType(String),
    ShortNameTwice(ShortName, Vec<ShortName>),
    SingularInUse {
        as_what: &'static str,
    },
    PluralInUse {
        plural: Plural,
        as_what: &'static str,
    },
    ShortNameInUse {
        name: ShortName,
        as_what: &'static str,
        left: Vec<ShortName>,
    },
    // Controllers.
    TwoDefaults,
    SameControllerFile {
        names: [String; 2],
        path: String,
    },
    SameControllerName(String),
    UnknownFinalizer(String),
    ForeignFinalizer,
    // Webhooks.
    NotConverted {
        alone: bool,
    },
    OneVersion,
    TwoHubs(Version, Version),
    HubAsSpoke(Option<Version>),
    NoSpoke {
        spoke: Version,
        versions: BTreeSet<Version>,
        other: Option<Version>,
    },
    SpokeTwice(Version),
    HalfConversion {
        has: &'static str,
        lacks: &'static str,
    },
    PathWithoutWebhook {
        what: &'static str,
        path: String,
    },
    SamePath {
        path: String,
        what: [&'static str; 2],
    },
    SameDirectory(String),
    LongService(String),
    LongWebhook(String),
}

impl Rule {
    /// Broken by the entry at `key`.
    pub fn at(self, key: &Key) -> Violation {
        Violation {
            origin: Origin::Command,
            at: key.clone(),
            other: None,
            rule: self,
        }
    }
}

/// What a kind is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "there is no more to say")]
pub enum Use {
    Controller,
    Webhook,
}

/// The type that was probably meant by one that nobody defines.
#[derive(Clone, Debug, PartialEq)]
pub enum Meant {
    /// The same kind in a version that the project defines.
    Version(Version),
    /// An entry of a kind or group with a similar name, and whether there is one such entry.
    Entry(Key, bool),
    /// A type of Kubernetes.
    Core(CoreType),
    /// Nothing is near.
    Nothing,
}

/// A command that the project does not allow.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "`refusal::project` has the words of each")]
pub enum Refused {
    OtherTemplates(u32),
    /// A field that cannot change was changed by hand.
    Changed {
        field: &'static str,
        now: String,
        then: String,
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
    OtherPlural {
        key: Key,
        known: Plural,
        given: Plural,
    },
    OtherPath {
        key: Key,
        known: RustPath,
        given: RustPath,
    },
    // `create api`
    NothingToCreate {
        elsewhere: bool,
    },
    NameWithoutController,
    FinalizerWithoutController,
    PathWithResource(RustPath),
    FlagWithoutResource(&'static str),
    ApiExists(Key),
    ControllerExists(Key),
    NameExists(Key, ControllerName),
    VersionWithoutResource,
    NoSource {
        key: Key,
        known: Vec<Key>,
        other: Option<Version>,
    },
    NotCopied(Key),
    // `create webhook`
    NoWebhookAsked,
    MoreAboutNothing {
        flag: &'static str,
        value: String,
        of: &'static str,
    },
    SpokeGivenTwice(Version),
    WebhookExists(Key, &'static str),
    Converted(Key, Option<Version>),
    OpenSpokes(Kind, Vec<Version>),
    OtherCertificates {
        now: Certificates,
        wanted: Certificates,
    },
    // `edit api`
    NotEditable(Key),
    NoApiEdit,
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
    DomainStays {
        domain: Domain,
        name: ProjectName,
        wanted: String,
    },
    NameStays {
        domain: Domain,
        name: ProjectName,
        wanted: String,
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
    SpokeMissing {
        hub: Version,
        there: BTreeSet<Version>,
    },
    // `rename`
    SameKind(Kind),
    KindExists(Kind),
    NoKind {
        group: Group,
        kind: Kind,
        domain: Domain,
        known: Vec<(Group, Kind)>,
        meant: Option<(Group, Kind)>,
    },
    CrdStays(Rename, String),
    // `own` and `disown`
    Owned(RelPath),
    NotOwned(RelPath, BTreeSet<RelPath>),
}

/// What needs an API.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// The default controller, or one with a name of its own.
    Controller(Option<ControllerName>),
    /// Its webhooks.
    Webhooks(Webhooks),
    /// The hub that it is converted to.
    Hub(Version),
}

/// A text that is no project.
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
    /// A value that the reader does not take. An explanation has lines of its own, as [`Invalid`] writes them.
    Value {
        place: String,
        explanation: String,
        note: Option<&'static str>,
    },
}
