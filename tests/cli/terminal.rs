//! Questions on a terminal, which `script` (of util-linux) makes.

#![cfg(target_os = "linux")]

use crate::fixture;
use crate::session;

use std::{fs, path::Path};

use session::shell;
use tempfile::TempDir;

/// A project whose next API meets two edited files.
fn project() -> TempDir {
    let directory = TempDir::new().unwrap();
    let made = shell(
        directory.path(),
        "operator-forge init -q --domain example.com --project-name demo --vcs none \
         && sed -i 's/Crds::default().merge()/mine()/' src/api.rs \
         && sed -i 's/Controllers::default()/mine()/' src/controllers.rs",
    );
    assert_eq!(made.code, 0, "{}", made.output);
    directory
}

/// What a command prints on a terminal where somebody types `keys`, and how it ends.
fn on_a_terminal(directory: &Path, command: &str, keys: &str) -> (String, i32) {
    let step = shell(
        directory,
        &format!("printf '{keys}' | script --quiet --return --command '{command}' /dev/null"),
    );
    (step.output.replace('\r', ""), step.code)
}

#[test]
fn bash_completes_words_at_a_tab() {
    let directory = TempDir::new().unwrap();
    let script = session::repository().join("tests/shells.sh");
    let step = shell(directory.path(), &format!("sh '{}' bash", script.display()));
    assert_eq!((&*step.output, step.code), ("bash: completed\n", 0));
}

const CREATE: &str = "operator-forge create api --group cache --version v1alpha1 --kind Memcached --resource --controller";

#[test]
fn each_file_in_the_way_is_asked_about() {
    let directory = project();
    let (output, code) = on_a_terminal(directory.path(), CREATE, "k\\nt\\n");
    assert_eq!(code, 3, "{output}");
    assert!(output.contains("--on-conflict"), "{output}");
    assert!(
        output.contains("-    mine()"),
        "the diff is shown: {output}"
    );
    let text = |path: &str| fs::read_to_string(directory.path().join(path)).unwrap();
    assert!(text("src/api.rs").contains("    mine()\n"));
    assert!(text("src/controllers.rs").contains("cache::memcached"));
    assert!(!text("src/controllers.rs").contains("mine()"));
}

#[test]
fn one_answer_may_go_for_all_and_abort_writes_nothing() {
    let directory = project();
    let before = session::tree(directory.path());
    let (output, code) = on_a_terminal(directory.path(), CREATE, "a\\n");
    assert_eq!(code, 1, "{output}");
    session::assert_same("abort", &before, &session::tree(directory.path()));
    let (output, code) = on_a_terminal(directory.path(), CREATE, "M\\n");
    assert_eq!(code, 3, "{output}");
    for path in ["src/api.rs", "src/controllers.rs"] {
        let text = fs::read_to_string(directory.path().join(path)).unwrap();
        assert!(text.contains("<<<<<<< yours\n"), "{path}: {text}");
    }
}

#[test]
fn nothing_is_asked_with_no_input() {
    let directory = project();
    let (output, code) = on_a_terminal(directory.path(), &format!("{CREATE} --no-input"), "K\\n");
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("2 files are in the way"), "{output}");
}

#[test]
fn nothing_is_asked_where_the_answer_is_on_the_command_line() {
    let directory = project();
    let before = session::tree(directory.path());
    let command = format!("{CREATE} --on-conflict abort");
    let (output, code) = on_a_terminal(directory.path(), &command, "K\\n");
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("2 files are in the way"), "{output}");
    session::assert_same("abort", &before, &session::tree(directory.path()));
}

