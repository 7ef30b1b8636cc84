//! An operator whose replicas share the objects, deployed by `kubectl apply -k config/default` as it is, and scaled by
//! `kubectl scale`. The node runs Pods as processes, without a container engine.
#![cfg(target_os = "linux")]

use std::path::Path;

use crate::deployed::{node_with, placed};
use crate::project::{self, Tree, cache, cargo, place, place_of_projects, succeed};
use tempfile::TempDir;

/// What a user writes: file, text of the template, text of the user.
const WRITTEN: [(&str, &str, &str); 3] = [
    (
        "src/api/cache/v1alpha1/memcached.rs",
        "pub struct MemcachedSpec {}",
        "pub struct MemcachedSpec {\n    pub size: Option<u32>,\n}",
    ),
    (
        "src/controllers/cache/memcached.rs",
        ".condition(READY)",
        ".condition(READY).sharded(ShardKey::uid())",
    ),
    (
        "src/controllers/cache/memcached.rs",
        "ReconcileError, status}",
        "ReconcileError, ShardKey, status}",
    ),
];

fn written() -> Tree {
    let commands = [
        "init -q shared-operator --domain example.com --vcs none --shards 2",
        "-C shared-operator create api -q --group cache --kind Memcached --version v1alpha1",
    ];
    project::written("shared-operator", &commands.map(str::to_owned), &WRITTEN)
}

/// `shared.sh` is the test.
#[test]
#[ignore = "compiles a project and takes a minute: run `make shards`"]
fn kubectl_scale_shares_the_objects_anew() {
    let scratch = TempDir::new().unwrap();
    let (directory, lock) = place_of_projects();
    place(&written(), &directory);
    for command in [
        "run --locked --quiet --bin manifests",
        "build --locked --bin shared-operator",
    ] {
        succeed(command, &mut cargo(&directory, command));
    }
    let manager = cache().join("target/debug/shared-operator");
    placed(&directory, &manager, scratch.path());
    drop(lock);
    let mut node = node_with(scratch.path(), Path::new("tests/projects/shared.sh"));
    eprintln!("{}", succeed("shared.sh", &mut node));
}
