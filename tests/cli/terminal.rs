//! Questions on a terminal, which `script` (of util-linux) makes.

#![cfg(target_os = "linux")]

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

const CREATE: &str = "operator-forge create api --group cache --version v1alpha1 --kind Memcached";

/// A project with an API that has a webhook, and another API.
fn two_apis() -> TempDir {
    let directory = TempDir::new().unwrap();
    let made = shell(
        directory.path(),
        "operator-forge init -q --domain example.com --project-name demo --vcs none --runtime registry \
         && operator-forge create api -q --group cache --version v1 --kind Redis \
         && operator-forge create api -q --group web --version v1 --kind Page \
         && operator-forge create webhook -q --group web --version v1 --kind Page --defaulting --validation",
    );
    assert_eq!(made.code, 0, "{}", made.output);
    directory
}

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
fn the_group_may_be_left_empty_and_fields_and_yes_or_no_are_lines() {
    let directory = TempDir::new().unwrap();
    let made = shell(
        directory.path(),
        "operator-forge init -q --domain example.com --project-name demo --vcs none",
    );
    assert_eq!(made.code, 0, "{}", made.output);
    let command = "operator-forge create api --version v1 --kind Memcached";
    let (output, code) = on_a_terminal(
        directory.path(),
        command,
        "\\n\\nsize:int\\nsize:int32:min=1\\n\\nmaybe\\nn\\n",
    );
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("y or n"), "{output}");
    assert!(
        !output.contains("\u{1b}[?25l"),
        "the cursor stays: {output}"
    );
    assert!(output.contains("column 6: `int` is not a type"), "{output}");
    let is_there = |path: &str| directory.path().join(path).exists();
    let types = directory.path().join("src/api/example_com/v1/memcached.rs");
    let types = fs::read_to_string(types).unwrap();
    assert!(types.contains("    pub size: i32,\n}"), "{types}");
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
    let said = output.rsplit("Replace your files?").next().unwrap();
    assert!(said.contains("Overwrite src/api.rs"), "{output}");
    assert!(said.contains("Done 2 updated, 1 overwritten"), "{output}");
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
         exec 3> keys; for _ in $(seq 600); do grep -q 'Replace your files' told && break; sleep 0.05; done; \
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

/// Each line is a command of the shell on a terminal, as somebody pastes it.
fn pasted(directory: &Path, lines: &str) -> String {
    let command = "env PS1=@ ENV= sh -i";
    on_a_terminal(directory, command, &format!("{lines}\\nexit\\n")).0
}

#[test]
fn the_block_of_the_readme_can_be_pasted() {
    let text = fs::read_to_string(session::repository().join("README.md")).unwrap();
    let (_, rest) = text.split_once("```sh compile image\n").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    let lines: Vec<&str> = block.lines().collect();
    assert!(lines[2].starts_with("operator-forge create api"), "{block}");
    // What follows would need a compiler and an image engine.
    let typed = [&lines[..3], &["echo next: $((40 + 2))"]].concat();
    let directory = TempDir::new().unwrap();
    let output = pasted(directory.path(), &typed.join("\\n"));
    assert!(output.contains("next: 42\n"), "{output}");
    let reconciler = "memcached-operator/src/controllers/cache/memcached.rs";
    assert!(directory.path().join(reconciler).exists(), "{output}");
}

#[test]
fn the_end_of_input_ends_a_question() {
    let directory = two_apis();
    let before = session::tree(directory.path());
    for command in [
        "operator-forge create api --group cache --version v1",
        "operator-forge rename --kind Redis --group cache",
        "operator-forge delete api",
    ] {
        let (output, code) = on_a_terminal(directory.path(), command, "\\004");
        assert_eq!(code, 1, "{output}");
        assert!(output.contains("error: no answer"), "{output}");
    }
    session::assert_same("Ctrl-D", &before, &session::tree(directory.path()));
}

#[test]
fn a_question_longer_than_the_terminal_is_printed_once() {
    let directory = project();
    let command = format!("stty cols 40; {CREATE}");
    let (output, code) = on_a_terminal(directory.path(), &command, "keep\\ntake\\n");
    assert_eq!(code, 3, "{output}");
    assert_eq!(output.matches("(--on-conflict)").count(), 2, "{output}");
    assert_eq!(output.matches("Keep it, take").count(), 2, "{output}");
}

