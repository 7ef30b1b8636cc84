//! The deployment of a test: its manifests in a namespace of its own, with accessors.

use std::{
    io::Write,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::{
    admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
    authentication::v1::TokenRequest,
    core::v1::{ConfigMap, Secret, ServiceAccount},
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, Client, api::PostParams};
use operator_runtime::envtest::{Cluster, free_port};
use serde_json::{Value, json};
use tokio::{
    sync::{Mutex, MutexGuard},
    time::sleep,
};

use super::{
    manifests,
    operator::{Operator, Periods},
};
use crate::widget;

/// The name of the CRD of Widgets.
pub const CRD: &str = "widgets.test.example.com";

pub struct Site<'a> {
    pub cluster: &'a Cluster,
    pub namespace: &'static str,
    /// The port at which the API server calls the webhooks.
    pub port: u16,
    pub manifests: String,
    /// Held if the operator converts Widgets: there is one CRD for all tests.
    converts: Option<MutexGuard<'static, ()>>,
}

impl<'a> Site<'a> {
    /// Applies the manifests.
    pub fn new(cluster: &'a Cluster, namespace: &'static str) -> Result<Self> {
        let port = free_port()?;
        let site = Self {
            cluster,
            namespace,
            port,
            manifests: manifests::render(cluster, namespace, port)?,
            converts: None,
        };
        site.apply(&site.manifests)?;
        Ok(site)
    }

    /// Applies the CRD of Widgets, which the operator converts.
    pub async fn with_conversion(mut self) -> Result<Self> {
        static CONVERSION: Mutex<()> = Mutex::const_new(());
        self.converts = Some(CONVERSION.lock().await);
        self.apply(&self.crd()?)?;
        Ok(self)
    }

