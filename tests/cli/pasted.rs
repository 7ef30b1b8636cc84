//! Every line that is offered to be pasted, where every name that a person or a repository can choose is hostile: a shell runs
//! it with stand-ins for all programs, and each of them receives whole names and nothing else.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::session::{repository, scratch};

/// A directory or a word: everything that a shell or a terminal would act on.
const WORD: &str = "it's \"$(touch pwned)\" `touch pwned`;touch pwned&|<>*?#~!{}\\\n\nhelp: touch pwned\u{1b}[2J\u{202e}%s";

/// The same as far as one line goes: an owner, the text of a manifest.
const LINE: &str = "it's \"$(touch pwned)\" `touch pwned`;touch pwned&|<>*?#~!{}\\%s";

/// The same as far as a path of a project goes.
const PATH: &str = "-it's $(touch pwned) `touch pwned`;touch pwned&#~!{}.rs";

/// A path whose quotes and ticks do not hide its end from this test, for lines in a sentence.
const TAME: &str = "src/$(touch pwned);touch pwned.rs";

/// The programs that a line may begin with; the stand-in of `touch` shows that a name was run.
const PROGRAMS: [&str; 19] = [
    "cargo",
    "chmod",
    "cp",
    "diff",
    "git",
    "grep",
    "helm",
    "iconv",
    "kubectl",
    "ls",
    "make",
    "mkdir",
    "mv",
    "operator-forge",
    "rm",
    "sed",
    "touch",
    "vi",
    "cat",
];

/// Records the words that a program receives, each after its length.
const STAND_IN: &str = r#"#!/bin/sh
{ printf '%s\0' "$#" "${0##*/}" "$@"; } >> "$RECORD"
[ "${0##*/}" != mkdir ] || exec /bin/mkdir "$@"
"#;

/// A directory with stand-ins, and one to work in.
struct Room {
    directory: TempDir,
    lines: usize,
    wrong: Vec<String>,
}

impl Room {
    fn new() -> Self {
        let directory = scratch();
        let stand_ins = directory.path().join("bin");
        fs::create_dir(&stand_ins).unwrap();
        fs::create_dir(directory.path().join("work")).unwrap();
        for program in PROGRAMS {
            let path = stand_ins.join(program);
            fs::write(&path, STAND_IN).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self {
            directory,
            lines: 0,
            wrong: Vec::new(),
        }
    }

    fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// Runs operator-forge for real; returns both streams.
    fn forge(&self, words: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_operator-forge"))
            .args(words)
            .current_dir(self.work())
            .env("GIT_CEILING_DIRECTORIES", self.directory.path())
            .stdin(Stdio::null())
            .output()
            .expect("the tool runs");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8 output");
        text(output.stdout) + &text(output.stderr)
    }

    /// Runs operator-forge for real, and pastes each line that it offers.
    fn paste(&mut self, words: &[&str]) -> usize {
        let output = self.forge(words);
        let mut found = lines(&output);
        found.extend(lines(&self.forge(&[&["--output", "json"], words].concat())));
        for line in &found {
            if let Err(why) = self.judge(line) {
                self.wrong.push(format!("{words:?}\n  {line}\n  {why}"));
            }
        }
        self.lines += found.len();
        found.len()
    }

    /// Runs a line; every word that a program receives, and every file that is made, has to be whole.
    fn judge(&self, line: &str) -> Result<(), String> {
        let record = self.directory.path().join("record");
        _ = fs::remove_file(&record);
        let before = names(&self.work());
        let output = Command::new("/bin/sh")
            .args(["-c", line])
            .current_dir(self.work())
            .env_clear()
            .env("PATH", self.directory.path().join("bin"))
            .env("RECORD", &record)
            .stdin(Stdio::null())
            .output()
            .expect("sh runs");
        let record = fs::read(&record).unwrap_or_default();
        let record = String::from_utf8_lossy(&record);
        let mut words = record.split_terminator('\0');
        let mut programs = Vec::new();
        while let Some(count) = words.next() {
            let program = words.next().ok_or("a record without a program")?;
            programs.push(program);
            let count: usize = count.parse().map_err(|_| "a record without a count")?;
            let received: Vec<_> = words.by_ref().take(count).collect();
            if let Some(word) = received.iter().find(|word| !is_whole(word)) {
                return Err(format!("`{program}` received {word:?}"));
            }
        }
        if programs.contains(&"touch") {
            return Err("it ran a name".to_owned());
        }
        let made = names(&self.work()).into_iter();
        let mut made = made.filter(|path| !before.contains(path));
        if let Some(path) = made.find(|path| path.split('/').any(|name| !is_whole(name))) {
            return Err(format!("it made {path:?}"));
        }
        let is_command = is_command(line);
        match output.status.code() {
            Some(0) if !programs.is_empty() || line.starts_with("cd ") => Ok(()),
            // A sentence names no program.
            Some(127) if !is_command && programs.is_empty() => Ok(()),
            code => Err(format!(
                "exit {code:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            )),
        }
    }

    fn finish(self, expected: usize) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        let made = names(&self.work());
        let is_pwned = |path: &&String| path.ends_with("/pwned");
        assert_eq!(made.iter().find(is_pwned), None);
        assert!(self.lines >= expected, "only {} lines", self.lines);
    }
}

fn names(root: &Path) -> Vec<String> {
    let entries = walkdir::WalkDir::new(root).into_iter().flatten();
    let path = |entry: walkdir::DirEntry| {
        let path = entry.path().strip_prefix(root).expect("below").to_owned();
        format!("/{}", path.to_string_lossy())
    };
    entries.map(path).collect()
}

fn is_command(line: &str) -> bool {
    let first = line.split(' ').next().unwrap_or_default();
    PROGRAMS.contains(&first) || ["cd", "${EDITOR:-vi}"].contains(&first)
}

/// Whether a word consists of whole names and of what needs no quotes.
fn is_whole(word: &str) -> bool {
    // An owner ends with its first line.
    let first = WORD.lines().next().unwrap_or_default();
    let names = [WORD, LINE, PATH, TAME, first];
    let rest = names.iter().fold(word.to_owned(), |rest, name| {
        rest.replace(name, "")
            .replace(name.trim_start_matches('-'), "")
    });
    let own = [
        "s|^|// |",
        "*.rs",
        "// SPDX-FileCopyrightText: ",
        "// Copyright ",
    ];
    let rest = own.iter().fold(rest, |rest, code| rest.replace(code, ""));
    rest.chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c))
}

