//! One replica: a process that is restarted when it ends, as by a kubelet.

use std::{
    env,
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::{authentication::v1::TokenRequest, core::v1::ServiceAccount};
use kube::{Api, api::PostParams};
use operator_runtime::envtest::{Cluster, free_port};
use tokio::time::sleep;

use crate::leadership::{plan::Timing, proxy::Proxy};

pub struct Replica {
    /// The user that the API server sees, and the prefix of its identity.
    pub name: String,
    pub proxy: Proxy,
    /// The port of its probes.
    pub health: u16,
    flags: String,
    log: PathBuf,
    child: Option<Child>,
}

impl Replica {
    /// Starts a replica as a user of its own, behind a proxy of its own.
    pub async fn start(
        cluster: &Cluster,
        namespace: &str,
        name: String,
        timing: Timing,
    ) -> Result<Self> {
        let accounts: Api<ServiceAccount> = Api::namespaced(cluster.client()?, namespace);
        let mut account = ServiceAccount::default();
        account.metadata.name = Some(name.clone());
        accounts.create(&PostParams::default(), &account).await?;
        let request = TokenRequest::default();
        let request = accounts
            .create_token_request(&name, &PostParams::default(), &request)
            .await?;
        let token = request.status.and_then(|status| status.token);
        let token = token.context("no token")?;

        let control_plane = cluster.control_plane();
        let url = control_plane.url();
        let proxy = Proxy::start(url.trim_start_matches("https://").to_owned()).await?;
        let kubeconfig = control_plane.kubeconfig_for(&name, &token)?;
        let text = fs::read_to_string(&kubeconfig)?;
        let proxied = format!("https://127.0.0.1:{}", proxy.port);
        fs::write(&kubeconfig, text.replace(&url, &proxied))?;
        let health = free_port()?;
        let flags = format!(
            "--kubeconfig={} --watch-namespace={namespace} --health-probe-bind-address=127.0.0.1:{} \
             --log-format=text --leader-elect --leader-elect-resource-namespace={namespace} --shards=auto \
             --leader-elect-lease-duration={}ms --leader-elect-renew-deadline={}ms \
             --leader-elect-retry-period={}ms",
            kubeconfig.display(),
            health,
            timing.lease.as_millis(),
            timing.renew.as_millis(),
            timing.retry.as_millis(),
        );
        let log = kubeconfig.with_extension("log");
        let mut replica = Self {
            name,
            proxy,
            health,
            flags,
            log,
            child: None,
        };
        replica.spawn()?;
        Ok(replica)
    }

    fn spawn(&mut self) -> Result<()> {
        let log = File::options().create(true).append(true).open(&self.log)?;
        let child = Command::new(env::current_exe()?)
            .args(["--exact", "shards::operator", "--nocapture"])
            .env("TEST_OPERATOR_FLAGS", &self.flags)
            .env("POD_NAME", &self.name)
            .env("RUST_LOG", "info,operator_runtime::shards=debug")
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        self.child = Some(child);
        Ok(())
    }

    /// Restarts the process if it has ended.
    pub fn supervise(&mut self) -> Result<()> {
        if let Some(child) = &mut self.child
            && child.try_wait()?.is_some()
        {
            self.spawn()?;
        }
        Ok(())
    }

    pub fn signal(&self, name: &str) -> Result<()> {
        let child = self.child.as_ref().context("no process")?;
        let status = Command::new("kill")
            .args(["-s", name, &child.id().to_string()])
            .status()?;
        ensure!(status.success(), "cannot send {name}");
        Ok(())
    }

    /// Ends the process as a rollout does, for ever.
    pub async fn stop(&mut self) -> Result<Duration> {
        self.signal("TERM")?;
        let mut child = self.child.take().context("no process")?;
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(40) {
            if let Some(status) = child.try_wait()? {
                ensure!(status.success(), "{status}\n{}", self.log());
                return Ok(begin.elapsed());
            }
            sleep(Duration::from_millis(20)).await;
        }
        self.child = Some(child);
        bail!("{} does not stop", self.name)
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended already.
            _ = child.kill();
            _ = child.wait();
        }
    }
}
