//! Every refusal of `create api`, and every one of a `PROJECT` edited by hand.

use super::testing::{create, empty};
use super::*;

pub fn project(creates: &[&str]) -> Project {
    creates
        .iter()
        .fold(empty("example.com", false), |project, flags| {
            project.create_api(&create(flags)).unwrap()
        })
}

#[track_caller]
pub fn refused_in(project: &Project, flags: &str, error: &str, help: &str) {
    let failure = project.create_api(&create(flags)).unwrap_err();
    assert_eq!(failure.what, error);
    assert_eq!(failure.lines(), [help]);
}

#[track_caller]
pub fn refused(creates: &[&str], flags: &str, error: &str, help: &str) {
    refused_in(&project(creates), flags, error, help);
}

#[test]
fn what_is_there_already() {
    refused(
        &["cache v1alpha1 Memcached"],
        "cache v1alpha1 Memcached",
        "`cache/v1alpha1, Kind Memcached` exists already",
        "--version v1",
    );
    refused(
        &["cache v1alpha1 Memcached"],
        "cache v1alpha1 Memcached resource=false",
        "`Memcached` has a controller already",
        "--controller-name memcached-v1alpha1",
    );
    refused(
        &["cache v1alpha1 Memcached"],
        "cache v1 Memcached",
        "`Memcached` has a controller already",
        "--controller=false",
    );
    refused(
        &["cache v1 Memcached name=backup"],
        "cache v1 Memcached resource=false name=backup",
        "`Memcached` has a controller `backup` already",
        "--controller-name backup-2",
    );
    refused(
        &["cache v1 Memcached name=backup", "cache v1 Redis"],
        "cache v1 Redis resource=false name=backup",
        "the controllers `backup` and `backup` would both be `src/controllers/cache/backup.rs`",
        "--controller-name redis-v1",
    );
    refused(
        &["cache v1 Memcached", "queue v1 Rabbit"],
        "queue v1 Rabbit resource=false name=cache-memcached",
        "`cache/v1, Kind Memcached` and `queue/v1, Kind Rabbit` have controllers of one name, `cache-memcached`",
        "--controller-name rabbit-v1",
    );
}

#[test]
fn flags_that_contradict() {
    refused(
        &[],
        "cache v1 Memcached resource=false controller=false",
        "there is nothing to create with `--resource=false` and `--controller=false`",
        "leave out --resource=false --controller=false",
    );
    refused(
        &[],
        "cache v1 Memcached controller=false name=backup",
        "`--controller-name` has no effect with `--controller=false`",
        "--controller=true",
    );
    refused(
        &[],
        "apps v1 Deployment resource=false plural=foos",
        "`--plural` has no effect with `--resource=false`",
        "leave out --plural",
    );
}

#[test]
fn a_controller_for_a_kind_that_nobody_defines() {
    refused(
        &[],
        "cache v1 Memcached resource=false",
        "`cache/v1, Kind Memcached` is defined neither by this project nor by Kubernetes",
        "operator-forge create api --group cache --version v1 --kind Memcached",
    );
    refused(
        &["cache v1alpha1 Memcached"],
        "cache v1 Memcached resource=false",
        "`cache/v1, Kind Memcached` is defined neither by this project nor by Kubernetes",
        "--version v1alpha1",
    );
    let refused = project(&[]).create_api(&create("batch v1 Jobb resource=false"));
    let failure = refused.unwrap_err();
    assert_eq!(
        failure.notes[1],
        "Kubernetes has in `batch`: v1/CronJob, v1/Job"
    );
    assert_eq!(
        failure.lines(),
        ["--group batch --version v1 --kind Job --resource=false"]
    );
}

#[test]
fn another_version_inherits_names_and_scope() {
    let project = project(&[
        "crew v1 Admiral plural=admirales namespaced=false short=ad",
        "crew v2 Admiral controller=false",
    ]);
    let apis = project.apis();
    assert_eq!(apis.len(), 2);
    assert_eq!(apis[0].resource.plural, apis[1].resource.plural);
    assert_eq!(apis[0].api, apis[1].api);
    assert_eq!(
        apis.iter().map(|api| api.storage).collect::<Vec<_>>(),
        [true, false]
    );
}

#[test]
fn a_role_cannot_watch_cluster_scoped_kinds() {
    let project = empty("example.com", true);
    let error = |what| format!("`{what}` is cluster-scoped, but the project is namespaced");
    refused_in(
        &project,
        "cache v1 Foo namespaced=false",
        &error("cache/v1, Kind Foo"),
        "--namespaced=true",
    );
    refused_in(
        &project,
        "core v1 Node resource=false",
        &error("core/v1, Kind Node"),
        "operator-forge edit --namespaced=false --dry-run --diff",
    );
    assert!(
        project
            .create_api(&create("core v1 Pod resource=false"))
            .is_ok()
    );
}

#[test]
fn force_makes_again_what_is_there() {
    let before = project(&["cache v1 Memcached short=mc"]);
    assert_eq!(
        before
            .create_api(&create("cache v1 Memcached force"))
            .unwrap(),
        before
    );
    let changed = before
        .create_api(&create(
            "cache v1 Memcached force short=m plural=memcachedes",
        ))
        .unwrap();
    assert_eq!(changed.apis()[0].resource.plural.as_str(), "memcachedes");
}

#[test]
fn kubernetes_types() {
    let project = project(&[
        "apps v1 Deployment resource=false",
        "networking.k8s.io v1 Ingress resource=false",
        "core v1 Pod resource=false name=pod-cleaner",
        "apps v1 Scaler",
    ]);
    let names: Vec<_> = project
        .controllers()
        .into_iter()
        .map(|c| (c.name, c.key.api_group(c.resource.core)))
        .collect();
    let expected = [
        ("apps-deployment", "apps"),
        ("apps-scaler", "apps.example.com"),
        ("pod-cleaner", ""),
        ("networking-ingress", "networking.k8s.io"),
    ];
    assert_eq!(
        names,
        expected.map(|(name, group)| (name.to_owned(), group.to_owned()))
    );
}

#[test]
fn a_controller_has_an_image_or_a_finalizer() {
    let before = project(&["cache v1 Redis finalizer"]);
    let forced = create("cache v1 Redis force image=redis");
    let now = before.create_api(&forced).unwrap();
    assert!(!now.controllers()[0].finalizer);
    refused_in(
        &now,
        "cache v1 Redis force finalizer",
        "`--finalizer` beside `--image`",
        "leave out --finalizer",
    );
}
