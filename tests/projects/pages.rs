//! The pages that build an operator, from their own text: commands run, code goes into files, and `make` compiles, lints and
//! tests the project as the reader has it at that place. `tests/cli/docs.rs` runs what needs no compiler.
//!
//! `PAGES=all` walks all pages of [`ALL`], `PAGES=cronjob` one of them; without it, those that [`ALWAYS`] says.

use crate::page::{Block, Page, Shell, with_exit_codes, without_needs};
use crate::project;
use crate::session;

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use project::{cache, place, place_of_projects, succeed, with_ansible};
use session::{repository, tree};

/// The pages, those together of which the second goes on where the first ends, and the lines that come before them.
const ALL: [(&[&str], &str); 10] = [
    (&["docs/getting-started.md"], ""),
    (
        &["docs/helm.md", "docs/olm.md", "docs/releases.md"],
        ONE_API,
    ),
    (&["docs/quick-start.md"], ""),
    (
        &[
            "docs/tutorials/cronjob.md",
            "docs/tutorials/multiversion.md",
        ],
        "",
    ),
    (&["docs/tutorials/stateful.md"], ""),
    (&["docs/tutorials/helm.md"], ""),
    (&["docs/tutorials/ansible.md"], ""),
    (
        &["docs/coming-from-kubebuilder.md"],
        "cp -R \"$GO/media-operator\" .",
    ),
    (&["docs/manager.md"], ONE_API),
    (
        &["docs/ansible.md"],
        "mkdir roles && cp -r $ROLES/memcached roles",
    ),
];

/// Pages whose code compiles in a project that these lines make. Their commands are about other projects.
const CODE: [(&[&str], &str); 3] = [
    (&["docs/webhooks.md"], WEBHOOK_OF_PODS),
    (&["docs/external-types.md"], EXTERNAL),
    (&["docs/monitoring.md"], ONE_API),
];

/// How many of [`ALL`] every run walks.
const ALWAYS: usize = 2;

/// A project with an API.
const ONE_API: &str = "operator-forge init -q memcached-operator --domain example.com --vcs none
cd memcached-operator
operator-forge create api -q --group cache --version v1alpha1 --kind Memcached";

/// A project with an API, and a webhook of Pods.
const WEBHOOK_OF_PODS: &str =
    "operator-forge init -q memcached-operator --domain example.com --vcs none
cd memcached-operator
operator-forge create api -q --group cache --version v1alpha1 --kind Memcached
operator-forge create webhook -q --group core --version v1 --kind Pod --defaulting";

/// A project with a controller of an external type, which a module has as a crate would.
const EXTERNAL: &str = "operator-forge init -q issuer-operator --domain example.com --vcs none
cd issuer-operator
cp \"$TYPES\" src/some_crds.rs
echo 'pub mod some_crds;' >> src/lib.rs
sed -i 's/Certificate/Issuer/g' src/some_crds.rs
operator-forge create api -q --group cert-manager --external-api-domain io --version v1 --kind Issuer \
  --external-api-path crate::some_crds::v1::Issuer --resource=false";

/// A page that is being read.
struct Reader {
    shell: Shell,
    /// Where the project compiles.
    directory: PathBuf,
    kubectl: PathBuf,
    helm: PathBuf,
    ran: usize,
}

impl Reader {
    fn read(&mut self, block: &Block, place: &str) {
        match block.language.as_str() {
            "rust" | "yaml" | "toml" => block.apply(place, &self.shell.now, true),
            "sh" if block.marks == ["compile"] => {
                for line in block.text.replace("\\\n", "").lines() {
                    let line = line.split(" #").next().unwrap().trim();
                    self.compile(line, place);
                }
            }
            "sh" if block.marks.is_empty() => self.run(&block.text, place),
            "sh" => self.run(&without_needs(&block.text), place),
            _ => {}
        }
    }

    fn run(&mut self, text: &str, place: &str) {
        let types = repository().join("tests/projects/external/types.rs");
        let text = with_exit_codes(text).replace("$TYPES", &types.display().to_string());
        let step = self.shell.run(&text);
        assert_eq!(step.code, 0, "{place}\n{text}\n{}", step.output);
    }

