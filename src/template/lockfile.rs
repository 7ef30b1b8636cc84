//! The project's `Cargo.lock`: the tested lockfile with the project's own package.

/// The package that the embedded lock was made for.
const PLACEHOLDER: &str = "operator-forge-package";

/// The lockfile of a project with this package.
pub fn for_package(lock: &str, package: &str) -> String {
    let paragraphs = lock.trim_end().split("\n\n");
    let (own, mut others): (Vec<_>, Vec<_>) = paragraphs.partition(|it| name(it) == PLACEHOLDER);
    let own: String = own.concat().replacen(PLACEHOLDER, package, 1);
    let at = others.partition_point(|it| name(it) < package);
    others.insert(at, &own);
    others.join("\n\n") + "\n"
}

/// The name of the package in a paragraph; empty for the paragraph above all packages.
fn name(paragraph: &str) -> &str {
    let name = paragraph.strip_prefix("[[package]]\nname = \"");
    let name = name.and_then(|rest| rest.split_once('"'));
    name.map_or("", |(name, _)| name)
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

    /// The lockfile of a project has the versions that the tests of the runtime in this repository use.
    #[test]
    fn a_project_is_locked_to_what_the_runtime_is_tested_with() {
        let packages = |lock: &'static str| {
            let packages = lock.split("\n\n").filter(|it| !name(it).is_empty());
            packages.map(|it| (name(it), it.lines().nth(2)))
        };
        let tested: Vec<_> = packages(include_str!("../../Cargo.lock")).collect();
        let template = include_str!("../../templates/project/Cargo.lock");
        let others: Vec<_> = packages(template)
            .filter(|package| package.0 != PLACEHOLDER && !tested.contains(package))
            .collect();
        assert!(others.is_empty(), "{others:?}");
        assert!(packages(template).count() > 100);
    }
}
