//! The make targets of generated projects that call a registry or a cluster, with scripts in place of their programs.

use crate::{
    kustomize::{edit, silent_make},
    session::recorded,
};

use std::{env, fs, os::unix::fs::PermissionsExt as _, path::Path};

use tempfile::TempDir;

/// A recorded project in a path with a space, and the directory `bin` of scripts that make finds before the programs.
fn project(name: &str, scripts: &[(&str, &str)]) -> TempDir {
    let directory = TempDir::with_prefix("a project ").unwrap();
    for (path, bytes) in recorded(name) {
        let file = directory.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    let bin = directory.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    for (name, text) in scripts {
        let script = bin.join(name);
        fs::write(&script, format!("#!/bin/sh\n{text}")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    }
    directory
}

/// Whether a target succeeds, and what it prints.
fn make(directory: &Path, arguments: &[&str]) -> (bool, String) {
    let path = env::var("PATH").unwrap();
    let output = silent_make()
        .args(arguments)
        .env(
            "PATH",
            format!("{}:{path}", directory.join("bin").display()),
        )
        .current_dir(directory)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

/// The registry's digest is the number of its answers so far.
const DOCKER: &str = "\
[ \"$1 $2 $3\" = 'buildx imagetools inspect' ] || exit 1
[ ! -e bin/down ] || { echo 'no such host' >&2; exit 1; }
for image; do :; done
echo \"$image\" >>bin/asked
echo \"sha256:$(printf %064d \"$(wc -l <bin/asked)\")\"
";

#[test]
fn base_images_are_pinned_by_the_digests_of_the_registry() {
    let directory = project("webhooks", &[("docker", DOCKER)]);
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
    let digest = |number: usize| format!("@sha256:{number:064}");
    let files = ["Dockerfile", "catalog.Dockerfile"];
    let before = files.map(read);
    for first in [1, 4] {
        let (is_done, text) = make(directory.path(), &["pin-images"]);
        assert!(is_done, "{text}");
        let [image, catalog] = files.map(read);
        for number in first..first + 2 {
            assert_eq!(image.matches(&digest(number)).count(), 1, "{image}");
        }
        assert_eq!(catalog.matches(&digest(first + 2)).count(), 1, "{catalog}");
        let unpinned = |text: String| {
            (first..first + 3).fold(text, |text, number| text.replace(&digest(number), ""))
        };
        assert_eq!([image, catalog].map(unpinned), before);
    }
    // Every base image, by its tag alone.
    let asked = read("bin/asked");
    let asked: Vec<_> = asked.lines().collect();
    assert_eq!(asked[..3], asked[3..]);
    assert!(asked[0].starts_with("rust:1."), "{asked:?}");
    assert!(asked[1].starts_with("gcr.io/distroless/"), "{asked:?}");
    assert!(
        asked[2].starts_with("quay.io/operator-framework/opm:"),
        "{asked:?}"
    );

    let pinned = files.map(read);
    fs::write(directory.path().join("bin/down"), "").unwrap();
    let (is_done, text) = make(directory.path(), &["pin-images"]);
    assert!(!is_done && text.contains("no such host"), "{text}");
    assert_eq!(files.map(read), pinned);
}

/// `make test-e2e` without its cluster: each Memcached has a condition with the reason in `bin/reason`.
const KUBECTL: &str = "\
echo \"$*\" >>bin/calls
case \"$*\" in
*current-context) echo kind-e2e ;;
'kustomize config/default') echo '  image: controller:latest' ;;
*'get memcacheds.cache.example.com'*'--output name') echo memcached.cache.example.com/memcached-sample ;;
*'get memcacheds.cache.example.com'*.reason}) cat bin/reason ;;
*'wait memcacheds.cache.example.com'*condition=Ready=True*) grep -qx Available bin/reason ;;
esac
";
const KIND: &str = "for word; do echo \"$word\" >>bin/words; done";
const CARGO: &str = "\
case \"$*\" in *--conditions) echo 'memcacheds.cache.example.com Ready=True' ;; esac
";

#[test]
fn the_e2e_test_waits_for_what_is_implemented() {
    let scripts = [
        ("kubectl", KUBECTL),
        ("cargo", CARGO),
        ("kind", KIND),
        ("docker", ""),
    ];
    for (reason, is_done, waits) in [
        ("NotImplemented", true, false),
        ("Available", true, true),
        ("ApiCallFailed", false, true),
    ] {
        let directory = project("one-api", &scripts);
        fs::write(directory.path().join("bin/reason"), format!("{reason}\n")).unwrap();
        let (succeeds, text) = make(directory.path(), &["test-e2e", "KIND_CLUSTER=e2e"]);
        assert_eq!(succeeds, is_done, "{reason}: {text}");
        let calls = fs::read_to_string(directory.path().join("bin/calls")).unwrap();
        let reported = r#"--for jsonpath={.status.conditions[?(@.type=="Ready")].status}"#;
        assert!(calls.contains(reported), "{reason}: {calls}");
        let waited = calls.contains("--for condition=Ready=True");
        assert_eq!(waited, waits, "{reason}: {calls}");
        let says =
            text.contains("the controller of memcacheds.cache.example.com is not implemented");
        assert_eq!(says, !waits, "{reason}: {text}");
        let words = fs::read_to_string(directory.path().join("bin/words")).unwrap();
        let file = directory.path().join("bin/e2e.kubeconfig");
        let times = words.lines().filter(|word| Path::new(word) == file);
        assert_eq!(times.count(), 2, "created and deleted: {words}");
    }
}