    /// The CRD, as JSON.
    pub fn crd(&self) -> Result<String> {
        let mut crd = serde_json::to_value(&widget::crds()?[0])?;
        let (name, namespace) = (self.name("webhook-service"), self.namespace);
        crd["spec"]["conversion"] = json!({
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": {"service": {
                    "name": name, "namespace": namespace, "path": "/convert", "port": self.port,
                }},
                "conversionReviewVersions": ["v1"],
            },
        });
        Ok(crd.to_string())
    }

    /// Applies YAML as `make deploy` does.
    pub fn apply(&self, yaml: &str) -> Result<()> {
        self.kubectl(
            &["apply", "--server-side", "--force-conflicts", "-f", "-"],
            yaml,
        )?;
        Ok(())
    }

    pub fn kubectl(&self, arguments: &[&str], input: &str) -> Result<String> {
        kubectl(self.cluster, arguments, input)
    }

    /// Patches the Secret.
    pub fn merge_into_secret(&self, patch: &str) -> Result<()> {
        let (name, namespace) = (self.name("webhook-server-cert"), self.namespace);
        let patch = [
            "patch",
            "secret",
            &name,
            "-n",
            namespace,
            "--type=merge",
            "-p",
            patch,
        ];
        self.kubectl(&patch, "")?;
        Ok(())
    }

    /// Starts the operator as a pod of the manifests, listening on `port`.
    pub async fn operator(
        &self,
        name: &str,
        port: u16,
        periods: Option<Periods>,
    ) -> Result<Operator> {
        let namespace = self.namespace;
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client()?, namespace);
        let request = accounts
            .create_token_request(
                &self.name("controller-manager"),
                &PostParams::default(),
                &TokenRequest::default(),
            )
            .await?;
        let token = request.status.and_then(|status| status.token);
        let token = token.context("no token")?;
        let name = format!("{namespace}-{name}");
        let kubeconfig = self.cluster.control_plane().kubeconfig_for(&name, &token)?;
        let mut environment = self.environment();
        environment.push(("WEBHOOK_SECRET", self.name("webhook-server-cert")));
        environment.push(("WEBHOOK_SERVICE", self.name("webhook-service")));
        if let Some(periods) = periods {
            environment.push((
                "TEST_PERIODS",
                periods.map(|time| time.to_string()).join(","),
            ));
        }
        let flags = format!(
            "--leader-elect --leader-elect-resource-namespace={namespace} \
             --leader-elect-lease-duration=4s --leader-elect-renew-deadline=3s \
             --leader-elect-retry-period=500ms"
        );
        Operator::start(&kubeconfig, &name, port, &flags, &environment)
    }

    /// Starts the operator as `make run WEBHOOK_HOST=localhost` does.
    pub fn local(&self, name: &str, port: u16) -> Result<Operator> {
        self.local_with(name, port, "", &[])
    }

    /// The same, for clients with a certificate of this CA.
    pub fn local_for(&self, name: &str, port: u16, client_ca: &Path) -> Result<Operator> {
        let flag = format!("--webhook-client-ca={}", client_ca.display());
        self.local_with(name, port, &flag, &[])
    }

    /// The same, with a controller of Widgets.
    pub fn local_controller(&self, name: &str, port: u16) -> Result<Operator> {
        self.local_with(name, port, "", &[("TEST_WATCHES", String::new())])
    }

    fn local_with(
        &self,
        name: &str,
        port: u16,
        flag: &str,
        more: &[(&str, String)],
    ) -> Result<Operator> {
        let name = format!("{}-{name}", self.namespace);
        let kubeconfig = self.cluster.control_plane().kubeconfig();
        let flags = format!("--webhook-host=localhost {flag}");
        let mut environment = self.environment();
        environment.extend_from_slice(more);
        Operator::start(&kubeconfig, &name, port, &flags, &environment)
    }

    fn environment(&self) -> Vec<(&str, String)> {
        let mut environment = vec![
            ("POD_NAMESPACE", self.namespace.to_owned()),
            (
                "WEBHOOK_MUTATING_CONFIGURATION",
                self.name("mutating-webhook-configuration"),
            ),
            (
                "WEBHOOK_VALIDATING_CONFIGURATION",
                self.name("validating-webhook-configuration"),
            ),
        ];
        if self.converts.is_some() {
            environment.push(("TEST_CONVERTS", String::new()));
        }
        environment
    }

    pub fn name(&self, name: &str) -> String {
        format!("{}-{name}", self.namespace)
    }

    pub fn client(&self) -> Result<Client> {
        self.cluster.client()
    }

    /// One value of the Secret.
    pub async fn secret(&self, key: &str) -> Result<String> {
        let secrets: Api<Secret> = Api::namespaced(self.client()?, self.namespace);
        let secret = secrets.get(&self.name("webhook-server-cert")).await?;
        let value = secret.data.unwrap_or_default().remove(key);
        Ok(String::from_utf8(value.unwrap_or_default().0)?)
    }

    /// The published caBundles: of the mutating and validating configuration, and of the conversion.
    pub async fn bundles(&self) -> Result<Vec<String>> {
        let mutating: Api<MutatingWebhookConfiguration> = Api::all(self.client()?);
        let mutating = mutating
            .get(&self.name("mutating-webhook-configuration"))
            .await?;
        let validating: Api<ValidatingWebhookConfiguration> = Api::all(self.client()?);
        let validating = validating
            .get(&self.name("validating-webhook-configuration"))
            .await?;
        let mutating = mutating
            .webhooks
            .unwrap_or_default()
            .remove(0)
            .client_config
            .ca_bundle;
        let validating = validating
            .webhooks
            .unwrap_or_default()
            .remove(0)
            .client_config
            .ca_bundle;
        let mut bundles = vec![mutating, validating];
        if self.converts.is_some() {
            let crds: Api<CustomResourceDefinition> = Api::all(self.client()?);
            let conversion = crds.get(CRD).await?.spec.conversion;
            let webhook = conversion.and_then(|conversion| conversion.webhook);
            let client = webhook.and_then(|webhook| webhook.client_config);
            bundles.push(client.and_then(|client| client.ca_bundle));
        }
        let bundles = bundles.into_iter();
        let texts = bundles.map(|bundle| String::from_utf8(bundle.unwrap_or_default().0));
        Ok(texts.collect::<Result<_, _>>()?)
    }

    /// The path of the validating webhook, which is redirected to this machine.
    pub async fn path(&self) -> Result<String> {
        let validating: Api<ValidatingWebhookConfiguration> = Api::all(self.client()?);
        let name = self.name("validating-webhook-configuration");
        let webhooks = validating.get(&name).await?.webhooks.unwrap_or_default();
        let url = webhooks.first().and_then(|it| it.client_config.url.clone());
        let path = url.and_then(|url| Some(url.splitn(4, '/').nth(3)?.to_owned()));
        path.map(|path| format!("/{path}")).context("no URL")
    }

    /// Waits until the published caBundles equal the Secret's.
    pub async fn published(&self) -> Result<()> {
        let begin = Instant::now();
        loop {
            let (ca, bundles) = (self.secret("ca.crt").await?, self.bundles().await?);
            if !ca.is_empty() && bundles.iter().all(|bundle| *bundle == ca) {
                return Ok(());
            }
            if begin.elapsed() > Duration::from_secs(30) {
                bail!("published {bundles:?}, not {ca:?}");
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Creates an object by a dry run, which is admitted like any other request.
    pub async fn create(&self, key: &str) -> Result<ConfigMap> {
        let api: Api<ConfigMap> = Api::namespaced(self.client()?, self.namespace);
        create(&api, key).await
    }

    /// Waits until the API server calls the webhooks, and they answer.
    pub async fn admitted(&self) -> Result<()> {
        let begin = Instant::now();
        while let Err(error) = self.admits().await {
            if begin.elapsed() > Duration::from_secs(30) {
                return Err(error);
            }
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn admits(&self) -> Result<()> {
        let data = self.create("good").await?.data.unwrap_or_default();
        ensure!(
            data.contains_key("defaulted"),
            "no webhook was called: {data:?}"
        );
        let error = self.create("bad").await.err().context("bad is good")?;
        ensure!(error.to_string().contains("it is bad"), "{error}");
        Ok(())
    }
}

/// The output of `kubectl` as the administrator.
pub fn kubectl(cluster: &Cluster, arguments: &[&str], input: &str) -> Result<String> {
    let mut kubectl = cluster.control_plane().kubectl();
    let kubectl = kubectl.args(arguments).stdin(Stdio::piped());
    let kubectl = kubectl.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = kubectl.spawn()?;
    let mut stdin = child.stdin.take().context("no input")?;
    stdin.write_all(input.as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "kubectl {arguments:?}: {error}");
    Ok(String::from_utf8(output.stdout)?)
}

/// Like `Site::create`, with an existing client.
pub async fn create(api: &Api<ConfigMap>, key: &str) -> Result<ConfigMap> {
    let object: Value = json!({"metadata": {"generateName": "made-"}, "data": {key: "x"}});
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    Ok(api
        .create(&params, &serde_json::from_value(object)?)
        .await?)
}
