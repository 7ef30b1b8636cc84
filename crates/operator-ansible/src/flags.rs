//! The command-line flags of an operator that runs Ansible, with operator-sdk's names.

use std::{num::NonZero, path::PathBuf, time::Duration};

use crate::{events::duration, log_events::LogEvents, options::AnsibleOptions};

/// Flags of an operator that runs Ansible. `main` flattens them into its own flags, beside those of the runtime.
///
/// ```
/// use clap::Parser as _;
/// use operator_ansible::AnsibleFlags;
/// use operator_runtime::Flags;
///
/// #[derive(clap::Parser)]
/// struct Arguments {
///     #[command(flatten)]
///     flags: Flags,
///     #[command(flatten)]
///     ansible: AnsibleFlags,
/// }
///
/// let arguments = Arguments::parse_from(["operator", "--reconcile-period=1h", "--max-concurrent-reconciles=4"]);
/// let options = arguments.ansible.options();
/// assert_eq!(options.reconcile_period.as_secs(), 3600);
/// ```
#[derive(Clone, Debug, clap::Args)]
pub struct AnsibleFlags {
    /// Python with ansible-core
    #[arg(
        long,
        value_name = "FILE",
        env = "ANSIBLE_PYTHON",
        default_value = "python3"
    )]
    pub ansible_python: PathBuf,

    /// Runs of all kinds together at once; each needs memory [default: one for each processor]
    #[arg(long, value_name = "NUMBER")]
    pub ansible_workers: Option<NonZero<usize>>,

    /// Where roles are, separated by colons [default: /etc/ansible/roles:/usr/share/ansible/roles]
    #[arg(
        long,
        value_name = "PATHS",
        env = "ANSIBLE_ROLES_PATH",
        value_delimiter = ':'
    )]
    pub ansible_roles_path: Vec<PathBuf>,

    /// Where collections are, separated by colons [default: /usr/share/ansible/collections and ~/.ansible/collections]
    #[arg(
        long,
        value_name = "PATHS",
        env = "ANSIBLE_COLLECTIONS_PATH",
        value_delimiter = ':'
    )]
    pub ansible_collections_path: Vec<PathBuf>,

    /// Verbosity of Ansible; the variable ANSIBLE_VERBOSITY_KIND_GROUP wins for one kind
    #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=7))]
    pub ansible_verbosity: u8,

    /// Events of runs that are logged, beside failures
    #[arg(
        long,
        value_name = "EVENTS",
        env = "ANSIBLE_LOG_EVENTS",
        default_value = "nothing",
        ignore_case = true
    )]
    pub ansible_log_events: LogEvents,

    /// Time after which an object is run for although nothing changed, such as 30m; 0 means never
    #[arg(long, value_name = "DURATION", default_value = "10h", value_parser = period)]
    pub reconcile_period: Duration,

    /// Refer to the object as an owner in what its runs create
    #[arg(
        long,
        value_name = "BOOL",
        default_value = "true",
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set,
        hide_possible_values = true
    )]
    pub inject_owner_ref: bool,
}

impl AnsibleFlags {
    /// The options of [`Ansible::new`](crate::Ansible::new).
    pub fn options(self) -> AnsibleOptions {
        let default = AnsibleOptions::default();
        let or = |paths: Vec<PathBuf>, default| match paths.is_empty() {
            true => default,
            false => paths,
        };
        AnsibleOptions {
            python: self.ansible_python,
            workers: self.ansible_workers.unwrap_or(default.workers),
            roles_path: or(self.ansible_roles_path, default.roles_path),
            collections_path: or(self.ansible_collections_path, default.collections_path),
            inject_owner_references: self.inject_owner_ref,
            reconcile_period: self.reconcile_period,
            verbosity: self.ansible_verbosity,
            log_events: self.ansible_log_events,
            environment: default.environment,
        }
    }
}

fn period(text: &str) -> Result<Duration, String> {
    match text {
        "0" | "0s" => Ok(Duration::ZERO),
        _ => duration(text).ok_or_else(|| "a duration is like 30s, 5m or 1h30m".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::{CommandFactory as _, Parser as _};
    use operator_runtime::Flags;

    use super::*;

    #[derive(clap::Parser)]
    struct Arguments {
        #[command(flatten)]
        _flags: Flags,
        #[command(flatten)]
        ansible: AnsibleFlags,
    }

    fn options(flags: &[&str]) -> AnsibleOptions {
        let all = ["operator"].iter().chain(flags);
        Arguments::parse_from(all).ansible.options()
    }

    #[test]
    fn flags_are_those_of_operator_sdk() {
        // No name is twice.
        Arguments::command().debug_assert();
        let options = options(&[
            "--ansible-roles-path=/a:/b/roles",
            "--ansible-collections-path=/c",
            "--ansible-verbosity=3",
            "--ansible-log-events=Tasks",
            "--reconcile-period=90s",
            "--inject-owner-ref=false",
            "--ansible-workers=7",
        ]);
        assert_eq!(options.roles_path, [Path::new("/a"), Path::new("/b/roles")]);
        assert_eq!(options.collections_path, [Path::new("/c")]);
        assert_eq!((options.verbosity, options.workers.get()), (3, 7));
        assert_eq!(options.log_events, LogEvents::Tasks);
        assert_eq!(options.reconcile_period, Duration::from_secs(90));
        assert!(!options.inject_owner_references);
    }

    #[test]
    fn without_flags_options_have_their_defaults() {
        let (options, default) = (options(&[]), AnsibleOptions::default());
        assert_eq!(format!("{options:?}"), format!("{default:?}"));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for (flag, why) in [
            ("--ansible-verbosity=8", "0..=7"),
            ("--reconcile-period=soon", "a duration is like 30s"),
            ("--ansible-log-events=all", "everything"),
            ("--ansible-workers=0", "--ansible-workers"),
        ] {
            let Err(error) = Arguments::try_parse_from(["operator", flag]) else {
                panic!("{flag}");
            };
            assert!(error.to_string().contains(why), "{error}");
        }
        let never = options(&["--reconcile-period=0"]);
        assert_eq!(never.reconcile_period, Duration::ZERO);
    }
}
