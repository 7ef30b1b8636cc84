//! Lines to paste, where the command line names another directory than the one they are pasted in.

use std::path::{Path, PathBuf};

use crate::{cli, error::Failure, shell};

/// What lines begin with that works in the project's directory. Any other help is a sentence, or names its paths in full.
const PROGRAMS: [&str; 12] = [
    "${EDITOR:-vi}",
    "cargo",
    "cp",
    "diff",
    "git",
    "grep",
    "helm",
    "iconv",
    "make",
    "mkdir",
    "mv",
    "rm",
];

/// Where a command works.
#[derive(Clone, Debug)]
pub struct Place {
    /// The value of `-C`.
    directory: PathBuf,
    /// The project's directory, which `init` may make elsewhere.
    project: PathBuf,
}

impl Place {
    /// In `directory`.
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            project: directory.to_owned(),
        }
    }

    /// The same for a project in another directory.
    pub fn with_project(self, project: PathBuf) -> Self {
        Self { project, ..self }
    }

    /// `line`, which is meant for the project's directory, for the one that the program was called in.
    pub fn line(&self, line: &str) -> String {
        let names_one = |word: &str| {
            let word = word.trim_start_matches('\'');
            word.starts_with("-C") || word.starts_with("--directory")
        };
        let (program, rest) = line.split_once(' ').unwrap_or((line, ""));
        let is_init = program == "operator-forge" && cli::is_init(&shell::words(rest));
        let directory = match is_init {
            true => &self.directory,
            false => &self.project,
        };
        let directory = directory.strip_prefix(".").unwrap_or(directory);
        let directory = shell::word(&directory.to_string_lossy());
        let is_about_files = match program {
            "kubectl" => rest.contains(" -f "),
            _ => PROGRAMS.contains(&program),
        };
        match program {
            _ if directory == "''" || rest.split(' ').any(names_one) => line.to_owned(),
            "operator-forge" => format!("{program} -C {directory} {rest}"),
            _ if is_about_files => format!("cd {directory} && {line}"),
            _ => line.to_owned(),
        }
    }

    /// `failure` with its help as [`Place::line`] has it.
    pub fn failure(&self, mut failure: Failure) -> Failure {
        for help in &mut failure.help {
            *help = self.line(help);
        }
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(directory: &str, before: &str, after: &str) {
        assert_eq!(Place::new(Path::new(directory)).line(before), after);
    }

    #[test]
    fn a_line_goes_to_the_directory_of_the_project() {
        check("a", "operator-forge sync", "operator-forge -C a sync");
        check(
            "./a b",
            "operator-forge sync",
            "operator-forge -C 'a b' sync",
        );
        check("a", "git diff PROJECT", "cd a && git diff PROJECT");
        check(
            "a b",
            "rm src/api.rs && operator-forge sync",
            "cd 'a b' && rm src/api.rs && operator-forge sync",
        );
        check(
            "a",
            "kubectl apply -f b.yaml",
            "cd a && kubectl apply -f b.yaml",
        );
    }

    #[test]
    fn a_line_for_here_stays() {
        for (directory, line) in [
            (".", "operator-forge sync"),
            ("./", "git diff PROJECT"),
            ("a", "operator-forge -C b sync"),
            ("a", "operator-forge --directory=b sync"),
            ("a", "operator-forge -Cb sync"),
            ("a", "operator-forge '--directory=b c' sync"),
            ("a", "sed 's|^|// |' LICENSE-HEADER > header.txt"),
            ("a", "git -C b init"),
            ("a", "cd b"),
            ("a", "chmod u+w a/PROJECT"),
            ("a", "kubectl delete crd redises.cache.example.com"),
            ("a", "domain: example.com"),
            ("a", "wait until it has ended, then run the command again"),
        ] {
            check(directory, line, line);
        }
    }

    #[test]
    fn init_is_called_where_it_was() {
        let place = Place::new(Path::new("a")).with_project("a/b".into());
        let check = |before: &str, after: &str| assert_eq!(place.line(before), after);
        check(
            "operator-forge init --vcs git",
            "operator-forge -C a init --vcs git",
        );
        check("operator-forge status", "operator-forge -C a/b status");
        let own = Place::new(Path::new(".")).with_project("shop".into());
        for flags in [
            "-q",
            "--no-input --dry-run",
            "--color never",
            "--color=never --output text",
            "--on-conflict keep",
        ] {
            let line = format!("operator-forge {flags} init shop --domain example.com");
            assert_eq!(own.line(&line), line);
            let line = format!("operator-forge {flags} create api --group init");
            let there = line.replace("operator-forge", "operator-forge -C shop");
            assert_eq!(own.line(&line), there);
        }
        check("mv -i src src.former", "cd a/b && mv -i src src.former");
    }
}
