//! A repository whose git configuration names programs: no command runs one of them.

use std::{fs, path::Path};

use tempfile::TempDir;

use crate::{fixture, session::shell};

/// Each command that asks git something, or may come to.
const COMMANDS: [&str; 15] = [
    "check",
    "check --crds HEAD",
    "create api --group cache --version v1 --kind Foo",
    "create webhook --group cache --version v1 --kind Foo --defaulting",
    "delete api --group cache --version v1 --kind Foo",
    "diff",
    "disown Makefile",
    "edit --owner Somebody",
    "own Makefile",
    "rename --group cache --kind Foo --to Bar",
    "restore Makefile",
    "status",
    "sync",
    "undo",
    "update",
];

/// A line of shell that commits everything and then makes git's configuration run `trap`, which leaves the file `../ran`, wherever
/// git can be made to run something.
const TRAPS: &str = r##"
git init -q . && git config user.name test && git config user.email test@example.com && git config gc.auto 0
git add --all && git commit -qm first && git switch -qc other && git commit -qm other --allow-empty
git switch -q - && git commit -qm ours --allow-empty && git merge -q --no-edit other
trap=$PWD/../trap
printf '#!/bin/sh\necho "$0 $*" >> "%s/ran"\nexit 1\n' "$(dirname "$PWD")" > "$trap" && chmod +x "$trap"
mkdir -p .git/info && echo '* filter=trap diff=trap' > .git/info/attributes
for hook in post-index-change reference-transaction post-checkout pre-commit fsmonitor-watchman; do cp "$trap" .git/hooks/$hook; done
git config core.fsmonitor "$trap"
for key in core.pager core.editor core.sshCommand core.askPass core.alternateRefsCommand gpg.program diff.external credential.helper \
  filter.trap.clean filter.trap.smudge filter.trap.process diff.trap.command diff.trap.textconv; do git config $key "$trap"; done
git config filter.trap.required true && git config log.showSignature true
git config protocol.ext.allow always && git config remote.origin.url "ext::$trap" && git config remote.origin.promisor true
git config core.repositoryFormatVersion 1 && git config extensions.partialClone origin
find . -path ./.git -prune -o -type f -exec touch {} +
"##;

/// Takes every blob away that the last commit has, as in a partial clone.
const FORGET: &str = r#"
git -c core.fsmonitor=false ls-tree -r HEAD | while read -r mode kind object path; do
  rm -f ".git/objects/$(echo "$object" | cut -c1-2)/$(echo "$object" | cut -c3-)"
done"#;

fn ran(project: &Path) -> String {
    fs::read_to_string(project.with_file_name("ran")).unwrap_or_default()
}

/// Runs every command in `project`, and says which one made git run something.
fn tempt(project: &Path) {
    for command in COMMANDS {
        let step = shell(project, &format!("operator-forge {command}"));
        assert_eq!(ran(project), "", "{command}\n{}", step.output);
        // An edit leaves the index without its facts of the file, so that git has to read it again.
        shell(
            project,
            "find . -path ./.git -prune -o -type f -exec touch {} +",
        );
    }
}

fn project(prepare: &str) -> (TempDir, std::path::PathBuf) {
    let directory = TempDir::new().unwrap();
    let project = directory.path().join("project");
    fs::create_dir(&project).unwrap();
    let step = shell(&project, prepare);
    assert_eq!(step.code, 0, "{}", step.output);
    assert_eq!(ran(&project), "", "{}", step.output);
    (directory, project)
}

const INIT: &str = "operator-forge init -q --domain example.com --runtime registry --vcs none && mkdir -p config/crd/bases && \
                    echo 'kind: none' > config/crd/bases/none.yaml\n";

#[test]
fn nothing_that_a_repository_names_runs() {
    let (_directory, project) = project(&format!("{INIT}{TRAPS}"));
    tempt(&project);
    // The traps are real: git's own commands run them.
    shell(&project, "git status; git diff HEAD");
    assert!(ran(&project).contains("trap"));
}

#[test]
fn nothing_is_fetched_for_a_partial_clone() {
    let (_directory, project) = project(&format!("{INIT}{TRAPS}{FORGET}"));
    tempt(&project);
    shell(&project, "git cat-file -p HEAD:PROJECT");
    assert!(ran(&project).contains("trap"));
}

#[test]
fn a_bare_repository_among_the_files_is_not_used() {
    let bare = "cd .. && git init -q . && cd project && git init -q --bare bare && cp -r bare/. . && rm -r bare && \
                printf '#!/bin/sh\\necho ran >> ../ran\\n' > trap && chmod +x trap && \
                git --git-dir . config core.fsmonitor \"$PWD/trap\" && git --git-dir . config core.bare false && \
                git --git-dir . config core.worktree .";
    let directory = TempDir::new().unwrap();
    let project = directory.path().join("project");
    fs::create_dir(&project).unwrap();
    // `config` is a file of the bare repository and a directory of the project, so the project has its files elsewhere.
    let step = shell(&project, bare);
    assert_eq!(step.code, 0, "{}", step.output);
    fs::write(project.join("PROJECT"), "version: \"3\"\n").unwrap();
    tempt(&project);
    shell(&project, "git -c safe.bareRepository=all status");
    assert_ne!(ran(&project), "");
}

#[test]
fn an_update_asks_without_filters() {
    let directory = TempDir::new().unwrap();
    let project = directory.path().join("project");
    fixture::write(&fixture::projects(5)["minimal"], &project);
    let step = shell(&project, TRAPS);
    assert_eq!(step.code, 0, "{}", step.output);
    let clean = shell(&project, "operator-forge update");
    assert_eq!(ran(&project), "", "{}", clean.output);
    assert_eq!(clean.code, 0, "{}", clean.output);
}

#[test]
fn an_update_cannot_judge_what_a_filter_changes() {
    let directory = TempDir::new().unwrap();
    fixture::write(&fixture::projects(5)["minimal"], directory.path());
    let filter = "git init -q . && git config user.name test && git config user.email test@example.com && \
                  git config filter.case.clean 'tr a-z A-Z' && git config filter.case.smudge cat && \
                  echo 'Makefile filter=case' > .git/info/attributes && git add --all && git commit -qm all";
    let step = shell(directory.path(), filter);
    assert_eq!(step.code, 0, "{}", step.output);
    let step = shell(directory.path(), "operator-forge update");
    assert_eq!(step.code, 1, "{}", step.output);
    assert!(
        step.output
            .contains("`Makefile` has the git attribute filter=case"),
        "{}",
        step.output
    );
}

#[test]
fn line_ends_that_git_converts_are_no_change() {
    let directory = TempDir::new().unwrap();
    fixture::write(&fixture::projects(5)["minimal"], directory.path());
    let convert = "git init -q . && git config user.name test && git config user.email test@example.com && git add --all && \
                   git commit -qm all && git config core.autocrlf true && rm -r src && git checkout -q -- src && \
                   cat src/main.rs | od -c | grep -q '[\\]r'";
    let step = shell(directory.path(), convert);
    assert_eq!(step.code, 0, "{}", step.output);
    let step = shell(directory.path(), "operator-forge update");
    assert_eq!(step.code, 0, "{}", step.output);
}