#[test]
fn what_is_there_is_offered() {
    let check = |command: &str, keys: &str, offered: &[&str], gone: &str, made: &str| {
        let directory = two_apis();
        let (output, code) = on_a_terminal(directory.path(), command, keys);
        assert_eq!(code, 0, "{output}");
        for text in offered {
            assert!(output.contains(text), "{text}: {output}");
        }
        let is_there = |path: &str| directory.path().join(path).exists();
        assert!(gone.is_empty() || !is_there(gone), "{gone}: {output}");
        assert!(is_there(made), "{made}: {output}");
    };
    let (redis, page) = ("src/api/cache/v1/redis.rs", "src/api/web/v1/page.rs");
    let both = ["1) cache/v1, Kind Redis", "2) web/v1, Kind Page"];
    check("operator-forge delete api", "1\\n", &both, redis, page);
    let validate = "src/webhooks/web/v1/page/validate.rs";
    let default = "src/webhooks/web/v1/page/default.rs";
    let offered = ["web/v1, Kind Page", "1) defaulting", "2) validation"];
    let command = "operator-forge delete webhook";
    check(command, "page\\nvalid\\n", &offered, validate, default);
    let command = "operator-forge edit api --short-name rd";
    check(command, "redis\\n", &both, "", redis);
    let keys = "nothing\\ne\\npage\\nLeaf\\n";
    let offered = ["none of them is `nothing`", "web.example.com, Kind Page"];
    let leaf = "src/api/web/v1/leaf.rs";
    check("operator-forge rename", keys, &offered, page, leaf);
    // Of the many files of a project, those are listed that the answer leaves.
    let keys = "docker\\nDockerfile\\n";
    let offered = ["there are", "1) .dockerignore"];
    check("operator-forge own", keys, &offered, "", "Dockerfile");
}

#[test]
fn the_domain_is_asked_for_because_it_stays() {
    let directory = TempDir::new().unwrap();
    let command = "operator-forge init --vcs none --project-name demo";
    let (output, code) = on_a_terminal(directory.path(), command, "a b\\nexample.org\\n");
    assert_eq!(code, 0, "{output}");
    assert!(
        output.contains("cannot change later [my.domain] (--domain)"),
        "{output}"
    );
    let project = fs::read_to_string(directory.path().join("PROJECT")).unwrap();
    assert!(project.contains("domain: example.org\n"), "{project}");
}

#[test]
fn no_text_of_a_file_turns_a_terminal_around() {
    let directory = two_apis();
    let path = directory.path().join("src/controllers.rs");
    let hostile = "// \u{202e}\u{200b}\u{1b}[2J\u{9b} Größe\n";
    // Where the new module goes, so that the edit is in its way.
    let edited = fs::read_to_string(&path).unwrap();
    let edited = edited.replacen(
        "pub mod cache {\n",
        &format!("pub mod cache {{ {hostile}"),
        1,
    );
    fs::write(&path, edited).unwrap();
    let escaped = r"\u{202e}\u{200b}\u{1b}[2J\u{9b} Größe";
    let create = "operator-forge create api --group cache --version v1 --kind Memcached";
    let (output, code) = on_a_terminal(directory.path(), create, "t\\n");
    assert_eq!(code, 0, "{output}");
    assert!(output.contains(escaped), "{output}");
    assert!(
        !output.contains('\u{202e}') && !output.contains("\u{1b}[2J"),
        "{output}"
    );
    // A pipe gets every byte, for `git apply`; JSON has another way to write the same.
    let bytes = shell(
        directory.path(),
        "operator-forge undo --dry-run --diff 2> /dev/null",
    );
    assert!(bytes.output.contains(hostile), "{}", bytes.output);
    let json = shell(
        directory.path(),
        "operator-forge undo --dry-run --diff --output json",
    );
    assert!(
        json.output.contains(r"\u202e\u200b\u001b[2J\u009b Größe"),
        "{}",
        json.output
    );
}

#[test]
fn a_command_that_lasts_says_what_it_is_at() {
    let directory = two_apis();
    let output = |flags: &str| {
        let waits = format!("(sleep 2; echo) | operator-forge check --crds - {flags}");
        let line = format!(
            "mkdir -p config/crd/bases; \
             TERM=xterm script --quiet --return --command '{waits}' /dev/null < /dev/null"
        );
        shell(directory.path(), &line).output
    };
    let at = "the released CRDs";
    let (spoken, quiet) = (output(""), output("--quiet"));
    assert!(spoken.contains(at), "{spoken}");
    assert!(!quiet.contains(at), "{quiet}");
}
