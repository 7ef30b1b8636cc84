//! `Cargo.lock` names the project's own package, in the order of names: the tested lock is renamed and sorted again.

/// The package name that the embedded lock was made for.
const PLACEHOLDER: &str = "operator-forge-package";

/// The lock for a package of this name.
pub fn for_package(lock: &str, package: &str) -> String {
    let mut parts = lock.split("\n[[package]]\n");
    let head = parts.next().unwrap_or_default();
    let mut packages: Vec<String> = parts
        .map(|part| {
            part.trim_end().replacen(
                &format!("name = \"{PLACEHOLDER}\""),
                &format!("name = \"{package}\""),
                1,
            )
        })
        .collect();
    packages.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut text = format!("{}\n", head.trim_end());
    for package in packages {
        text.push_str("\n[[package]]\n");
        text.push_str(&package);
        text.push('\n');
    }
    text
}

/// Cargo sorts by name, then by version.
fn key(package: &str) -> (&str, Vec<u64>) {
    let value = |field: &str| {
        package
            .lines()
            .find_map(|line| {
                line.strip_prefix(field)?
                    .strip_prefix(" = \"")?
                    .strip_suffix('"')
            })
            .unwrap_or_default()
    };
    let version = value("version")
        .split(['.', '-', '+'])
        .map(|part| part.parse().unwrap_or(0))
        .collect();
    (value("name"), version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_moves_to_its_place() {
        let lock = "# generated\nversion = 4\n\n[[package]]\nname = \"b\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \
                    \"operator-forge-package\"\nversion = \"0.1.0\"\ndependencies = [\n \"b\",\n]\n";
        assert_eq!(
            for_package(lock, "a"),
            "# generated\nversion = 4\n\n[[package]]\nname = \"a\"\nversion = \"0.1.0\"\ndependencies = [\n \"b\",\n]\n\n\
             [[package]]\nname = \"b\"\nversion = \"1.0.0\"\n"
        );
    }

    /// A project is locked to the versions that this repository's own tests of the runtime run with.
    #[test]
    fn a_project_is_locked_to_what_the_runtime_is_tested_with() {
        let packages = |lock: &'static str| lock.split("\n[[package]]\n").skip(1).map(key);
        let tested: Vec<_> = packages(include_str!("../../Cargo.lock")).collect();
        let template = include_str!("../../templates/project/Cargo.lock");
        let others: Vec<_> = packages(template)
            .filter(|package| package.0 != PLACEHOLDER && !tested.contains(package))
            .collect();
        assert!(others.is_empty(), "{others:?}");
    }
}