    /// Runs a line of `make` or `cargo` in the project, whose files it may change.
    fn compile(&mut self, line: &str, page: &str) {
        let mut command = Command::new("sh");
        let now = self.shell.now.clone();
        let is_project = now.join("PROJECT").exists();
        if is_project {
            place(&tree(&now), &self.directory);
            command.args(["-ec", line]).current_dir(&self.directory);
            with_ansible(&mut command, &self.directory);
        } else {
            // Optimized, it takes minutes; and it is not for the home directory of whoever runs tests.
            let line = line.replace("cargo install ", "cargo install --debug --root \"$ROOT\" ");
            let installed = line.replace("operator-forge ", "\"$ROOT/bin/operator-forge\" ");
            command
                .args(["-ec", &installed])
                .current_dir(repository())
                .env("ROOT", cache().join("installed"));
        }
        command
            .env("KUBECTL", &self.kubectl)
            .env("HELM", &self.helm)
            .env("CARGO_TARGET_DIR", cache().join("target"));
        succeed(&format!("{page}: {line}"), &mut command);
        if is_project {
            place(&tree(&self.directory), &now);
        }
        self.ran += 1;
    }
}

/// The files that `make release-assets` writes for a project with all plugins.
fn check_release(directory: &Path) {
    let read = |script: &str| {
        let mut command = Command::new("sh");
        succeed(script, command.args(["-ec", script]).current_dir(directory))
    };
    assert_eq!(
        read("LC_ALL=C ls"),
        "SHA256SUMS\ninstall.yaml\nmemcached-operator-0.1.0.tgz\nmemcached-operator-olm-0.1.0.tgz\n"
    );
    read("shasum --algorithm 256 --check SHA256SUMS && [ $(wc -l < SHA256SUMS) -eq 3 ]");
    read("grep -q 'image: registry.example.com/memcached-operator:v0.1.0$' install.yaml");
    let chart = read("tar -xzOf memcached-operator-0.1.0.tgz");
    for text in [
        "\nversion: 0.1.0\n",
        "\"registry.example.com/memcached-operator\"",
    ] {
        assert!(chart.contains(text), "{chart}");
    }
    let files = read("tar -tzf memcached-operator-olm-0.1.0.tgz");
    for name in [
        "bundle/manifests/",
        "bundle.Dockerfile",
        "catalog/memcached-operator/",
    ] {
        assert!(files.lines().any(|file| file == name), "{files}");
    }
}

#[test]
fn the_operators_of_the_pages_build() {
    let assets = PathBuf::from(env::var_os("KUBEBUILDER_ASSETS").expect("run `make test`"));
    let (directory, _lock) = place_of_projects();
    let mut build = Command::new("sh");
    build.arg(repository().join("tests/helm/build.sh"));
    let helm = succeed("tests/helm/build.sh", &mut build);
    let wanted = env::var("PAGES").ok();
    let is_wanted = |(at, (names, _)): &(usize, &(&[&str], &str))| match wanted.as_deref() {
        None => *at < ALWAYS,
        Some("all") => true,
        Some(one) => names.iter().any(|name| name.contains(one)),
    };
    for (at, (names, first)) in ALL.iter().chain(&CODE).enumerate().filter(is_wanted) {
        let mut reader = Reader {
            shell: Shell::new(),
            directory: directory.clone(),
            kubectl: assets.join("kubectl"),
            helm: PathBuf::from(helm.trim()),
            ran: 0,
        };
        reader.run(first, names[0]);
        for name in *names {
            for block in &Page::read(&repository().join(name)).blocks {
                if at < ALL.len() || block.language == "rust" {
                    reader.read(block, &format!("{name}:{}", block.line));
                }
            }
        }
        if names.contains(&"docs/releases.md") {
            check_release(&directory.join("dist/release"));
        }
        if reader.ran == 0 {
            reader.compile("cargo clippy --all-targets -- -D warnings", names[0]);
        }
    }
}
