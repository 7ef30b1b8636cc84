//! The variables for projects with unusual names.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::project::testing::{create, empty, webhook};
use crate::syntax::Conversion;

fn check(creates: &[&str]) -> Value {
    check_webhooks(creates, &[])
}

fn check_webhooks(creates: &[&str], webhooks: &[&str]) -> Value {
    context(&created(creates, webhooks)).variables
}

/// The subjects of the admission webhooks.
fn admitted(creates: &[&str], webhooks: &[&str]) -> Vec<Subject> {
    let subjects = context(&created(creates, webhooks)).subjects.into_iter();
    subjects.filter(|it| it.variable == "webhook").collect()
}

fn created(creates: &[&str], webhooks: &[&str]) -> Project {
    let mut project = empty("example.com", false);
    let refused = |flags: &str| panic!("{flags} is refused");
    for flags in creates {
        let created = project.create_api(&create(flags));
        project = created.unwrap_or_else(|_| refused(flags));
    }
    for flags in webhooks {
        let created = project.create_webhook(&webhook(flags));
        project = created.unwrap_or_else(|_| refused(flags));
    }
    project
}

/// Both objects in one.
fn both(names: &Value, more: Value) -> Value {
    let (Value::Object(mut names), Value::Object(more)) = (names.clone(), more) else {
        panic!("these are objects");
    };
    names.extend(more);
    names.into()
}

/// The values of one field of all items.
fn each(list: &Value, field: &str) -> Vec<String> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|item| item[field].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn an_api_in_full() {
    let context = check(&["cache v1alpha1 Memcached short=mc"]);
    let names = json!({
        "group": "cache", "group_module": "cache", "group_file": "cache", "api_group": "cache.example.com",
        "version": "v1alpha1", "kind": "Memcached", "type": "Memcached", "variable": "memcached",
        "module": "memcached", "file": "memcached", "plural": "memcacheds",
    });
    let api = both(
        &names,
        json!({
            "root": false, "namespaced": true, "short_names": ["mc"], "category": "demo-all", "storage": true,
            "has_image": false, "source": null, "chart": null, "ansible": null, "former": null, "sample_name": "memcached-sample-v1alpha1",
        }),
    );
    let controller = both(
        &names,
        json!({
            "name": "cache-memcached", "default": true, "condition": "Ready", "finalizer": "", "image": null,
            "image_variable": "RELATED_IMAGE_CACHE_MEMCACHED",
            "import": "crate::api::cache::memcached::Memcached",
            "test_import": "demo::api::cache::memcached::Memcached", "test_type": "Memcached",
            "type_module": "crate::api::cache::memcached",
            "own": true, "local": true, "foreign": false, "external": false, "namespaced": true, "chart": null, "ansible": null, "type_path": null, "former": null,
        }),
    );
    assert_eq!(
        context,
        json!({
            "project": {
                "name": "demo", "operator": "demo.example.com", "lease": "demo.example.com", "replaces": false, "package": "demo", "library": "demo",
                "runtime": "{ path = \"vendor/operator-runtime\" }",
                "chart_runtime": "{ path = \"vendor/operator-helm\" }",
                "ansible_runtime": "{ path = \"vendor/operator-ansible\" }",
                "runtime_of_tests": "{ path = \"vendor/operator-runtime\", features = [\"envtest\", \"testing\"] }",
                "shards": null, "crypto": "ring", "other_crypto": "aws-lc-rs", "description_length": null, "runtime_repository": null, "kubernetes": "1.37", "kubernetes_feature": "v1_37", "domain": "example.com", "namespaced": false,
                "license": "Apache-2.0", "owned": [],
            },
            "header": "// SPDX-License-Identifier: Apache-2.0\n\n",
            "charts": [], "releases": [], "ansible": false, "automations": [], "images": [],
            "plugins": { "grafana": false, "helm": false, "olm": false, "release": false },
            "groups": [{
                "module": "cache", "inner": [{"module": "v1alpha1", "inner": [api]}],
                "hubs": [{"version": "v1alpha1", "module": "memcached", "renamed": null}],
            }],
            "hubs": [],
            "kinds": [both(&names, json!({ "apis": [api] }))],
            "controller_groups": [{"module": "cache", "inner": [controller]}],
            "server": {
                "exists": false, "defaulting": false, "validation": false, "converted": [],
                "certificates": "self-managed",
            },
            "admissions": [], "conversions": [], "webhook_modules": [], "tested_webhook_modules": [],
        })
    );
}