/// The test looks where `config/default` installs.
#[test]
fn the_e2e_test_follows_the_namespace() {
    for entry in [
        "namespace: platform",
        "namespace: \"platform\" # ours",
        "namespace: 'platform'",
        "\"namespace\": platform",
    ] {
        let scripts = [
            ("kubectl", KUBECTL),
            ("cargo", CARGO),
            ("kind", KIND),
            ("docker", ""),
        ];
        let directory = project("one-api", &scripts);
        fs::write(directory.path().join("bin/reason"), "Available\n").unwrap();
        let file = "config/default/kustomization.yaml";
        let from = "namespace: memcached-operator-system";
        edit(directory.path(), file, from, entry);
        let (succeeds, text) = make(directory.path(), &["test-e2e", "KIND_CLUSTER=e2e"]);
        assert!(succeeds, "{text}");
        let calls = fs::read_to_string(directory.path().join("bin/calls")).unwrap();
        assert!(calls.contains("--namespace platform "), "{calls}");
        assert!(!calls.contains("memcached-operator-system"), "{calls}");
    }
}

/// Where a kustomization replaces the manager's image, the message says so.
#[test]
fn an_image_that_is_replaced_twice_is_named() {
    let kubectl = (
        "kubectl",
        "echo '  image: registry.example.com/operator:v1'",
    );
    let directory = project("one-api", &[kubectl, ("cargo", CARGO)]);
    let (succeeds, text) = make(directory.path(), &["build-installer", "IMG=a:1"]);
    assert!(!succeeds);
    assert!(
        text.contains("if its kustomization replaces that image"),
        "{text}"
    );
    assert!(!directory.path().join("dist/install.yaml").exists());
}

/// Random text, which `gzip` does not make smaller, so that the size is what is written.
const LARGE: &str = "head -c 900000 /dev/urandom | base64";

#[test]
fn a_chart_that_is_too_large_for_a_release_is_an_error() {
    let write = format!(
        "case \"$*\" in *--chart*) cat >bin/objects; {LARGE} >dist/chart/templates/large.yaml;; esac"
    );
    let kubectl = ("kubectl", "echo '  image: controller:latest'");
    let directory = project(
        "webhooks",
        &[
            kubectl,
            ("cargo", "case \"$*\" in *--chart*) cat >bin/objects;; esac"),
        ],
    );
    let (succeeds, text) = make(directory.path(), &["chart"]);
    assert!(succeeds, "{text}");
    let directory = project("webhooks", &[kubectl, ("cargo", &write)]);
    let (succeeds, text) = make(directory.path(), &["chart"]);
    assert!(!succeeds);
    assert!(text.contains("Helm takes no more than 1048576"), "{text}");
    assert!(text.contains("--crd-description-length 0"), "{text}");
}

#[test]
fn a_bundle_that_is_too_large_for_olm_is_an_error() {
    let write = |command: &str| {
        format!(
            "case \"$*\" in *--bundle*) cat >bin/objects; mkdir -p bundle/manifests; {command} >bundle/manifests/large.yaml;; esac"
        )
    };
    let kubectl = ("kubectl", "echo '  image: controller:latest'");
    let directory = project("webhooks", &[kubectl, ("cargo", &write("echo small"))]);
    let (succeeds, text) = make(directory.path(), &["bundle"]);
    assert!(succeeds, "{text}");
    let directory = project("webhooks", &[kubectl, ("cargo", &write(LARGE))]);
    let (succeeds, text) = make(directory.path(), &["bundle"]);
    assert!(!succeeds);
    assert!(text.contains("OLM takes no more than 1048576"), "{text}");
}

/// What the demo and the tests of operator-forge have fetched or built is not downloaded again.
#[test]
fn tests_find_a_control_plane_in_the_cache() {
    let scripts = [
        ("cargo", "echo \"cargo with $KUBEBUILDER_ASSETS\""),
        ("curl", "echo downloading; exit 1"),
    ];
    let directory = project("minimal", &scripts);
    let cache = TempDir::new().unwrap();
    let test = |assets: Option<&str>| {
        let path = format!(
            "{}:{}",
            directory.path().join("bin").display(),
            env::var("PATH").unwrap()
        );
        let mut make = silent_make();
        make.arg("test")
            .current_dir(directory.path())
            .env("PATH", path);
        make.env("XDG_CACHE_HOME", cache.path())
            .env_remove("KUBEBUILDER_ASSETS");
        make.envs(assets.map(|assets| ("KUBEBUILDER_ASSETS", assets)));
        let output = make.output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(test(None).lines().next(), Some("downloading"));
    // `tests/control-plane/build.sh` makes a link with this name.
    let cached = cache.path().join("operator-forge/control-plane/v1.37");
    fs::create_dir_all(&cached).unwrap();
    fs::write(cached.join("kubectl"), "").unwrap();
    assert_eq!(test(None), format!("cargo with {}\n", cached.display()));
    assert_eq!(test(Some("/elsewhere")), "cargo with /elsewhere\n");
}
