//! Names that clash in Kubernetes, in Rust or in a file system.

use crate::project::testing::{create, empty};
use crate::project::tests::{project, refused, refused_in};

#[test]
fn groups_that_the_api_server_refuses() {
    refused_in(
        &empty("", false),
        "-- v1 Foo",
        "`Foo` has no API group: group and domain are both empty",
        "--group cache.example.com",
    );
    refused_in(
        &empty("", false),
        "cache v1 Foo",
        "the API group `cache` has no dot",
        "--group cache.example.com",
    );
    refused_in(
        &empty("local", false),
        "-- v1 Foo",
        "the API group `local` has no dot",
        "--group foo.local",
    );
    refused_in(
        &empty("k8s.io", false),
        "networking v1 Foo",
        "the API group `networking.k8s.io` is reserved for Kubernetes",
        "--resource=false",
    );
    assert!(
        empty("x-k8s.io", false)
            .create_api(&create("sig v1 Foo"))
            .is_ok()
    );
    assert!(
        empty("", false)
            .create_api(&create("cache.example.com v1 Foo"))
            .is_ok()
    );
    assert!(
        empty("example.com", false)
            .create_api(&create("-- v1 Foo"))
            .is_ok()
    );
}

#[test]
fn long_names() {
    let group = "g".repeat(190);
    let failure = project(&[])
        .create_api(&create(&format!("{group} v1 {}", "K".repeat(59))))
        .unwrap_err();
    assert_eq!(
        failure.what,
        format!(
            "the name of the CRD, `{}s.{group}.example.com`, has 263 characters",
            "k".repeat(59)
        )
    );
    let group = "g".repeat(150);
    let failure = project(&[])
        .create_api(&create(&format!("{group} v1 {}", "K".repeat(59))))
        .unwrap_err();
    assert!(
        failure.what.ends_with("have 209 characters together"),
        "{}",
        failure.what
    );
}

#[test]
fn one_crd_has_one_set_of_names_and_one_scope() {
    refused(
        &["crew v1 Admiral plural=admirales"],
        "crew v2 Admiral controller=false plural=admirals",
        "`Admiral` has the plural `admirals` in v2 and `admirales` in v1",
        "--plural admirales",
    );
    refused(
        &["crew v1 Admiral"],
        "crew v2 Admiral controller=false namespaced=false",
        "`Admiral` has the scope cluster-wide in v2 and namespaced in v1",
        "--namespaced=true",
    );
    refused(
        &["crew v1 Admiral short=ad,adm"],
        "crew v2 Admiral controller=false short=a",
        "`Admiral` has the short names `a` in v2 and `ad, adm` in v1",
        "--short-name ad,adm",
    );
}

#[test]
fn names_that_clash() {
    refused(
        &["net v1 HTTPRoute"],
        "net v1 HttpRoute",
        "the kinds `HTTPRoute` and `HttpRoute` differ only by upper and lower case",
        "--kind HTTPRoute",
    );
    refused(
        &["net v1 HTTPRoute"],
        "net v2 Httproute",
        "the kinds `HTTPRoute` and `Httproute` differ only by upper and lower case",
        "--kind HTTPRoute",
    );
    refused(
        &["net v1 Route short=rt"],
        "net v1 Rule short=rt",
        "`rt`, the short name of `Rule`, is already the short name of `Route`",
        "leave out --short-name",
    );
    // The violation is by the new kind, in any order of the names.
    refused(
        &["net v1 Route short=rt,way"],
        "net v1 Any short=a,rt,b",
        "`rt`, the short name of `Any`, is already the short name of `Route`",
        "--short-name a,b",
    );
    refused(
        &["net v1 Httproute"],
        "net v1 HTTPRoute",
        "the kinds `Httproute` and `HTTPRoute` differ only by upper and lower case",
        "--kind Httproute",
    );
    refused(
        &["net v1 Route"],
        "net v1 Any short=routes",
        "`routes`, the short name of `Any`, is already the plural of `Route`",
        "leave out --short-name",
    );
    refused(
        &["net v1 Route"],
        "net v1 Routes",
        "`routes`, the singular of `Routes`, is already the plural of `Route`",
        "--kind Route",
    );
    refused(
        &["net v1 Route"],
        "net v1 Way plural=routes",
        "`routes`, the plural of `Way`, is already the plural of `Route`",
        "--plural ways",
    );
    refused(
        &["net v1 Route"],
        "net v1 RouteList",
        "the kinds `Route` and `RouteList` clash",
        "operator-forge status",
    );
    refused(
        &["net v1 Option"],
        "net v1 OptionResource",
        "`Option` and `OptionResource` would both be the Rust type `OptionResource`",
        "operator-forge status",
    );
    refused(
        &["a-b v1 Foo"],
        "a.b v1 Bar",
        "the groups `a-b` and `a.b` would both be the Rust module `a_b`",
        "--group a-b",
    );
    refused(
        &["example-com v1 Foo"],
        "-- v1 Bar",
        "the groups `example-com` and `example.com` (the empty group) would both be the Rust module `example_com`",
        "--group example-com",
    );
    refused(
        &["net v1 FooBar"],
        "net v1 Other name=foo-bar",
        "the controllers `net-foobar` and `foo-bar` would both be `src/controllers/net/foo_bar.rs`",
        "--controller-name other-v1",
    );
}

#[test]
fn groups_and_kinds_that_name_one_file() {
    refused(
        &["a-v1-ba v1 Ca"],
        "a v1 BaV1Ca",
        "`a-v1-ba/v1, Kind Ca` and `a/v1, Kind BaV1Ca` would both be `config/samples/a_v1_ba_v1_ca.yaml`",
        "operator-forge status",
    );
}

#[test]
fn devices_of_windows() {
    for device in ["aux", "con", "com1", "lpt9", "nul", "prn", "aux.cache"] {
        let first = device.split('.').next().unwrap();
        refused_in(
            &empty("example.com", false),
            &format!("{device} v1 Foo"),
            &format!("the API group `{device}.example.com` begins with a device of Windows"),
            &format!("--group {first}-group"),
        );
    }
    refused_in(
        &empty("aux.com", false),
        "-- v1 Foo",
        "the API group `aux.com` begins with a device of Windows",
        "--group aux-group",
    );
}
