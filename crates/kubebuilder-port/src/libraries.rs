//! The Go modules that a port has to replace, with a Rust crate where a well-kept one exists.

use std::collections::BTreeMap;

use crate::files::Files;

/// A Go module to replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library<'a> {
    /// Its path, or that of the part of it that is known.
    pub module: String,
    /// What stands in for it in Rust, in a project of operator-forge, if it is known.
    pub advice: Option<&'static str>,
    /// Whether it has the types of another project's API, by its name.
    pub is_api: bool,
    /// The files that import it.
    pub files: Vec<&'a str>,
}

/// What to say about the modules with this start, or whose packages have it.
const KNOWN: [(&str, &str); 53] = [
    ("cloud.google.com/go", "the crates `google-cloud-…`"),
    ("filippo.io/age", "the crate `age`"),
    ("github.com/Azure/azure-sdk-for-go", "the crates `azure_…`"),
    ("github.com/IBM/sarama", "the crate `rdkafka`"),
    ("github.com/Masterminds/semver", "the crate `semver`"),
    (
        "github.com/Masterminds/sprig",
        "the templates of `minijinja` or `tera`, with filters of your own",
    ),
    ("github.com/Shopify/sarama", "the crate `rdkafka`"),
    ("github.com/aws/aws-sdk-go", "the crates `aws-sdk-…`"),
    (
        "github.com/containerd/containerd",
        "the crate `containerd-client`",
    ),
    ("github.com/docker/docker", "the crate `bollard`"),
    (
        "github.com/elastic/go-elasticsearch",
        "the crate `elasticsearch`",
    ),
    ("github.com/evanphx/json-patch", "the crate `json-patch`"),
    ("github.com/fsnotify/fsnotify", "the crate `notify`"),
    ("github.com/go-git/go-git", "the crate `gix`"),
    ("github.com/go-ldap/ldap", "the crate `ldap3`"),
    ("github.com/go-redis/redis", "the crate `redis`"),
    ("github.com/go-resty/resty", "the crate `reqwest`"),
    ("github.com/go-sql-driver/mysql", "the crate `sqlx`"),
    ("github.com/google/cel-go", "the crate `cel`"),
    (
        "github.com/google/go-containerregistry",
        "the crate `oci-client`",
    ),
    ("github.com/google/go-github", "the crate `octocrab`"),
    ("github.com/google/uuid", "the crate `uuid`"),
    (
        "github.com/hashicorp/go-retryablehttp",
        "the crates `reqwest` and `reqwest-retry`",
    ),
    ("github.com/hashicorp/go-version", "the crate `semver`"),
    ("github.com/hashicorp/vault/api", "the crate `vaultrs`"),
    (
        "github.com/jackc/pgx",
        "the crate `sqlx` or `tokio-postgres`",
    ),
    ("github.com/lib/pq", "the crate `sqlx` or `tokio-postgres`"),
    ("github.com/miekg/dns", "the crates `hickory-…`"),
    ("github.com/minio/minio-go", "the crate `aws-sdk-s3`"),
    (
        "github.com/mitchellh/hashstructure",
        "`std::hash` of a type that derives `Hash`",
    ),
    ("github.com/nats-io/nats.go", "the crate `async-nats`"),
    ("github.com/open-policy-agent/opa", "the crate `regorus`"),
    (
        "github.com/pkg/errors",
        "`thiserror`, as in the generated controllers",
    ),
    (
        "github.com/prometheus/client_golang",
        "`manager.metrics(…)`",
    ),
    ("github.com/rabbitmq/amqp091-go", "the crate `lapin`"),
    ("github.com/redis/go-redis", "the crate `redis`"),
    (
        "github.com/robfig/cron",
        "the crate `croner`, with `default-features = false, features = [\"jiff\"]`; some schedules differ: `*/2` as day of the \
         month beside a weekday, `5/15`, six fields, `@every`",
    ),
    ("github.com/segmentio/kafka-go", "the crate `rdkafka`"),
    (
        "github.com/sirupsen/logrus",
        "`tracing`, which the manager sets up",
    ),
    (
        "github.com/spf13/viper",
        "flags in `OperatorFlags` of `src/context.rs`",
    ),
    ("github.com/tidwall/gjson", "`serde_json`"),
    ("go.etcd.io/etcd", "the crate `etcd-client`"),
    ("go.mongodb.org/mongo-driver", "the crate `mongodb`"),
    (
        "go.opentelemetry.io/otel",
        "the feature `otlp` of operator-runtime",
    ),
    ("golang.org/x/crypto/ssh", "the crate `russh`"),
    ("golang.org/x/oauth2", "the crate `oauth2`"),
    ("google.golang.org/api", "the crates `google-cloud-…`"),
    ("google.golang.org/grpc", "the crate `tonic`"),
    ("google.golang.org/protobuf", "the crate `prost`"),
    (
        "helm.sh/helm",
        "no crate does this: run the program `helm`, or keep this part in Go",
    ),
    (
        "k8s.io/kubectl/pkg/drain",
        "`cordon` and `evict` of `kube::Api`; the example `drain` of operator-runtime has the rest, to copy",
    ),
    (
        "sigs.k8s.io/kustomize",
        "no crate does this: run `kubectl kustomize`, or build the objects in code",
    ),
    ("sigs.k8s.io/yaml", "`serde_yaml`"),
];

