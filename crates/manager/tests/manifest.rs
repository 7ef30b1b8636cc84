//! The dependencies that the tests here use are those of generated projects.

use std::fs;

fn section<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| *line != name).skip(1);
    let mut lines: Vec<_> = lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    lines.sort_unstable();
    lines
}

#[test]
fn dependencies_are_those_of_the_templates() {
    let read = |path: &str| {
        let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let own = read("Cargo.toml");
    let template = read("../../templates/project/crates/manager/Cargo.toml.tera");
    for name in ["[features]", "[dependencies]"] {
        assert!(!section(&own, name).is_empty());
        assert_eq!(section(&own, name), section(&template, name), "{name}");
    }
    let project = read("../../templates/project/Cargo.toml.tera");
    let name = "[workspace.dependencies]";
    assert_eq!(section(&own, name), section(&project, name), "{name}");

    let packages = |lock: &str| -> Vec<String> {
        lock.split("\n[[package]]\n")
            .skip(1)
            .map(str::to_owned)
            .collect()
    };
    let project = packages(&read("../../templates/project/Cargo.lock"));
    for package in packages(&read("Cargo.lock")) {
        let known = project.iter().any(|other| other.trim() == package.trim());
        let manager = package.starts_with("name = \"manager\"");
        assert!(
            known || manager,
            "not in the project's Cargo.lock:\n{package}"
        );
    }
}