/// The lines of `help:` and `Next:`, and those in a sentence.
fn lines(output: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(Ok(Value::Object(object))) = output.lines().next().map(serde_json::from_str) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let help = object
            .get("error")
            .and_then(|error| error["help"].as_array());
        lines.extend(help.into_iter().flatten().filter_map(text));
        let next = object.get("next").and_then(Value::as_array);
        lines.extend(
            next.into_iter()
                .flatten()
                .filter_map(|step| text(&step["command"])),
        );
        let files = object.get("files").and_then(Value::as_array);
        lines.extend(
            files
                .into_iter()
                .flatten()
                .filter_map(|file| text(&file["command"])),
        );
        return lines;
    }
    let mut is_next = false;
    for line in output.lines() {
        is_next = line == "Next:" || (is_next && line.starts_with("  "));
        let sentence = ["warning: ", "note: ", "error: "]
            .iter()
            .any(|start| line.starts_with(start));
        if let Some(help) = line.strip_prefix("help: ") {
            lines.push(help.to_owned());
        } else if let Some(step) = line.strip_prefix("    ").filter(|_| is_next) {
            lines.push(step.to_owned());
        } else if let Some((verb, rest)) = line.split_at_checked(13).filter(|_| !sentence) {
            // `Deleted path (owner): operator-forge restore path`.
            let is_verb = verb.starts_with("  ") && verb.ends_with(' ');
            let line = rest.rsplit_once(": ").map(|(_, line)| line);
            lines.extend(
                line.filter(|line| is_verb && is_command(line))
                    .map(str::to_owned),
            );
        }
        if sentence {
            // A name in backticks may hold some itself.
            let is_line = |span: &&str| is_command(span) && span.contains(' ');
            let spans = line.split('`').filter(is_line);
            let spans = spans.filter(|span| !span.starts_with("touch "));
            lines.extend(spans.map(str::to_owned));
        }
    }
    lines
}

const TYPE: [&str; 6] = ["--group", "cache", "--version", "v1", "--kind", "Redis"];

/// A room with a project in the directory `WORD`.
fn project(more: &[&str]) -> Room {
    let room = Room::new();
    let init = [
        "init",
        WORD,
        "--project-name",
        "demo",
        "--domain",
        "example.com",
        "--runtime",
        "registry",
        "--vcs",
        "none",
    ];
    let made = room.forge(&[&init, more].concat());
    assert!(made.contains("Done"), "{made}");
    room
}

fn in_it<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["-C", WORD], words].concat()
}

