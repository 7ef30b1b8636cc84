//! Questions that are answered key by key, on terminals of 40, 80 and 200 columns. `script` (of util-linux) makes the terminal, and
//! vt100 knows what is on its screen.

#![cfg(target_os = "linux")]

use std::{
    fs,
    io::{Read as _, Write as _},
    num::NonZero,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use tempfile::{NamedTempFile, TempDir};

use crate::session::{self, in_shell, shell};

const UP: &str = "\u{1b}[A";
const DOWN: &str = "\u{1b}[B";
const RIGHT: &str = "\u{1b}[C";
const ESCAPE: &str = "\u{1b}";
const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

/// A terminal on which one command runs.
struct Terminal {
    child: Child,
    keyboard: ChildStdin,
    /// The file with the terminal's path.
    name: NamedTempFile,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Terminal {
    fn start(directory: &Path, command: &str, columns: u16) -> Self {
        // High enough for every question of a command.
        let rows = 100;
        let name = NamedTempFile::new().unwrap();
        let command = format!(
            "exec script --quiet --return --flush \
             --command 'tty > \"$NAME\"; stty columns {columns} rows {rows}; exec {command}' /dev/null"
        );
        let size = |size| NonZero::new(size).expect("a terminal has rows and columns");
        let mut child = in_shell(directory, &command)
            .env("TERM", "xterm")
            .env("NAME", name.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh runs");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(size(rows), size(columns), 0)));
        let mut output = child.stdout.take().expect("a pipe");
        let shown = screen.clone();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut bytes) {
                shown.lock().unwrap().process(&bytes[..length]);
            }
        });
        Self {
            name,
            keyboard: child.stdin.take().expect("a pipe"),
            child,
            screen,
        }
    }

    /// Whether the command reads single keys at this moment.
    fn is_raw(&self) -> bool {
        let terminal = fs::read_to_string(self.name.path()).unwrap();
        let stty = Command::new("stty")
            .args(["-a", "-F", terminal.trim()])
            .output();
        String::from_utf8_lossy(&stty.unwrap().stdout).contains("-icanon")
    }

    /// What is on the screen, without the space behind its lines.
    fn screen(&self) -> String {
        let text = self.screen.lock().unwrap().screen().contents();
        text.lines()
            .map(|line| line.trim_end().to_owned() + "\n")
            .collect()
    }

    /// Waits until the screen is as `is_so`; `what` is meant.
    #[track_caller]
    fn wait(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_so(&self.screen()) {
            assert!(Instant::now() < deadline, "`{what}`:\n{}", self.screen());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the screen has `text`.
    #[track_caller]
    fn shows(&self, text: &str) {
        self.wait(text, |screen| screen.contains(text));
    }

    /// Waits until the last line of the screen has `text`, then types `keys`.
    #[track_caller]
    fn answer(&mut self, text: &str, keys: &str) {
        self.wait(text, |screen| {
            let last = screen.trim_end().lines().last();
            last.is_some_and(|last| last.contains(text))
        });
        for key in keys.split_inclusive(['\r', '\t', '\u{3}', '\u{4}']) {
            // The terminal hands a key over as it is only while one is read.
            self.wait(text, |_| self.is_raw());
            self.keyboard.write_all(key.as_bytes()).unwrap();
            self.keyboard.flush().unwrap();
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The screen after the command, and how it ended: -1 by a signal.
    fn end(mut self) -> (String, i32) {
        let status = self.child.wait().unwrap();
        thread::sleep(Duration::from_millis(50));
        (self.screen(), status.code().unwrap_or(-1))
    }
}

/// A test that fails leaves no command waiting for a key.
impl Drop for Terminal {
    fn drop(&mut self) {
        // The command has ended unless its test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A project with two kinds.
fn two_kinds() -> TempDir {
    let directory = TempDir::new().unwrap();
    let made = shell(
        directory.path(),
        "operator-forge init -q --domain example.com --project-name demo --vcs none --runtime registry \
         && operator-forge create api -q --group cache --version v1 --kind Redis \
         && operator-forge create api -q --group web --version v1 --kind Page",
    );
    assert_eq!(made.code, 0, "{}", made.output);
    directory
}

/// The lines of a screen up to the first change of a file.
fn questions(screen: &str) -> String {
    let is_change = |line: &&str| line.starts_with("     ");
    let lines = screen.lines().take_while(|line| !is_change(line));
    lines.map(|line| line.to_owned() + "\n").collect()
}

#[test]
fn a_project_is_made_by_answers_at_any_width() {
    for columns in [40, 80, 200] {
        let directory = TempDir::new().unwrap();
        let path = directory.path();
        let mut recorded = String::new();
        let mut ended = |command: &str, terminal: Terminal| {
            let (screen, code) = terminal.end();
            assert_eq!(code, 0, "{columns}: {screen}");
            recorded += &format!("$ {command}\n{}\n", questions(&screen));
        };

        let init = "operator-forge init --vcs none --runtime registry --project-name demo";
        let mut terminal = Terminal::start(path, init, columns);
        terminal.answer("domain", "a b\r");
        terminal.shows("it contains a space");
        terminal.answer("a b", "\u{7f}\u{7f}.org\r");
        terminal.answer("--plugins release", &format!("{DOWN} \r"));
        ended(init, terminal);

        let create = "operator-forge create api";
        let mut terminal = Terminal::start(path, create, columns);
        terminal.answer("--group", "cache\r");
        terminal.answer("--version", "v1\r");
        terminal.answer("--kind", "Memcached\r");
        terminal.answer("--resource", "maybe\r");
        terminal.shows("  y or n");
        terminal.answer("maybe", &format!("{}y\r", "\u{7f}".repeat(5)));
        // A wrong field is corrected, and a type completed.
        terminal.answer("--field", "size:int\r");
        terminal.shows("`int` is not a type");
        terminal.answer("size:int", "\t:min=1\r");
        // Longer than the terminal is wide, and corrected in its first row.
        let long = "imag:str\t:minLength=1:maxLength=200:pattern=^[a-z]+$x\u{7f}";
        terminal.answer("--field", long);
        terminal.answer("+$", &format!("\u{1}{}e\r", RIGHT.repeat(4)));
        terminal.answer("--field", "\r");
        terminal.answer("--controller", "\r");
        ended(create, terminal);

        let webhook = "operator-forge create webhook";
        let mut terminal = Terminal::start(path, webhook, columns);
        terminal.answer("another type", "\r");
        terminal.answer("--conversion", &format!(" {DOWN} \r"));
        ended(webhook, terminal);

        let project = fs::read_to_string(path.join("PROJECT")).unwrap();
        for text in [
            "domain: a.org\n",
            "helm.operator-forge/v1",
            "- size:int32:min=1\n",
            "    defaulting: true\n",
            "    validation: true\n",
        ] {
            assert!(project.contains(text), "{columns}: {text}: {project}");
        }
        let snapshot = session::repository().join(format!("snapshots/prompts/{columns}.txt"));
        if session::bless() {
            fs::write(&snapshot, &recorded).unwrap();
        }
        let known = fs::read_to_string(&snapshot).unwrap_or_default();
        assert_eq!(
            known,
            recorded,
            "{} (BLESS=1 accepts it)",
            snapshot.display()
        );
    }
}

#[test]
fn what_is_there_is_offered() {
    let directory = two_kinds();
    let path = directory.path();
    let mut terminal = Terminal::start(path, "operator-forge rename", 80);
    terminal.answer("Page", "pag\r");
    terminal.answer("--to", "Leaf\r");
    let (screen, code) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(path.join("src/api/web/v1/leaf.rs").exists(), "{screen}");

    let mut terminal = Terminal::start(path, "operator-forge edit", 80);
    terminal.answer("kubernetes", &format!("{UP}\r"));
    terminal.answer("--kubernetes", "1.33\r");
    let (screen, code) = terminal.end();
    assert_eq!(code, 0, "{screen}");

    let mut terminal = Terminal::start(path, "operator-forge edit", 80);
    terminal.answer("kubernetes", "plug\r");
    terminal.answer("--plugins release", "a\r");
    let (screen, code) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    let project = fs::read_to_string(path.join("PROJECT")).unwrap();
    assert!(project.contains("kubernetes: \"1.33\""), "{project}");
    assert!(project.contains("olm.operator-forge/v1"), "{project}");

    let mut terminal = Terminal::start(path, "operator-forge delete api", 80);
    terminal.answer("Leaf", &format!("{DOWN}\r"));
    let (screen, code) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(!path.join("src/api/web/v1/leaf.rs").exists(), "{screen}");
}

#[test]
fn a_conflict_is_a_choice() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    let made = shell(
        path,
        "operator-forge init -q --domain example.com --project-name demo --vcs none --runtime registry \
         && sed -i 's/Crds::default().merge()/mine()/' src/api.rs \
         && sed -i 's/Controllers::default()/mine()/' src/controllers.rs",
    );
    assert_eq!(made.code, 0, "{}", made.output);
    let create = "operator-forge create api --group db --version v1 --kind Row";
    let mut terminal = Terminal::start(path, create, 40);
    terminal.answer("the other 1", "keep it, and\r");
    let (screen, code) = terminal.end();
    assert_eq!(code, 3, "{screen}");
    assert_eq!(screen.matches("--on-conflict").count(), 1, "{screen}");
    for file in ["src/api.rs", "src/controllers.rs"] {
        let text = fs::read_to_string(path.join(file)).unwrap();
        assert!(text.contains("mine()"), "{file}: {screen}");
    }
}

#[test]
fn a_question_that_is_left_writes_nothing() {
    let directory = two_kinds();
    let path = directory.path();
    let before = session::tree(path);
    for (command, shown) in [
        ("operator-forge create api", "--group"),
        ("operator-forge create api --group g --version v1", "--kind"),
        ("operator-forge create webhook", "another type"),
        ("operator-forge delete api", "Page"),
        ("operator-forge rename", "Page"),
        ("operator-forge edit", "kubernetes"),
    ] {
        let is_line = shown.starts_with("--");
        // Ctrl-D leaves an empty line, and Escape any.
        let empty = is_line.then_some(CTRL_D);
        let typed = is_line.then_some("abc\u{1b}");
        let keys = [ESCAPE, CTRL_C].into_iter().chain(empty).chain(typed);
        for key in keys {
            let mut terminal = Terminal::start(path, command, 80);
            terminal.answer(shown, key);
            let (screen, code) = terminal.end();
            assert_ne!(code, 0, "{command}: {screen}");
            // Ctrl-C ends the program, or leaves the question where the signal is ignored, as in a job in the background.
            let is_left = screen.contains("error: no answer");
            assert!(is_left || key == CTRL_C, "{screen}");
        }
    }
    session::assert_same("a key", &before, &session::tree(path));
}

#[test]
fn nothing_is_drawn_over_a_list_that_waits() {
    let directory = two_kinds();
    let mut terminal = Terminal::start(directory.path(), "operator-forge delete api", 80);
    terminal.shows("Page");
    let before = terminal.screen();
    // What shows the progress of a command appears after half a second.
    thread::sleep(Duration::from_millis(1500));
    assert_eq!(terminal.screen(), before);
    terminal.answer("Page", ESCAPE);
    terminal.end();
}

#[test]
fn the_cursor_stays_where_a_list_is_left_by_a_signal() {
    let directory = two_kinds();
    let mut terminal = Terminal::start(directory.path(), "operator-forge delete api", 80);
    terminal.answer("Page", CTRL_C);
    let screen = terminal.screen.clone();
    let (shown, code) = terminal.end();
    assert_ne!(code, 0, "{shown}");
    assert!(!screen.lock().unwrap().screen().hide_cursor(), "{shown}");
}
