//! What runs for the objects of a kind: a role or a playbook, with its options. They are the fields of operator-sdk's `watches.yaml`.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::error::Error;

/// How long a run may take, if the automation does not say so.
const TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// A role or a playbook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A path, a name, or `namespace.collection.role`.
    Role(String),
    /// A path.
    Playbook(String),
}

/// What runs before an object is deleted.
#[derive(Clone, Debug)]
pub struct Finalizer {
    pub(crate) name: &'static str,
    /// Without one, what runs at other times runs, with the variables of the finalizer.
    pub(crate) content: Option<Content>,
    pub(crate) vars: Map<String, Value>,
}

impl Finalizer {
    /// A finalizer of this name, such as `cache.example.com/finalizer`. What runs at other times runs, with the
    /// [variables](Self::vars) of the finalizer.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            content: None,
            vars: Map::new(),
        }
    }

    /// Runs this role.
    #[must_use]
    pub fn role(mut self, role: &str) -> Self {
        self.content = Some(Content::Role(role.to_owned()));
        self
    }

    /// Runs this playbook.
    #[must_use]
    pub fn playbook(mut self, playbook: &str) -> Self {
        self.content = Some(Content::Playbook(playbook.to_owned()));
        self
    }

    /// Variables, which win over all others. Templates in them are evaluated.
    ///
    /// # Panics
    /// `vars` is no map.
    #[must_use]
    pub fn vars(mut self, vars: Value) -> Self {
        self.vars = map(vars);
        self
    }
}

/// What runs for each object of a kind.
#[derive(Clone, Debug)]
pub struct Automation {
    pub(crate) content: Content,
    pub(crate) vars: Map<String, Value>,
    pub(crate) finalizer: Option<Finalizer>,
    pub(crate) period: Option<Duration>,
    pub(crate) timeout: Duration,
    pub(crate) manage_status: bool,
    pub(crate) watch_dependents: bool,
    pub(crate) watch_cluster_scoped: bool,
    pub(crate) watch_annotations: bool,
    pub(crate) snake_case: bool,
    pub(crate) evaluates_objects: bool,
    pub(crate) verbosity: Option<u8>,
    /// Kinds, as `group/version/Kind`, that are not watched.
    pub(crate) blacklist: Vec<(String, String, String)>,
}

impl Automation {
    /// Runs a role: a path; a name, which is looked for in the [roles path](crate::AnsibleOptions::roles_path) and in `roles/`; or
    /// `namespace.collection.role`.
    pub fn role(role: &str) -> Self {
        Self::new(Content::Role(role.to_owned()))
    }

    /// Runs a playbook: a path.
    pub fn playbook(playbook: &str) -> Self {
        Self::new(Content::Playbook(playbook.to_owned()))
    }

    fn new(content: Content) -> Self {
        Self {
            content,
            vars: Map::new(),
            finalizer: None,
            period: None,
            timeout: TIMEOUT,
            manage_status: true,
            watch_dependents: true,
            watch_cluster_scoped: false,
            watch_annotations: false,
            snake_case: true,
            evaluates_objects: false,
            verbosity: None,
            blacklist: Vec::new(),
        }
    }

    /// `vars`: variables, which win over the spec. Templates in them are evaluated.
    ///
    /// # Panics
    /// `vars` is no map.
    #[must_use]
    pub fn vars(mut self, vars: Value) -> Self {
        self.vars = map(vars);
        self
    }

    /// `finalizer`: what runs before an object is deleted.
    #[must_use]
    pub fn finalizer(mut self, finalizer: Finalizer) -> Self {
        self.finalizer = Some(finalizer);
        self
    }

    /// `reconcilePeriod`: the time after which an object is run for without a change. Default:
    /// [`AnsibleOptions::reconcile_period`](crate::AnsibleOptions::reconcile_period), 10 h. The annotation
    /// `ansible.sdk.operatorframework.io/reconcile-period` of an object wins. Zero means never.
    #[must_use]
    pub fn reconcile_period(mut self, period: Duration) -> Self {
        self.period = Some(period);
        self
    }