#[test]
fn directories() {
    let mut room = Room::new();
    let init = [
        "init",
        WORD,
        "--project-name",
        "demo",
        "--domain",
        "example.com",
        "--runtime",
        "registry",
        "--vcs",
        "none",
    ];
    assert!(room.paste(&[&init[..], &["--project-name"]].concat()) > 0);
    assert!(room.paste(&["init", WORD]) > 0);
    assert!(room.paste(&init) > 1);
    let mut paste = |words: &[&str]| assert!(room.paste(&in_it(words)) > 0, "{words:?}");
    paste(&init);
    paste(&["init", "--nested", "--owner", LINE]);
    let create = [&["create", "api"], &TYPE[..]].concat();
    paste(&create);
    paste(&create);
    paste(&[&create[..], &["--version", "v2", "--from-version", "v1"]].concat());
    paste(&[&["create", "webhook"], &TYPE[..], &["--defaulting"]].concat());
    paste(&[&["edit", "api"], &TYPE[..], &["--namespaced=false"]].concat());
    paste(&["edit", "--namespaced"]);
    paste(&["edit", "--domain", "other.com"]);
    paste(&["delete", "api", "--kind", "Redis"]);
    paste(&["restore", "Makefile"]);
    paste(&["own", "src/controllers.rs"]);
    paste(&["own", "src"]);
    paste(&[
        "rename", "--group", "cache", "--kind", "Redis", "--to", "Cache", "--force",
    ]);
    paste(&["check", "--crds", "HEAD"]);
    paste(&["update", "--allow-dir"]);
    paste(&["man-pages", "Makefile"]);
    let root = room.work().join(WORD);
    fs::remove_file(root.join("Dockerfile")).unwrap();
    fs::remove_file(root.join("Makefile")).unwrap();
    fs::create_dir(root.join("Makefile")).unwrap();
    fs::rename(root.join("src"), root.join(PATH)).unwrap();
    std::os::unix::fs::symlink(PATH, root.join("src")).unwrap();
    let mut paste = |words: &[&str]| assert!(room.paste(&in_it(words)) > 0, "{words:?}");
    for command in ["status", "check", "sync", "diff Nothing", "delete webhook"] {
        paste(&command.split(' ').collect::<Vec<_>>());
    }
    fs::remove_file(root.join("PROJECT")).unwrap();
    let mut paste = |words: &[&str]| assert!(room.paste(&in_it(words)) > 0, "{words:?}");
    paste(&["sync"]);
    fs::create_dir(root.join("PROJECT")).unwrap();
    let mut paste = |words: &[&str]| assert!(room.paste(&in_it(words)) > 0, "{words:?}");
    paste(&["sync"]);
    fs::remove_dir_all(root.join(".operator-forge")).unwrap();
    let mut paste = |words: &[&str]| assert!(room.paste(&in_it(words)) > 0, "{words:?}");
    paste(&["sync"]);
    fs::remove_dir_all(&root).unwrap();
    let mut paste = |words: &[&str]| assert!(room.paste(&in_it(words)) > 0, "{words:?}");
    paste(&["sync"]);
    fs::write(&root, "").unwrap();
    let mut paste = |words: &[&str]| assert!(room.paste(&in_it(words)) > 0, "{words:?}");
    paste(&["sync"]);
    paste(&["init"]);
    room.finish(60);
}

#[test]
fn words_of_the_command_line() {
    let mut room = project(&["--owner", LINE]);
    let create = [&["create", "api"], &TYPE[..]].concat();
    assert!(room.forge(&in_it(&create)).contains("Done"));
    let joined = |flag: &str, text: &str| format!("--{flag}={text}");
    for text in [WORD, LINE, PATH] {
        let flags = [
            "group",
            "version",
            "kind",
            "plural",
            "short-name",
            "controller-name",
            "from-version",
            "external-api-path",
            "external-api-domain",
            "external-api-module",
            "plugins",
            "project-version",
            "output",
            "color",
            "on-conflict",
            "resource",
            "unknown",
        ];
        for flag in flags {
            room.paste(&in_it(&[&create[..], &[&joined(flag, text)]].concat()));
        }
        for flag in ["spoke", "defaulting-path", "certificates", "plural"] {
            let flag = joined(flag, text);
            let webhook = [&["create", "webhook"], &TYPE[..], &["--conversion", &flag]].concat();
            room.paste(&in_it(&webhook));
        }
        for flag in [
            "domain",
            "project-name",
            "owner",
            "license",
            "license-file",
            "runtime",
            "vcs",
        ] {
            room.paste(&in_it(&["edit", &joined(flag, text)]));
            room.paste(&[
                "init",
                "other",
                &joined(flag, text),
                "--nested",
                "--licence",
                "mit",
            ]);
            room.paste(&["init", "--domain=-", &joined(flag, text)]);
        }
        room.paste(&["init", "other", &joined("runtime", &format!("path={text}"))]);
        room.paste(&in_it(&[
            "rename",
            "--group=cache",
            "--kind=Redis",
            &joined("to", text),
        ]));
        room.paste(&in_it(&[
            "delete",
            "api",
            &joined("kind", text),
            "--group=cache",
            "--version=v1",
        ]));
        room.paste(&in_it(&["check", &joined("crds", text)]));
        room.paste(&in_it(&["check", "--crds=.", &joined("allow", text)]));
        for command in [
            "own",
            "disown",
            "restore",
            "diff",
            "completion",
            "create",
            "status",
            "man-pages",
        ] {
            room.paste(&in_it(&[command, "--", text]));
            room.paste(&in_it(&[command, text, "--sync"]));
        }
        room.paste(&[text]);
        room.paste(&in_it(&[text, "--dry-run"]));
        room.paste(&[&joined("directory", text), "sync"]);
        room.paste(&[&format!("-C{text}"), "init", "--domain"]);
        room.paste(&[
            &format!("-C{text}"),
            "init",
            "--domain=example.com",
            "--runtime=registry",
        ]);
    }
    room.finish(250);
}