/// Modules that the generated project replaces already, or that only tests need.
const REPLACED: [&str; 21] = [
    "github.com/go-logr/",
    "github.com/google/go-cmp",
    "github.com/onsi/",
    "github.com/spf13/cobra",
    "github.com/spf13/pflag",
    "github.com/stretchr/testify",
    "go.uber.org/automaxprocs",
    "go.uber.org/multierr",
    "go.uber.org/zap",
    "golang.org/x/exp",
    "golang.org/x/sync",
    "gomodules.xyz/jsonpatch",
    "k8s.io/api",
    "k8s.io/apiextensions-apiserver",
    "k8s.io/apimachinery",
    "k8s.io/apiserver",
    "k8s.io/client-go",
    "k8s.io/component-base",
    "k8s.io/klog",
    "k8s.io/utils",
    "sigs.k8s.io/controller-runtime",
];

/// The files that import a module.
type Importing<'a> = BTreeMap<String, Vec<&'a str>>;

impl Files {
    /// The modules to replace, by their paths.
    pub fn libraries(&self) -> Vec<Library<'_>> {
        let go_mod = self.texts.get("go.mod");
        let required = go_mod.map(|text| modules(text)).unwrap_or_default();
        let own = go_mod.and_then(|text| own_module(text));
        let mut importing = Importing::new();
        for (file, code) in &self.code {
            for package in &code.imports {
                if let Some(module) = to_replace(package, own, &required) {
                    importing.entry(module).or_default().push(file);
                }
            }
        }
        let libraries = importing.into_iter().map(|(module, mut files)| {
            files.dedup();
            Library {
                advice: advice(&module),
                is_api: is_api(&module),
                module,
                files,
            }
        });
        libraries.collect()
    }

    /// The release of controller-runtime that the project requires, major and minor.
    pub fn controller_runtime(&self) -> Option<(u64, u64)> {
        let text = self.texts.get("go.mod")?;
        let (_, version) = text.split_once("sigs.k8s.io/controller-runtime v")?;
        let mut numbers = version.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

/// What a package belongs to, if a port has to replace it: the longest start that the list knows, or the module of `go.mod`.
fn to_replace(package: &str, own: Option<&str>, required: &[&str]) -> Option<String> {
    let is_of = |module: &str| is_below(package, module);
    // The standard library has no dot in its first part.
    let is_library = package
        .split('/')
        .next()
        .is_some_and(|first| first.contains('.'));
    if !is_library || own.is_some_and(is_of) {
        return None;
    }
    let known = KNOWN
        .iter()
        .map(|(start, _)| *start)
        .filter(|start| is_of(start));
    let module = required.iter().copied().filter(|module| is_of(module));
    // Of a known part of a module, such as that of drain, the part is named.
    if let Some(known) = known.max_by_key(|start| start.len()) {
        let module = module.max_by_key(|module| module.len());
        let name = module
            .filter(|module| module.len() > known.len())
            .unwrap_or(known);
        return Some(name.to_owned());
    }
    if REPLACED
        .iter()
        .any(|start| is_of(start.trim_end_matches('/')))
    {
        return None;
    }
    let three = || package.split('/').take(3).collect::<Vec<_>>().join("/");
    let module = module.max_by_key(|module| module.len());
    Some(module.map_or_else(three, str::to_owned))
}

/// Whether a package or module is a path or below it. A version may follow without a part of its own: `aws-sdk-go-v2`.
fn is_below(package: &str, path: &str) -> bool {
    let rest = package.strip_prefix(path);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '-', '.']))
}