#[test]
fn the_group_may_be_left_empty_and_yes_or_no_is_a_line() {
    let directory = TempDir::new().unwrap();
    let made = shell(
        directory.path(),
        "operator-forge init -q --domain example.com --project-name demo --vcs none",
    );
    assert_eq!(made.code, 0, "{}", made.output);
    let command = "operator-forge create api --version v1 --kind Memcached";
    let (output, code) = on_a_terminal(directory.path(), command, "\\n\\nmaybe\\nn\\n");
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("y or n"), "{output}");
    assert!(
        !output.contains("\u{1b}[?25l"),
        "the cursor stays: {output}"
    );
    let is_there = |path: &str| directory.path().join(path).exists();
    assert!(is_there("src/api/example_com/v1/memcached.rs"), "{output}");
    assert!(
        !is_there("src/controllers/example_com/memcached.rs"),
        "{output}"
    );
}

#[test]
fn disown_shows_what_it_would_replace_and_asks() {
    let directory = TempDir::new().unwrap();
    let made = shell(
        directory.path(),
        "operator-forge init -q --domain example.com --project-name demo --vcs none \
         && operator-forge own -q src/api.rs && echo '// mine' >> src/api.rs",
    );
    assert_eq!(made.code, 0, "{}", made.output);
    let command = "operator-forge disown src/api.rs";
    let (output, code) = on_a_terminal(directory.path(), command, "n\\n");
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("-// mine"), "{output}");
    let text = || fs::read_to_string(directory.path().join("src/api.rs")).unwrap();
    assert!(text().ends_with("// mine\n"));
    let (output, code) = on_a_terminal(directory.path(), command, "y\\n");
    assert_eq!(code, 0, "{output}");
    assert!(!text().contains("// mine"));
    let said = output.rsplit("Replace what is yours?").next().unwrap();
    assert!(said.contains("Overwrite src/api.rs"), "{output}");
    assert!(said.contains("Done 3 files"), "{output}");
}

#[test]
fn disown_replaces_nothing_that_was_written_after_it_asked() {
    let directory = TempDir::new().unwrap();
    let made = shell(
        directory.path(),
        "operator-forge init -q --domain example.com --project-name demo --vcs none \
         && operator-forge own -q Makefile && echo '# mine' >> Makefile && mkfifo keys",
    );
    assert_eq!(made.code, 0, "{}", made.output);
    let asked = shell(
        directory.path(),
        "script --quiet --return --flush --command 'operator-forge disown Makefile' /dev/null < keys > told & \
         exec 3> keys; until grep -q 'Replace what' told; do sleep 0.05; done; \
         operator-forge disown Makefile --no-input; \
         echo '# meanwhile' >> Makefile; echo y >&3; wait $!; code=$?; cat told; exit $code",
    );
    let output = asked.output.replace('\r', "");
    assert!(output.contains("is at work in this project"), "{output}");
    assert!(
        output.contains("`Makefile` changed while the command ran"),
        "{output}"
    );
    assert_eq!(asked.code, 1, "{output}");
    let text = fs::read_to_string(directory.path().join("Makefile")).unwrap();
    assert!(text.ends_with("# mine\n# meanwhile\n"), "{text}");
}

#[test]
fn the_answer_about_a_file_that_moves_counts() {
    let directory = TempDir::new().unwrap();
    fixture::write(&fixture::projects(4)["minimal"], directory.path());
    let workflows = directory.path().join(".github/workflows");
    let (old, new) = (workflows.join("lint.yml"), workflows.join("ci.yml"));
    let text = fs::read_to_string(&old).unwrap();
    // Both sides change this line.
    let mine = text.replacen("name: Lint\n", "name: Mine\n", 1);
    assert_ne!(text, mine);
    fs::write(&old, &mine).unwrap();
    let command = "operator-forge update --allow-dirty";
    let (output, code) = on_a_terminal(directory.path(), command, "k\\n");
    assert_eq!(code, 3, "{output}");
    assert!(output.contains("\n-name: Mine\n"), "{output}");
    assert!(!output.contains("\n+++ /dev/null"), "{output}");
    assert!(!old.exists());
    assert_eq!(fs::read_to_string(new).unwrap(), mine);
}