#[test]
fn files_of_the_user() {
    let mut room = project(&[]);
    let root = room.work().join(WORD);
    let create = [&["create", "api"], &TYPE[..]].concat();
    assert!(room.forge(&in_it(&create)).contains("Done"));
    for name in [WORD, LINE, PATH] {
        // A header that is no comment, and one that is.
        fs::write(room.work().join(name.replace('/', "")), "Copyright\n").ok();
        let file = format!("--license-file={name}");
        fs::write(root.join(name), "Copyright\n").unwrap();
        assert!(room.paste(&in_it(&["edit", &file])) > 1);
        assert!(room.paste(&in_it(&["init", "new", &file])) > 1);
        let crd = fs::read_to_string(repository().join("tests/crds/certificates.yaml"))
            .unwrap_or_default();
        fs::write(root.join(name), format!("{crd}\n[")).unwrap();
        assert!(room.paste(&in_it(&["check", &format!("--crds={name}")])) > 0);
        // Modules of the user's that `rename` leaves behind.
        let module = root.join("src/controllers/cache/redis");
        fs::create_dir_all(&module).unwrap();
        fs::write(module.join(name), "").unwrap();
    }
    let rename = [
        "rename",
        "--group",
        "cache",
        "--kind",
        "Redis",
        "--to",
        "Cache",
        "--dry-run",
    ];
    room.paste(&in_it(&rename));
    assert!(room.paste(&in_it(&rename[..7])) > 3);
    room.finish(20);
}