/// What the list says about a module.
fn advice(module: &str) -> Option<&'static str> {
    let mut known = KNOWN.iter().filter(|(start, _)| is_below(module, start));
    known.next_back().map(|(_, advice)| *advice)
}

/// Whether a module has the types of another project's API, by its name.
fn is_api(module: &str) -> bool {
    module
        .split('/')
        .any(|part| ["api", "apis"].contains(&part))
}

/// The modules that a `go.mod` requires.
fn modules(text: &str) -> Vec<&str> {
    let mut is_inside = false;
    let mut modules = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let required = match line.strip_prefix("require") {
            Some(rest) if rest.trim() == "(" => {
                is_inside = true;
                continue;
            }
            Some(rest) => Some(rest.trim()),
            None if line == ")" => {
                is_inside = false;
                None
            }
            None => Some(line).filter(|_| is_inside),
        };
        let path = required.and_then(|it| it.split_whitespace().next());
        modules.extend(path.filter(|path| !path.starts_with("//")));
    }
    modules
}

/// The module of a `go.mod`.
fn own_module(text: &str) -> Option<&str> {
    let mut lines = text.lines();
    lines.find_map(|line| line.trim().strip_prefix("module ").map(str::trim))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GO_MOD: &str = "module git.example.org/fleet/ops // ours\n\nrequire k8s.io/kubectl v0.30.0\n\nrequire (\n\
                          \tgithub.com/jackc/pgx/v5 v5.1.0\n\t// a comment\n\tgit.example.org/shared/retry v1.0.0 // indirect\n)\n";

    #[test]
    fn modules_of_imports() {
        let required = modules(GO_MOD);
        assert_eq!(
            required,
            [
                "k8s.io/kubectl",
                "github.com/jackc/pgx/v5",
                "git.example.org/shared/retry"
            ]
        );
        let own = own_module("module git.example.org/fleet/ops");
        let check = |package: &str, expected: Option<&str>| {
            assert_eq!(
                to_replace(package, own, &required).as_deref(),
                expected,
                "{package}"
            );
        };
        check("net/http", None);
        check("git.example.org/fleet/ops/api/v1", None);
        check("sigs.k8s.io/controller-runtime/pkg/client", None);
        check("k8s.io/api/core/v1", None);
        check(
            "github.com/jackc/pgx/v5/pgxpool",
            Some("github.com/jackc/pgx/v5"),
        );
        check(
            "git.example.org/shared/retry/backoff",
            Some("git.example.org/shared/retry"),
        );
        check("k8s.io/kubectl/pkg/drain", Some("k8s.io/kubectl/pkg/drain"));
        check("k8s.io/kubectl/pkg/scheme", Some("k8s.io/kubectl"));
        check(
            "github.com/aws/aws-sdk-go-v2/config",
            Some("github.com/aws/aws-sdk-go"),
        );
        check(
            "github.com/unknown/thing/pkg/a",
            Some("github.com/unknown/thing"),
        );
    }

    #[test]
    fn what_the_list_says() {
        assert_eq!(
            advice("github.com/jackc/pgx/v5"),
            Some("the crate `sqlx` or `tokio-postgres`")
        );
        assert_eq!(
            advice("github.com/aws/aws-sdk-go"),
            Some("the crates `aws-sdk-…`")
        );
        assert_eq!(advice("k8s.io/kubectl"), None);
        assert!(KNOWN.is_sorted() && REPLACED.is_sorted());
        assert!(is_api("github.com/openshift/api"));
    }
}
