//! The options of all runs.

use std::{env, num::NonZero, path::PathBuf, thread::available_parallelism, time::Duration};

use crate::log_events::LogEvents;

/// The default of operator-sdk's `--reconcile-period`.
pub(crate) const PERIOD: Duration = Duration::from_secs(10 * 60 * 60);

/// How an operator runs Ansible.
#[derive(Clone, Debug)]
pub struct AnsibleOptions {
    /// The Python with ansible-core. Default: `ANSIBLE_PYTHON`, or `python3`.
    pub python: PathBuf,
    /// How many runs there may be at once, of all kinds together; each needs memory. Default: one for each processor.
    pub workers: NonZero<usize>,
    /// Where roles are looked for, before `roles/` in the working directory. Default: `ANSIBLE_ROLES_PATH`, or `/etc/ansible/roles` and `/usr/share/ansible/roles`.
    pub roles_path: Vec<PathBuf>,
    /// Where collections are looked for. Default: `ANSIBLE_COLLECTIONS_PATH`, or `/usr/share/ansible/collections` and
    /// `~/.ansible/collections`.
    pub collections_path: Vec<PathBuf>,
    /// Whether objects that a run creates get an owner reference, or annotations where the scopes forbid one. Default: true.
    pub inject_owner_references: bool,
    /// The time after which an object is run for without a change, unless its automation says another one. Default: 10 h. Zero means
    /// never.
    pub reconcile_period: Duration,
    /// The verbosity of Ansible, 0 to 7, unless an automation says another one. Default: 0.
    pub verbosity: u8,
    /// Which events of runs are logged. Default: failures.
    pub log_events: LogEvents,
    /// Variables of the environment of all runs, beside those of the operator.
    pub environment: Vec<(String, String)>,
}

impl Default for AnsibleOptions {
    fn default() -> Self {
        let python = env::var_os("ANSIBLE_PYTHON").filter(|it| !it.is_empty());
        let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".ansible/collections"));
        let collections = Some(PathBuf::from("/usr/share/ansible/collections")).into_iter();
        let roles = ["/etc/ansible/roles", "/usr/share/ansible/roles"];
        Self {
            python: python.map_or_else(|| PathBuf::from("python3"), PathBuf::from),
            workers: available_parallelism().unwrap_or(NonZero::<usize>::MIN),
            roles_path: paths("ANSIBLE_ROLES_PATH", || roles.map(PathBuf::from).to_vec()),
            collections_path: paths("ANSIBLE_COLLECTIONS_PATH", || {
                collections.chain(home).collect()
            }),
            inject_owner_references: true,
            reconcile_period: PERIOD,
            verbosity: 0,
            log_events: LogEvents::default(),
            environment: Vec::new(),
        }
    }
}

fn paths(variable: &str, default: impl FnOnce() -> Vec<PathBuf>) -> Vec<PathBuf> {
    match env::var_os(variable).filter(|it| !it.is_empty()) {
        Some(paths) => env::split_paths(&paths).collect(),
        None => default(),
    }
}