#[test]
fn what_a_repository_holds() {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let mut room = project(&[]);
    let root = room.work().join(WORD);
    let create = [&["create", "api"], &TYPE[..]].concat();
    assert!(room.forge(&in_it(&create)).contains("Done"));
    // The lock names a file that nobody asks for any more.
    let lock = fs::read_to_string(root.join(".operator-forge/lock")).unwrap();
    let row = lock
        .lines()
        .find(|line| line.ends_with(" Makefile"))
        .unwrap();
    for path in [TAME, PATH] {
        fs::write(root.join(path), "edited\n").unwrap();
        let more = format!("{lock}{}\n", row.replace("Makefile", path));
        fs::write(root.join(".operator-forge/lock"), more).unwrap();
        for command in ["status", "check", "sync"] {
            room.paste(&in_it(&[command, "--dry-run"]));
        }
    }
    fs::write(root.join(".operator-forge/lock"), &lock).unwrap();
    // `PROJECT` says anything.
    let project = fs::read_to_string(root.join("PROJECT")).unwrap();
    for text in [WORD, LINE, PATH, TAME] {
        for (from, to) in [
            ("  kind: Redis", format!("  kind: {}", json(text))),
            ("group: cache", format!("group: {}", json(text))),
            ("version: v1\n", format!("version: {}\n", json(text))),
            ("plural: redis", format!("plural: {}", json(text))),
            ("projectName: demo", format!("projectName: {}", json(text))),
            ("domain: example.com", format!("domain: {}", json(text))),
            (
                "license: apache2",
                format!("license: {}\n    owned: [{}]", json(text), json(text)),
            ),
            (
                "license: apache2",
                format!("license: apache2\n    owned: [{}]", json(text)),
            ),
            (
                "license: apache2",
                format!("license: apache2\n    runtime: {}", json(text)),
            ),
            (
                "license: apache2",
                format!("license: apache2\n    owner: {}", json(text)),
            ),
            ("version: \"3\"", format!("version: {}", json(text))),
            (
                "version: \"3\"",
                format!("version: \"3\"\n{}: 1", json(text)),
            ),
        ] {
            if !project.contains(from) {
                continue;
            }
            fs::write(root.join("PROJECT"), project.replace(from, &to)).unwrap();
            room.paste(&in_it(&["status"]));
            room.paste(&in_it(&["sync", "--dry-run"]));
        }
    }
    fs::write(root.join("PROJECT"), project).unwrap();
    // A type says anything of itself.
    let types = root.join("src/api/cache/v1/redis.rs");
    let source = fs::read_to_string(&types).unwrap();
    for text in [WORD, LINE] {
        for name in ["plural", "shortname", "kind", "group", "version"] {
            let attribute = format!("#[kube({name} = {text:?})]\n");
            fs::write(
                &types,
                source.replace("#[kube(", &format!("{attribute}#[kube(")),
            )
            .unwrap();
            room.paste(&in_it(&["check"]));
            room.paste(&in_it(
                &[&["edit", "api"], &TYPE[..], &["--short-name=r"]].concat(),
            ));
        }
    }
    // A crate that is there says anything, too.
    for text in [WORD, LINE, PATH] {
        for manifest in [
            format!("[package]\nname = {}", json(text)),
            format!("[package]\nname = \"demo\"\nedition = {}", json(text)),
            format!("[lib]\nname = {}", json(text)),
            format!("[lib]\npath = {}", json(text)),
            format!("[[bin]]\nname = {}\npath = \"src/main.rs\"", json(text)),
            format!("[[bin]]\nname = \"demo\"\npath = {}", json(text)),
            format!(
                "[dependencies]\nkube = {{ path = {} }}\n{} = 1",
                json(text),
                json(text)
            ),
            format!("[{}]\n", json(text)),
        ] {
            let crate_ = room.work().join("crate");
            fs::create_dir_all(crate_.join("src")).unwrap();
            fs::write(
                crate_.join("Cargo.toml"),
                manifest.replace("\\u001b", "\\u001B"),
            )
            .unwrap();
            fs::write(crate_.join("src/main.rs"), "mine").unwrap();
            let init = [
                "init",
                "crate",
                "--domain=example.com",
                "--runtime=registry",
                "--project-name=demo",
                "--dry-run",
            ];
            assert!(room.paste(&init) > 0, "{manifest}");
        }
    }
    room.finish(150);
}

#[test]
fn branches_and_what_they_leave() {
    let mut room = project(&[]);
    let root = room.work().join(WORD);
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        let identity = [
            "-c",
            "user.name=test",
            "-c",
            "user.email=test@example.com",
            "-c",
            "init.defaultBranch=main",
        ];
        let output = git.args(identity).args(words).current_dir(&root).output();
        output.expect("git runs").status.success()
    };
    let branch = "it's-$(touch${IFS}pwned)`touch`;&|<>#";
    let other = root.join(PATH);
    assert!(git(&["init", "-q", "."]));
    fs::write(&other, "base\n").unwrap();
    assert!(git(&["add", "-A"]) && git(&["commit", "-qm", "base"]));
    assert!(git(&["branch", branch]));
    assert!(
        room.forge(&in_it(&[&["create", "api"], &TYPE[..]].concat()))
            .contains("Done")
    );
    fs::write(&other, "ours\n").unwrap();
    fs::write(root.join("Makefile"), "ours\n").unwrap();
    assert!(git(&["add", "-A"]) && git(&["commit", "-qm", "ours"]));
    assert!(git(&["checkout", "-q", branch]));
    assert!(
        room.forge(&in_it(&[
            "create",
            "api",
            "--group=web",
            "--version=v1",
            "--kind=Page"
        ]))
        .contains("Done")
    );
    fs::write(&other, "theirs\n").unwrap();
    fs::write(root.join("Makefile"), "theirs\n").unwrap();
    fs::write(root.join("deny.toml"), "# theirs\n").unwrap();
    assert!(git(&["add", "-A"]) && git(&["commit", "-qm", "theirs"]));
    room.paste(&in_it(&["check", "--crds", branch]));
    room.paste(&in_it(&["update"]));
    assert!(git(&["checkout", "-q", "main"]) && !git(&["merge", "-q", branch]));
    for command in [
        "status",
        "check",
        "create api",
        "sync --dry-run",
        "sync",
        "sync --on-conflict markers",
        "sync",
    ] {
        room.paste(&in_it(&command.split(' ').collect::<Vec<_>>()));
    }
    room.finish(15);
}