#[test]
fn names_that_rust_has_taken() {
    let context = check(&[
        "type v1 Option",
        "self v1 Self",
        "cache v1 Type",
        "core v1 Pod resource=false",
    ]);
    assert_eq!(
        each(&context["groups"], "module"),
        ["cache", "self_", "r#type"]
    );
    assert_eq!(
        each(&context["kinds"], "group_file"),
        ["cache", "self_", "type"]
    );
    let option = &context["kinds"][2]["apis"][0];
    assert_eq!(
        (&option["type"], &option["root"]),
        (&json!("OptionResource"), &json!(true))
    );
    let controllers: Vec<_> = context["controller_groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| &group["inner"][0])
        .collect();
    let paths: Vec<_> = controllers
        .iter()
        .map(|controller| controller["import"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "crate::api::cache::r#type::Type",
            "k8s_openapi::api::core::v1::Pod",
            "crate::api::self_::self_::SelfResource",
            "crate::api::r#type::option::OptionResource",
        ]
    );
    assert_eq!(
        (&controllers[1]["api_group"], &controllers[1]["type_module"]),
        (&json!(""), &json!(""))
    );
    assert_eq!(controllers[0]["type_module"], "crate::api::cache::r#type");
    let variables = controllers.iter().map(|controller| &controller["variable"]);
    assert_eq!(
        variables.collect::<Vec<_>>(),
        ["object", "pod", "object", "option"]
    );
}

#[test]
fn charts_have_functions_and_controllers() {
    let context = check(&[
        "charts v1 Foo chart=charts/b",
        "charts v1 Bar chart=charts/3-a.Type",
        "charts v1 Type chart=charts/type",
        "charts v1 Foo resource=false name=extra",
        "other v1 Foo chart=charts/b",
        "other v1 Plain",
    ]);
    assert_eq!(
        each(&context["charts"], "function"),
        ["_3_a_type", "b", "r#type"]
    );
    assert_eq!(
        each(&context["charts"], "directory"),
        ["charts/3-a.Type", "charts/b", "charts/type"]
    );
    assert_eq!(
        each(&context["releases"], "type_path"),
        [
            "crate::api::charts::bar::Bar",
            "crate::api::charts::foo::Foo",
            "crate::api::charts::r#type::Type",
            "crate::api::other::foo::Foo",
        ]
    );
    let plain = check(&["other v1 Plain"]);
    assert_eq!(
        (&plain["charts"], &plain["releases"]),
        (&json!([]), &json!([]))
    );
}

#[test]
fn modules_are_in_the_order_of_their_files() {
    let version =
        &check(&["a v1 Foo10", "a v1 Foo2", "a v1 FooBar", "a v1 Foo"])["groups"][0]["inner"][0];
    assert_eq!(
        each(&version["inner"], "module"),
        ["foo", "foo10", "foo2", "foo_bar"]
    );
}

#[test]
fn a_kind_is_stored_in_its_most_stable_oldest_version() {
    let context = check(&[
        "a v1beta1 Foo",
        "a v2 Foo controller=false",
        "a v1 Foo controller=false",
    ]);
    let kind = &context["kinds"][0];
    assert_eq!(kind["version"], "v1");
    assert_eq!(each(&kind["apis"], "version"), ["v1beta1", "v1", "v2"]);
    assert_eq!(
        context["controller_groups"][0]["inner"][0]["version"],
        "v1beta1"
    );
}

#[test]
fn several_controllers_of_a_kind() {
    let context = check(&[
        "a v1 Foo",
        "a v1 Foo resource=false name=foo-backup",
        "apps v1 Deployment resource=false",
    ]);
    let groups = &context["controller_groups"];
    assert_eq!(each(groups, "module"), ["a", "apps"]);
    assert_eq!(each(&groups[0]["inner"], "name"), ["a-foo", "foo-backup"]);
    assert_eq!(
        each(&groups[0]["inner"], "condition"),
        ["Ready", "FooBackupReady"]
    );
    assert_eq!(each(&groups[0]["inner"], "file"), ["foo", "foo_backup"]);
}

#[test]
fn long_names_of_controllers_stay_names() {
    let kind = format!("K{}", "k".repeat(58));
    let context = check(&[&format!("cache v1 {kind}")]);
    let name = context["controller_groups"][0]["inner"][0]["name"]
        .as_str()
        .unwrap();
    assert_eq!(name.len(), 63);
    assert!(name.starts_with("cache-kkkk"));
}

const TWO: [&str; 2] = ["cache v1alpha1 Foo", "cache v1 Foo controller=false"];

#[test]
fn a_webhook_in_full() {
    let flags = ["cache v1 Foo validation validation-path=/x conversion"];
    let context = check_webhooks(&TWO, &flags);
    let webhooks = admitted(&TWO, &flags);
    assert_eq!(
        webhooks.iter().map(|it| &it.value).collect::<Vec<_>>(),
        [&json!({
            "group": "cache", "group_module": "cache", "group_file": "cache", "version": "v1", "kind": "Foo",
            "module": "foo", "opt_in": false, "file": "foo", "api_group": "cache.example.com", "type": "Foo", "variable": "object",
            "plural": "foos", "import": "crate::api::cache::v1::Foo", "test_import": "demo::api::cache::v1::Foo",
            "own": true, "external": false, "comparable": true, "chart": false, "ansible": false, "sample": "\"spec\": {},",
            "function": "cache::v1::foo::validate::webhook", "path": "/x",
        })]
    );
    let is = |it: &Subject| (it.scope, it.without);
    assert_eq!(is(&webhooks[0]), (Scope::Validate, None));
    assert_eq!(context["admissions"], json!([webhooks[0].value]));
    let spoke = json!({
        "group": "cache", "group_module": "cache", "group_file": "cache", "variable": "object", "plural": "foos",
        "version": "v1alpha1", "hub": "v1", "name": "v1alpha1",
        "hub_name": "v1", "hub_first": true, "kind": "Foo", "module": "foo", "file": "foo",
        "api_group": "cache.example.com", "type": "Foo", "fields": serde_json::to_value(Conversion::of_new_types()).unwrap(),
    });
    assert_eq!(
        context["conversions"],
        json!([{"hub": "crate::api::cache::v1::Foo", "spokes": [spoke]}])
    );
    let module = |name: &str, inner: Value| json!({"module": name, "inner": inner});
    let file = |version, file| module(version, json!([module("foo", json!([{ "module": file }]))]));
    let modules = json!([module(
        "cache",
        json!([file("v1", "validate"), file("v1alpha1", "convert")])
    )]);
    assert_eq!(context["webhook_modules"], modules);
    assert_eq!(context["tested_webhook_modules"], modules);
    assert_eq!(
        context["server"],
        json!({
            "exists": true, "defaulting": false, "validation": true, "converted": ["foos.cache.example.com"],
            "certificates": "self-managed",
        })
    );
}

#[test]
fn types_of_others() {
    let creates = ["net v1 Request"];
    let flags = [
        "net v1 Request defaulting",
        "core v1 Pod defaulting",
        "core v1 Node validation",
        "a.io v1 Foo path=zed::Webhook validation certificates=cert-manager",
    ];
    let webhooks = admitted(&creates, &flags);
    let imports = webhooks.iter().map(|it| it.value["import"].as_str());
    assert_eq!(
        imports.map(Option::unwrap).collect::<Vec<_>>(),
        [
            "zed::Webhook as WebhookResource",
            "k8s_openapi::api::core::v1::Node",
            "k8s_openapi::api::core::v1::Pod",
            "crate::api::net::v1::Request as RequestResource",
        ]
    );
    let flags_of = |it: &Subject| {
        (
            it.value["external"] == true,
            !it.value["sample"].is_null(),
            it.without.is_none(),
        )
    };
    assert_eq!(
        webhooks.iter().map(flags_of).collect::<Vec<_>>(),
        [
            (true, false, true),
            (false, false, false),
            (false, true, true),
            (false, true, true)
        ]
    );
    let context = check_webhooks(&creates, &flags);
    assert_eq!(context["server"]["certificates"], "cert-manager");
}

/// The names of all variables in a value.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                found.insert(name.clone());
                keys(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn every_variable_is_read_by_a_template() {
    let project = created(
        &[
            "cache v1 Foo",
            "cache v1alpha1 Foo controller=false",
            "charts v1 Memcached chart=charts/memcached",
        ],
        &["cache v1 Foo validation defaulting conversion"],
    );
    let context = context(&project);
    let mut found = BTreeSet::new();
    keys(&context.variables, &mut found);
    for subject in &context.subjects {
        found.insert(subject.variable.to_owned());
        keys(&subject.value, &mut found);
    }
    let templates = super::super::catalogue::all()
        .iter()
        .filter(|it| it.rendered);
    let texts: String = templates
        .map(|it| std::str::from_utf8(it.content).unwrap())
        .collect();
    // The files of a plugin may depend on it by their scope alone.
    let is_plugin = |name: &str| name.parse::<crate::project::Plugin>().is_ok();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = texts.split(|c| !is_word(c)).collect();
    found.retain(|name| !words.contains(name.as_str()) && !is_plugin(name));
    assert!(found.is_empty(), "no template reads {found:?}");
}

#[test]
fn long_versions_and_kinds_have_short_names_in_conversions() {
    let kind = format!("K{}", "k".repeat(58));
    let names = |version: &str| {
        let creates = [
            format!("a v1 {kind}"),
            format!("a {version} {kind} controller=false"),
        ];
        let hub = format!("a v1 {kind} conversion");
        let context = check_webhooks(&creates.each_ref().map(String::as_str), &[&hub]);
        let spoke = &context["conversions"][0]["spokes"][0];
        [spoke["name"].clone(), spoke["hub_name"].clone()]
    };
    assert_eq!(names("v2345"), ["v2345", "v1"]);
    assert_eq!(names("v23456"), ["spoke", "hub"]);
}
