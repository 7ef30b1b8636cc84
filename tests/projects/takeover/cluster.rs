//! The cluster: a control plane with an audit log, and what a person types in its shell.

use std::{
    cell::RefCell,
    env, fs,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use operator_runtime::envtest::{ControlPlane, Options};

use crate::project::{cache, succeed};

use super::audit::{Log, POLICY, Tokens, Who};

/// The names of the Go operator, which its port takes over.
pub const NAMESPACE: &str = "oncall-system";
pub const PREFIX: &str = "oncall-";

pub struct Cluster {
    control_plane: ControlPlane,
    tokens: RefCell<Tokens>,
}

impl Cluster {
    pub fn start() -> Self {
        let options = Options {
            controller_manager: true,
            audit_policy: Some(POLICY.to_owned()),
            ..Options::default()
        };
        let control_plane = ControlPlane::start_with(&options);
        Self {
            control_plane: control_plane.unwrap_or_else(|error| panic!("{error:#}")),
            tokens: RefCell::default(),
        }
    }

    #[track_caller]
    pub fn kubectl(&self, arguments: &str) -> String {
        self.kubectl_with(arguments, "")
    }

    #[track_caller]
    fn kubectl_with(&self, arguments: &str, input: &str) -> String {
        let mut kubectl = self.control_plane.kubectl();
        kubectl.args(arguments.split(' '));
        kubectl.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut kubectl = kubectl.spawn().unwrap();
        write!(kubectl.stdin.take().unwrap(), "{input}").unwrap();
        let output = kubectl.wait_with_output().unwrap();
        assert!(output.status.success(), "kubectl {arguments}: {input}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    pub fn apply(&self, manifest: &str) {
        self.kubectl_with("apply -f -", manifest);
    }

    /// Runs a command of `PORTING.md`.
    #[track_caller]
    pub fn run(&self, command: &str) {
        succeed(command, &mut self.shell(command));
    }

    /// A shell of the administrator of the cluster.
    pub fn shell(&self, command: &str) -> Command {
        let assets = PathBuf::from(env::var_os("KUBEBUILDER_ASSETS").unwrap());
        let path = env::var_os("PATH").unwrap();
        let path = env::join_paths([assets].into_iter().chain(env::split_paths(&path)));
        let mut shell = Command::new("sh");
        shell
            .args(["-ec", command])
            .env("PATH", path.unwrap())
            .env("KUBECONFIG", self.control_plane.kubeconfig())
            .env("KUBECTL_KUBERC", "false")
            .env("CARGO_TARGET_DIR", cache().join("target"));
        shell
    }

    /// A kubeconfig for an operator, with a token of its own. The ServiceAccount is the other one's, too.
    pub fn log_in(&self, who: Who) -> PathBuf {
        let account = format!("{PREFIX}controller-manager");
        let token = self.kubectl(&format!("create token {account} -n {NAMESPACE}"));
        let token = token.trim();
        let review = format!(
            "{{apiVersion: authentication.k8s.io/v1, kind: TokenReview, spec: {{token: {token}}}}}"
        );
        let path = r"jsonpath={.status.user.extra.authentication\.kubernetes\.io/credential-id[0]}";
        let id = self.kubectl_with(&format!("create -f - -o {path}"), &review);
        assert!(!id.is_empty(), "the token has an ID");
        self.tokens.borrow_mut().insert(id, who);
        self.kubeconfig_for(&who.to_string(), token)
    }

    pub fn kubeconfig_for(&self, name: &str, token: &str) -> PathBuf {
        self.control_plane.kubeconfig_for(name, token).unwrap()
    }

    /// The kubeconfig of the administrator of the cluster.
    pub fn kubeconfig(&self) -> PathBuf {
        self.control_plane.kubeconfig()
    }

    pub fn log(&self) -> Log {
        let text = fs::read_to_string(self.control_plane.audit_log()).unwrap();
        Log::read(&text, &self.tokens.borrow())
    }
}