    /// The time after which a run is ended, and counts as failed. Default: 1 h.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// `manageStatus`: whether the operator writes conditions. Default: true. Without it, the role does, and what ran is forgotten when
    /// the operator restarts. Make the controller with `Controller::external` then, or failures still show in `Ready`.
    #[must_use]
    pub fn manage_status(mut self, manages: bool) -> Self {
        self.manage_status = manages;
        self
    }

    /// `watchDependentResources`: whether a change of an object that a run created causes another run. Default: true.
    #[must_use]
    pub fn watch_dependent_resources(mut self, watches: bool) -> Self {
        self.watch_dependents = watches;
        self
    }

    /// `watchClusterScopedResources`: whether this also holds for cluster-scoped objects. Default: false.
    #[must_use]
    pub fn watch_cluster_scoped_resources(mut self, watches: bool) -> Self {
        self.watch_cluster_scoped = watches;
        self
    }

    /// `watchAnnotationsChanges`: whether a change of any annotation causes a run. Default: false.
    #[must_use]
    pub fn watch_annotations_changes(mut self, watches: bool) -> Self {
        self.watch_annotations = watches;
        self
    }

    /// `snakeCaseParameters`: whether the fields of the spec become variables in snake case. Default: true.
    #[must_use]
    pub fn snake_case_parameters(mut self, is_snake: bool) -> Self {
        self.snake_case = is_snake;
        self
    }

    /// Evaluates templates in the texts of the objects, as operator-sdk does without `markUnsafe`. Whoever may write such an object
    /// may then run any program as the operator, and read its Secrets. Default: false, whatever `markUnsafe` was.
    #[must_use]
    pub fn evaluate_objects(mut self, evaluates: bool) -> Self {
        self.evaluates_objects = evaluates;
        self
    }

    /// The verbosity of Ansible, 0 to 7. Default: [`AnsibleOptions::verbosity`](crate::AnsibleOptions::verbosity). The variable
    /// `ANSIBLE_VERBOSITY_KIND_GROUP` of the environment wins, and over it the annotation `ansible.sdk.operatorframework.io/verbosity`
    /// of an object.
    #[must_use]
    pub fn verbosity(mut self, verbosity: u8) -> Self {
        self.verbosity = Some(verbosity);
        self
    }

    /// `blacklist`: a kind of objects that a run creates and that is not watched.
    #[must_use]
    pub fn blacklist(mut self, group: &str, version: &str, kind: &str) -> Self {
        let all = [group, version, kind].map(str::to_owned);
        self.blacklist.push(all.into());
        self
    }
}

fn map(vars: Value) -> Map<String, Value> {
    match vars {
        Value::Object(map) => map,
        other => panic!("variables are a map from their names to their values, and not {other}"),
    }
}

/// Where content is, and a digest of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// `role` or `playbook`.
    pub(crate) kind: &'static str,
    /// A path, or `namespace.collection.role`.
    pub(crate) path: String,
    pub(crate) digest: String,
}

impl Content {
    /// Finds the files, as operator-sdk does.
    pub(crate) fn find(&self, roles: &[PathBuf], collections: &[PathBuf]) -> Result<Found, Error> {
        match self {
            Self::Role(role) => find_role(role, roles, collections),
            Self::Playbook(path) => {
                let path = absolute(Path::new(path));
                let directory = path.parent().unwrap_or(&path);
                let digest = path
                    .is_file()
                    .then(|| digest_with_roles(directory))
                    .transpose();
                let digest = digest.map_err(|source| unreadable(&path, source))?;
                Ok(Found {
                    kind: "playbook",
                    digest: digest.ok_or_else(|| {
                        Error::Missing(format!("the playbook {}", path.display()))
                    })?,
                    path: path.to_string_lossy().into_owned(),
                })
            }
        }
    }
}

