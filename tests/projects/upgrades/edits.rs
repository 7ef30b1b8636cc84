//! What a user does to a project: to each kind of file the change that people make, at a place that old and new templates
//! have. Made in a fresh project of today, the same edits are what an update has to arrive at.

use crate::fixture::Tree;
use serde_json::Value;

/// A file and what is done to its text.
type Edit = (&'static str, fn(&str) -> String);

/// Edits of the files of whole projects, by path.
const EDITS: [Edit; 12] = [
    ("Cargo.toml", |text| {
        let text = text.replacen("version = \"0.1.0\"", "version = \"0.3.1\" # released", 1);
        after(
            &text,
            "tracing = \"0.1.44\"\n",
            "\n# Ours: jitter.\nfastrand = \"2\"\n",
        )
    }),
    ("Dockerfile", |text| {
        text.to_owned() + "LABEL team=\"storage\"\n"
    }),
    ("Makefile", |text| {
        text.to_owned() + "\n.PHONY: mine\nmine:\n\techo mine\n"
    }),
    ("README.md", |text| text.replacen("# ", "# Our own ", 1)),
    (".gitignore", |text| text.to_owned() + "/scratch/\n"),
    ("AGENTS.md", |text| {
        text.to_owned() + "\nAsk before you deploy.\n"
    }),
    ("config/default/kustomization.yaml", |text| {
        after(text, "  - ../crd\n", "  # ours\n  - quota.yaml\n")
    }),
    ("config/rbac/kustomization.yaml", |text| {
        after(text, "  - service_account.yaml\n", "  - team_role.yaml\n")
    }),
    ("config/manager/manager.yaml", |text| {
        text.replace("cpu: 10m", "cpu: 20m")
    }),
    ("src/main.rs", |text| {
        after(
            text,
            "    manager: Flags,\n",
            "    /// Ours.\n    #[arg(long)]\n    team: Option<String>,\n",
        )
    }),
    ("src/context.rs", |text| {
        text.to_owned() + "\n/// Ours.\npub const TEAM: &str = \"storage\";\n"
    }),
    ("src/lib.rs", |text| {
        after(text, "pub mod controllers;\n", "pub mod mine;\n")
    }),
];

/// New files.
const FILES: [(&str, &str); 3] = [
    (
        "src/mine.rs",
        "//! Ours.\n\n/// How long to wait.\npub fn jitter() -> u64 {\n    fastrand::u64(..10)\n}\n",
    ),
    (
        "config/default/quota.yaml",
        "apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: quota\nspec: {}\n",
    ),
    (
        "config/rbac/team_role.yaml",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: team\nrules: []\n",
    ),
];

/// Makes all of them in `project`.
pub fn make(project: &mut Tree) {
    for (path, edit) in EDITS {
        change(project, path, edit);
    }
    let types = |path: &str| path.starts_with("src/api/") && path.ends_with(".rs");
    let reconcilers = |path: &str| path.starts_with("src/controllers/") && path.ends_with(".rs");
    let webhooks = |path: &str| path.starts_with("src/webhooks/") && path.ends_with(".rs");
    let all: Vec<String> = project.keys().cloned().collect();
    for path in all.iter().filter(|path| types(path)) {
        // A type from a CRD may have no spec.
        if !String::from_utf8_lossy(&project[path]).contains("Spec {") {
            continue;
        }
        change(project, path, |text| {
            let field =
                "Spec {\n    /// Ours.\n    #[serde(default)]\n    pub team: Option<String>,";
            let text = text.replacen("Spec {", field, 1);
            match text.split_once("Spec {\n    fn default() -> Self {\n        Self {") {
                Some((types, defaults)) => format!(
                    "{types}Spec {{\n    fn default() -> Self {{\n        Self {{\n            team: None,{defaults}"
                ),
                None => text,
            }
        });
    }
    for path in all.iter().filter(|path| reconcilers(path)) {
        change(project, path, |text| {
            text.replacen(
                "    Ok(Action::await_change())",
                "    tracing::debug!(wait = crate::mine::jitter(), \"ours\");\n    Ok(Action::await_change())",
                1,
            )
        });
    }
    // A conversion names every field, so a new one has to be written there.
    for path in all.iter().filter(|path| webhooks(path)) {
        change(project, path, |text| {
            format!("{}\n// Ours.\n", text.replace("Spec {", "Spec { team, "))
        });
    }
    for (path, text) in FILES {
        project.insert(path.to_owned(), text.into());
    }
}

/// Names of the runtime that have changed since the recorded sets, as users replace them by hand: before and after.
const RENAMED: [(&str, &str); 0] = [];

/// Applies the `by hand:` entries of `src/template/sets.md` to an updated project, and what `check` says.
pub fn by_hand(project: &mut Tree, check: &Value) {
    for spoke in check["spokes"].as_array().expect("a list") {
        let [path, found, expected] =
            ["path", "found", "expected"].map(|it| spoke[it].as_str().unwrap());
        // Both paths end with the module, or with the type.
        let found = format!("crate::api::{found}");
        let file = project.get_mut(path).expect("the file is there");
        let text = String::from_utf8(file.clone()).unwrap();
        *file = text.replace(&found, expected).into();
    }
    let is_users = |path: &str| path.ends_with(".rs") && !path.starts_with("vendor/");
    for (_, file) in project.iter_mut().filter(|(path, _)| is_users(path)) {
        let text = String::from_utf8(file.clone()).unwrap();
        let renamed = RENAMED
            .iter()
            .fold(text, |text, (old, new)| text.replace(old, new));
        *file = renamed.into();
    }
}

#[track_caller]
fn change(project: &mut Tree, path: &str, edit: impl Fn(&str) -> String) {
    let file = project
        .get_mut(path)
        .unwrap_or_else(|| panic!("there is {path}"));
    let before = String::from_utf8(file.clone()).unwrap();
    let after = edit(&before);
    assert_ne!(before, after, "{path} has no place for the edit");
    *file = after.into();
}

/// `text` with `more` after the first `anchor`.
fn after(text: &str, anchor: &str, more: &str) -> String {
    text.replacen(anchor, &format!("{anchor}{more}"), 1)
}