fn find_role(role: &str, roles: &[PathBuf], collections: &[PathBuf]) -> Result<Found, Error> {
    let name = Path::new(role);
    let mut places = Vec::new();
    let mut path = role.to_owned();
    if name.is_absolute() {
        places.push(name.to_path_buf());
    } else {
        for base in roles {
            places.extend([base.join(name), base.join("roles").join(name)]);
        }
        places.push(Path::new("roles").join(name));
        if let [namespace, collection, role] = role.split('.').collect::<Vec<_>>()[..] {
            let inside = Path::new("ansible_collections")
                .join(namespace)
                .join(collection);
            let all = collections.iter();
            places.extend(all.map(|base| base.join(&inside).join("roles").join(role)));
        }
    }
    let found = places.iter().find(|place| place.is_dir());
    let Some(found) = found else {
        let places = places.iter().map(|place| place.display().to_string());
        let places = places.collect::<Vec<_>>().join(", ");
        return Err(Error::Missing(format!("the role `{role}`, in {places}")));
    };
    let is_of_collection = found
        .components()
        .any(|it| it.as_os_str() == "ansible_collections");
    if !is_of_collection || name.is_absolute() {
        path = absolute(found).to_string_lossy().into_owned();
    }
    Ok(Found {
        kind: "role",
        digest: digest_with_roles(found).map_err(|source| unreadable(found, source))?,
        path,
    })
}

fn unreadable(path: &Path, source: io::Error) -> Error {
    Error::Unreadable {
        path: path.to_path_buf(),
        source,
    }
}

fn absolute(path: &Path) -> PathBuf {
    env::current_dir().map_or_else(|_| path.to_path_buf(), |here| here.join(path))
}

/// A digest of the files in a directory, and of the operator's own roles, which they may name.
fn digest_with_roles(directory: &Path) -> io::Result<String> {
    let roles = Path::new("roles");
    let digests = match roles.is_dir() {
        true => digest(directory)? + &digest(roles)?,
        false => digest(directory)?,
    };
    let hash = Sha256::digest(digests);
    Ok(data_encoding::HEXLOWER.encode(&hash[..16]))
}

/// A digest of the names and the texts of all files in a directory, those of version control aside.
fn digest(directory: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path)?.collect::<io::Result<Vec<_>>>()?;
            let mut paths: Vec<_> = entries.iter().map(fs::DirEntry::path).collect();
            paths.retain(|path| path.file_name().is_none_or(|name| name != ".git"));
            paths.sort();
            left.extend(paths.into_iter().rev());
        } else if path.is_file() {
            let name = path
                .strip_prefix(directory)
                .unwrap_or(&path)
                .to_string_lossy();
            let text = fs::read(&path)?;
            for part in [name.as_bytes(), &text] {
                hash.update(part.len().to_le_bytes());
                hash.update(part);
            }
        }
    }
    Ok(data_encoding::HEXLOWER.encode(&hash.finalize()[..16]))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn role(directory: &TempDir, path: &str) {
        let tasks = directory.path().join(path).join("tasks");
        fs::create_dir_all(&tasks).unwrap();
        fs::write(tasks.join("main.yml"), "[]").unwrap();
    }

    #[test]
    fn roles_are_found_where_operator_sdk_finds_them() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().to_path_buf();
        let inside = |path: &str| base.join(path).to_string_lossy().into_owned();
        role(&directory, "one");
        role(&directory, "roles/two");
        role(&directory, "ansible_collections/a/b/roles/three");
        let paths = [base.clone()];
        for (name, expected) in [
            ("one", inside("one")),
            ("two", inside("roles/two")),
            ("a.b.three", "a.b.three".to_owned()),
            (&*inside("one"), inside("one")),
        ] {
            let found = Content::Role(name.to_owned()).find(&paths, &paths).unwrap();
            assert_eq!((found.kind, found.path), ("role", expected), "{name}");
        }
        let missing = Content::Role("four".to_owned())
            .find(&paths, &paths)
            .unwrap_err();
        assert!(missing.to_string().contains("the role `four`"), "{missing}");
    }

    #[test]
    #[should_panic(expected = "variables are a map")]
    fn variables_are_a_map() {
        let _ = Automation::role("one").vars(serde_json::json!(["state"]));
    }

    #[test]
    fn the_digest_changes_with_a_file() {
        let directory = tempfile::tempdir().unwrap();
        role(&directory, "one");
        let path = directory.path().join("one");
        let before = digest(&path).unwrap();
        assert_eq!(digest(&path).unwrap(), before);
        fs::write(path.join("tasks/main.yml"), "- debug:").unwrap();
        assert_ne!(digest(&path).unwrap(), before);
    }
}
