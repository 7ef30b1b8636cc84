//! A directory with a history, and what has to be true of it after every command.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use operator_forge::{
    memory::Memory,
    project::Project,
    template::SET,
    tree::{Owner, unix_line_ends},
};
use tempfile::TempDir;
use walkdir::WalkDir;

use super::{
    hands::{self, Act, Hand},
    session::{assert_same, scratch},
    story::{tell, tell_words},
    tool::{Ended, Tool},
    words::{self, Command, pick},
};

/// Every file with its bytes, every symbolic link with its target, and every empty directory with nothing.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// What a user did, as far as no command may take it back.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Comments that a user wrote, by file.
    pub written: BTreeMap<String, Vec<String>>,
    /// Files that a user deleted.
    pub deleted: BTreeSet<String>,
    /// Files with CRLF line ends.
    crlf: BTreeSet<String>,
}

/// What the last command that changed something did.
pub struct Last {
    pub before: Tree,
    pub after: Tree,
    marks: Marks,
}

pub struct World {
    pub tool: Tool,
    directory: TempDir,
    pub now: Tree,
    modes: BTreeMap<String, u32>,
    pub marks: Marks,
    pub last: Option<Last>,
    /// `PROJECT` as it was after each command that changed it.
    projects: Vec<Vec<u8>>,
    /// How many things a user did.
    acts: usize,
    /// Whether the tree may be another one than `PROJECT` alone makes.
    pub touched: bool,
}

/// What a tree looks like, with the modes of its files. `.git` is left out, and what is of one copy of a project only.
pub fn look(root: &Path) -> (Tree, BTreeMap<String, u32>) {
    let (mut tree, mut modes) = (Tree::new(), BTreeMap::new());
    let entries = WalkDir::new(root)
        .min_depth(1)
        .into_iter()
        .filter_entry(|entry| {
            entry.file_name() != ".git" && !entry.path().ends_with(".operator-forge/local")
        });
    for entry in entries {
        let entry = entry.expect("a readable tree");
        let path = entry.path().strip_prefix(root).expect("below the root");
        let path = path.to_str().expect("UTF-8").to_owned();
        if entry.path_is_symlink() {
            let target = fs::read_link(entry.path()).expect("a link");
            tree.insert(
                format!("{path}@"),
                target.into_os_string().into_encoded_bytes(),
            );
        } else if entry.file_type().is_dir() {
            let mut inside = fs::read_dir(entry.path()).expect("a readable tree");
            if inside.next().is_none() {
                tree.insert(format!("{path}/"), Vec::new());
            }
        } else {
            let mode = entry.metadata().expect("a file").permissions().mode() & 0o777;
            modes.insert(path.clone(), mode);
            tree.insert(path, fs::read(entry.path()).expect("a readable file"));
        }
    }
    (tree, modes)
}

/// Directories and files, those of one copy only among them.
struct Files {
    directories: Vec<PathBuf>,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Files {
    fn of(root: &Path) -> Self {
        let (mut directories, mut files) = (Vec::new(), Vec::new());
        for entry in WalkDir::new(root).min_depth(1) {
            let entry = entry.expect("a readable tree");
            let path = entry.path().strip_prefix(root).expect("below the root");
            match entry.file_type().is_dir() {
                true => directories.push(path.to_owned()),
                false => files.push((path.to_owned(), fs::read(entry.path()).expect("a file"))),
            }
        }
        Self { directories, files }
    }

    fn write(&self, root: &Path) {
        for directory in &self.directories {
            fs::create_dir(root.join(directory)).expect("a new directory");
        }
        for (path, bytes) in &self.files {
            fs::write(root.join(path), bytes).expect("a new file");
        }
    }
}

impl words::Files for World {
    fn files(&self, command: &str) -> Vec<String> {
        let memory = self.memory();
        let rows = memory.rows.iter();
        let paths: Vec<String> = match command {
            "own" => rows
                .filter(|(_, row)| row.owner != Owner::User)
                .map(|(path, _)| path.to_string())
                .collect(),
            "disown" => {
                let project = self.project();
                let owned = project.map(|project| project.settings.owned);
                owned
                    .into_iter()
                    .flatten()
                    .map(|path| path.to_string())
                    .collect()
            }
            _ => rows
                .map(|(path, _)| path.to_string())
                .filter(|path| !self.now.contains_key(path))
                .collect(),
        };
        paths
    }
}

impl World {
    pub fn new(tool: Tool) -> Self {
        Self {
            tool,
            directory: scratch(),
            now: Tree::new(),
            modes: BTreeMap::new(),
            marks: Marks::default(),
            last: None,
            projects: Vec::new(),
            acts: 0,
            touched: false,
        }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn project(&self) -> Option<Project> {
        Project::read(self.now.get("PROJECT")?).ok()
    }

    fn memory(&self) -> Memory {
        memory(&self.now)
    }

    /// Whether the templates are older than the tool's, so that nothing may succeed but `update`, and `undo`.
    fn is_older(&self) -> bool {
        let templates = |project: Project| project.settings.templates;
        self.project().map(templates).is_some_and(|set| set < SET)
    }

    /// Begins as `init` ends with these words, which is tried once for all histories. Returns its exit code.
    pub fn init(&mut self, words: &[String]) -> i32 {
        /// By the words of the command.
        type Made = BTreeMap<Vec<String>, (i32, Arc<Files>)>;
        static MADE: Mutex<Made> = Mutex::new(Made::new());
        tell_words(words);
        let known = MADE.lock().unwrap().get(words).cloned();
        let (code, files) = known.unwrap_or_else(|| {
            let directory = scratch();
            let code = self.tool.run(directory.path(), words, &[]).code;
            let made = (code, Arc::new(Files::of(directory.path())));
            MADE.lock().unwrap().insert(words.to_vec(), made.clone());
            made
        });
        files.write(self.path());
        self.look();
        self.projects.extend(self.now.get("PROJECT").cloned());
        // No command undoes what was done in the directory that these files come from.
        self.last = None;
        code
    }

    /// Looks at the tree again.
    pub fn look(&mut self) {
        (self.now, self.modes) = look(self.path());
    }

    pub fn forge(&self, words: &[String], more: &[&str]) -> Ended {
        self.tool.run(self.path(), words, more)
    }

    /// Runs a command, if the project has what it is about. Returns its words and whether it was done.
    pub fn command(&mut self, command: &Command) -> Option<(Vec<String>, bool)> {
        let words = command.words(self.project().as_ref(), self)?;
        let code = self.run(&words);
        Some((words, code == 0 || code == 3))
    }

    /// Runs one command, first dry and then for real, and checks what holds for every command.
    pub fn run(&mut self, words: &[String]) -> i32 {
        tell_words(words);
        let older = self.is_older();
        let dry = self.forge(words, &["--dry-run"]);
        let (before, modes) = (
            std::mem::take(&mut self.now),
            std::mem::take(&mut self.modes),
        );
        let real = self.forge(words, &[]);
        self.look();
        assert_eq!(
            dry.code, real.code,
            "dry and not: {} {}",
            dry.json, real.json
        );
        assert_eq!(dry.json["changes"], real.json["changes"], "dry and not");
        if real.code == 1 || real.code == 2 {
            assert_same("refused", &before, &self.now);
            let help = &real.json["error"]["help"];
            let helps = help.as_array().is_some_and(|help| !help.is_empty());
            assert!(helps, "no help: {}", real.json);
            return real.code;
        }
        assert!(
            !older || matches!(words[0].as_str(), "update" | "undo"),
            "done before the update"
        );
        let notes = real.json["notes"].as_array().expect("notes");
        // A controller may still use a spoke: a next step names it.
        let mut next = real.json["next"].as_array().into_iter().flatten();
        let is_left = !notes.is_empty()
            || next.any(|step| step["text"] == "use the hub in the controller:")
            || words.iter().any(|word| word == "--from-operator-sdk");
        assert_eq!(real.code == 3, is_left, "{}", real.json);
        self.check_told(&before, &real);
        self.check_modes(&modes);
        if words[0] == "undo" {
            self.check_undone(before);
            return real.code;
        }
        let overwritten: BTreeSet<String> =
            real.changed(Some("overwrite")).map(str::to_owned).collect();
        let may = words
            .iter()
            .any(|word| word == "--on-conflict=take" || word == "--force");
        assert!(
            may || words[0] == "disown" || overwritten.is_empty(),
            "overwritten unasked: {overwritten:?}"
        );
        let marks = self.marks.clone();
        self.check_texts(words, &overwritten);
        self.check_files(words, &before, &overwritten);
        self.touched |= stays(words);
        if before != self.now {
            self.projects.extend(self.now.get("PROJECT").cloned());
            let after = self.now.clone();
            self.last = Some(Last {
                before,
                after,
                marks,
            });
        }
        self.check_settled(words);
        real.code
    }

    /// The output names every file that changed, and no other one.
    fn check_told(&self, before: &Tree, ended: &Ended) {
        let told: BTreeSet<&str> = ended.changed(None).collect();
        let changed: BTreeSet<&str> = before
            .keys()
            .chain(self.now.keys())
            .filter(|path| before.get(*path) != self.now.get(*path))
            .map(String::as_str)
            .filter(|path| !path.starts_with(".operator-forge/") && !path.ends_with('/'))
            .collect();
        assert_eq!(told, changed, "told, and changed");
        let empty = |path: &&String| path.ends_with('/') && !before.contains_key(*path);
        let left: Vec<_> = self.now.keys().filter(empty).collect();
        assert!(left.is_empty(), "empty directories are left: {left:?}");
    }

    fn check_modes(&self, before: &BTreeMap<String, u32>) {
        for (path, mode) in before {
            if let Some(now) = self.modes.get(path) {
                assert_eq!(now, mode, "mode of `{path}`");
            }
        }
    }

    /// The tree is what it was before the last command, but for what a user did since to other files.
    fn check_undone(&mut self, before: Tree) {
        let Some(last) = self.last.take() else { return };
        let mut expected = before.clone();
        for path in last.before.keys().chain(last.after.keys()) {
            let (old, new) = (last.before.get(path), last.after.get(path));
            if old == new || path.ends_with('/') {
                continue;
            }
            assert_eq!(before.get(path), new, "undone over a change of `{path}`");
            match old {
                Some(old) => expected.insert(path.clone(), old.clone()),
                None => expected.remove(path),
            };
        }
        assert_undone("undone", expected, &self.now);
        let marks = std::mem::replace(&mut self.marks, last.marks);
        self.last = Some(Last {
            before,
            after: self.now.clone(),
            marks,
        });
    }

    /// No text of the user is lost but in files that were told to be overwritten.
    fn check_texts(&mut self, words: &[String], overwritten: &BTreeSet<String>) {
        let moves = matches!(words[0].as_str(), "rename" | "update");
        let mut written: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (path, texts) in std::mem::take(&mut self.marks.written) {
            for text in texts {
                let has = |bytes: &Vec<u8>| {
                    std::str::from_utf8(bytes).is_ok_and(|all| all.contains(&text))
                };
                let place = match self.now.get(&path).is_some_and(has) {
                    true => Some(path.clone()),
                    false if overwritten.contains(&path) => continue,
                    false if moves => self
                        .now
                        .iter()
                        .find(|(_, bytes)| has(bytes))
                        .map(|(path, _)| path.clone()),
                    false => None,
                };
                let place = place.unwrap_or_else(|| panic!("lost: `{text}` in `{path}`"));
                written.entry(place).or_default().push(text);
            }
        }
        self.marks.written = written;
    }

    /// User files are left alone but for the types of an API and what follows from its fields; no deleted file of theirs is back, and line ends are as they were.
    fn check_files(&mut self, words: &[String], before: &Tree, overwritten: &BTreeSet<String>) {
        let (was, is) = (memory(before), self.memory());
        let named =
            |path: &str| overwritten.contains(path) || words.iter().any(|word| word == path);
        let forced = words.iter().any(|word| word == "--force");
        let edits = |path: &str| match words[0].as_str() {
            "edit" => {
                let follows = words.iter().any(|word| word.ends_with("-field"))
                    && (path.starts_with("config/samples/") || path.ends_with("/convert.rs"));
                path.starts_with("src/api/") || follows && !self.marks.written.contains_key(path)
            }
            command => command == "rename",
        };
        for (path, row) in &is.rows {
            let Some(old) = was.rows.get(path) else {
                continue;
            };
            let path = path.as_str();
            let users = (old.owner, row.owner) == (Owner::User, Owner::User);
            if users && !named(path) && !edits(path) {
                let (before, after) = (before.get(path), self.now.get(path));
                assert!(
                    before.is_none() || before == after,
                    "the user's `{path}` was written"
                );
            }
            if row.owner != Owner::Tool
                && !named(path)
                && !forced
                && self.marks.deleted.contains(path)
            {
                assert!(
                    !self.now.contains_key(path),
                    "the user deleted `{path}`, and it is back"
                );
            }
        }
        if words[0] == "rename" {
            let gone = |memory: &Memory, tree: &Tree| {
                let rows = memory.rows.iter();
                rows.filter(|(path, row)| {
                    row.owner == Owner::User && !tree.contains_key(path.as_str())
                })
                .count()
            };
            assert_eq!(
                gone(&was, before),
                gone(&is, &self.now),
                "deleted files of the user"
            );
        }
        let now = &self.now;
        self.marks.deleted.retain(|path| {
            !now.contains_key(path) && is.rows.keys().any(|row| row.as_str() == path)
        });
        self.marks.crlf.retain(|path| now.contains_key(path));
        for path in &self.marks.crlf {
            assert!(is_crlf(&now[path]), "line ends of `{path}` changed");
        }
    }

    /// Another run changes nothing, and what was made is not made twice.
    fn check_settled(&mut self, words: &[String]) {
        let again = self.forge(&["sync".to_owned()], &["--dry-run"]);
        assert!(again.changes_nothing(), "not settled: {}", again.json);
        let again = self.forge(words, &[]);
        match words[0].as_str() {
            "edit" | "sync" | "update" => {
                assert!(again.changes_nothing(), "again: {}", again.json);
            }
            _ if words.iter().any(|word| word == "--force") => {}
            _ => assert_eq!(again.code, 1, "accepted twice"),
        }
        let (now, _) = look(self.path());
        assert_same("again", &self.now, &now);
    }

    /// What the last command did, if nothing was changed since and no file is read-only.
    pub fn undoable(&self) -> Option<&Last> {
        let writable = self.modes.values().all(|mode| mode & 0o200 != 0);
        let last = self.last.as_ref();
        last.filter(|last| writable && last.after == self.now)
    }

    /// `undo`, and `undo` of that.
    pub fn check_undo(&mut self) {
        let Some(last) = self.undoable() else { return };
        tell("# undone, and done again:");
        let undo = ["undo".to_owned()];
        for (what, expected) in [("undo", &last.before), ("undo of undo", &last.after)] {
            let ended = self.forge(&undo, &[]);
            assert_eq!(ended.code, 0, "{what}: {}", ended.json);
            assert_undone(what, expected.clone(), &look(self.path()).0);
        }
    }

    /// Commands that read say what `sync` says, and write nothing.
    pub fn check_commands_that_read(&self) {
        if !self.now.contains_key("PROJECT") || self.is_older() {
            return;
        }
        let sync = self.forge(&["sync".to_owned()], &["--dry-run"]);
        let status = self.forge(&["status".to_owned()], &[]);
        assert_eq!(status.code, 0, "{}", status.json);
        let diff = self.forge(&["diff".to_owned()], &[]);
        assert_eq!(diff.code, 0, "{}", diff.json);
        let check = self.forge(&["check".to_owned()], &[]);
        if sync.code != 0 || !sync.changes_nothing() || !self.touched {
            assert_eq!(
                check.code,
                i32::from(sync.code != 0 || !sync.changes_nothing()),
                "{}",
                check.json
            );
        }
        assert_same("commands that read", &self.now, &look(self.path()).0);
    }

    /// Something that a user does, if it can be done.
    pub fn act(&mut self, act: &Act) {
        let acted = match act {
            Act::File(hand, owner, at) => self.hand(*hand, *owner, at),
            Act::Foreign(path) => self.foreign(path),
            Act::OldProject(at) => self.old_project(at),
            Act::Forget(at) => self.forget(at),
        };
        if acted.is_some() {
            self.acts += 1;
            self.touched = true;
            self.look();
        }
    }

    /// Forgets the texts of files that a command may have moved or overwritten. For where only the end counts.
    pub fn forget_unless_kept(&mut self) {
        let now = &self.now;
        for (path, texts) in &mut self.marks.written {
            let bytes = now.get(path).map_or(&[][..], Vec::as_slice);
            let all = String::from_utf8_lossy(bytes);
            texts.retain(|text| all.contains(text.as_str()));
        }
    }

    /// What a user did is true of the tree before the last command, too.
    fn mark(&mut self, mark: impl Fn(&mut Marks)) {
        mark(&mut self.marks);
        if let Some(last) = &mut self.last {
            mark(&mut last.marks);
        }
    }

    fn hand(&mut self, hand: Hand, owner: Owner, at: &proptest::sample::Index) -> Option<()> {
        let memory = self.memory();
        let files = memory
            .rows
            .iter()
            .filter(|(path, row)| row.owner == owner && self.now.contains_key(path.as_str()));
        let path = pick(at, files)?.0.to_string();
        let comment = hands::comment(&path, self.acts);
        let text = String::from_utf8(self.now[&path].clone()).ok();
        if let Some((edited, line)) =
            text.and_then(|text| hands::edited(hand, &path, &text, &comment))
        {
            tell(line);
            let crlf = is_crlf(edited.as_bytes());
            fs::write(self.path().join(&path), edited).expect("a writable file");
            let writes = matches!(hand, Hand::Append | Hand::Prepend | Hand::Middle(_));
            self.mark(|marks| {
                match crlf {
                    true => marks.crlf.insert(path.clone()),
                    false => marks.crlf.remove(&path),
                };
                if writes {
                    marks
                        .written
                        .entry(path.clone())
                        .or_default()
                        .push(comment.clone());
                }
            });
            return Some(());
        }
        tell(hands::handled(hand, self.path(), &path).expect("it can be done")?);
        let (now, _) = look(self.path());
        let here = std::mem::take(&mut self.now);
        for gone in here.keys().filter(|path| !now.contains_key(*path)) {
            // What is behind a link is where it was moved to.
            let (file, directory) = (
                format!("{gone}.real"),
                path.rsplit_once('/').map_or("", |(parent, _)| parent),
            );
            let below = gone.replacen(directory, &format!("{directory}.real"), 1);
            let moved = [file, below]
                .into_iter()
                .find(|path| now.contains_key(path));
            self.mark(|marks| {
                marks.crlf.remove(gone);
                let texts = marks.written.remove(gone);
                match &moved {
                    Some(moved) => {
                        _ = texts.map(|texts| marks.written.insert(moved.clone(), texts))
                    }
                    None => _ = marks.deleted.insert(gone.clone()),
                }
            });
        }
        Some(())
    }

    fn foreign(&mut self, path: &str) -> Option<()> {
        let file = self.path().join(path);
        if file.symlink_metadata().is_ok() || fs::create_dir_all(file.parent()?).is_err() {
            return None;
        }
        let text = hands::comment(path, self.acts);
        tell(format!(
            "mkdir -p {path} && rmdir {path} && echo '{text}' > {path}"
        ));
        fs::write(&file, format!("{text}\n")).ok()?;
        self.mark(|marks| {
            marks.deleted.remove(path);
            marks.written.insert(path.to_owned(), vec![text.clone()]);
        });
        Some(())
    }

    fn old_project(&mut self, at: &proptest::sample::Index) -> Option<()> {
        let old = pick(at, self.projects.clone())?;
        tell(format!(
            "cat > PROJECT <<'EOF'\n{}EOF",
            String::from_utf8_lossy(&old)
        ));
        fs::write(self.path().join("PROJECT"), old).ok()
    }

    fn forget(&mut self, at: &Option<proptest::sample::Index>) -> Option<()> {
        let record = |path: &&String| match at {
            None => *path == ".operator-forge/lock",
            Some(_) => path.starts_with(".operator-forge/base/"),
        };
        let mut records = self.now.keys().filter(record);
        let path = match at {
            None => records.next_back()?.clone(),
            Some(at) => pick(at, records)?.clone(),
        };
        tell(format!("rm {path}"));
        fs::remove_file(self.path().join(&path)).ok()?;
        if at.is_none() {
            // Nobody knows any more what was there.
            self.mark(|marks| marks.deleted.clear());
        }
        Some(())
    }
}

/// Asserts that a tree is as it was; of directories that were empty then nothing is remembered.
pub fn assert_undone(what: &str, mut expected: Tree, found: &Tree) {
    expected.retain(|path, _| !path.ends_with('/') || found.contains_key(path));
    assert_same(what, &expected, found);
}

fn memory(tree: &Tree) -> Memory {
    let lock = tree.get(".operator-forge/lock");
    let text = lock.map(|lock| String::from_utf8_lossy(lock).into_owned());
    text.map(|text| Memory::parse(&text).expect("a lock"))
        .unwrap_or_default()
}

fn is_crlf(bytes: &[u8]) -> bool {
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    lines > 0 && bytes.len() - unix_line_ends(bytes).len() == lines
}

/// Whether the command makes another tree than its `PROJECT` alone: only files that are made from now on have another
/// header, a controller keeps to the scope it was made for, and a copied version to what it was copied from.
pub fn stays(words: &[String]) -> bool {
    let has = |start: &str| words.iter().any(|word| word.starts_with(start));
    let scope =
        words[0] == "edit" && words.get(1).is_some_and(|word| word == "api") && has("--namespaced");
    let header = words[0] == "edit" && (has("--owner") || has("--license"));
    let files = matches!(words[0].as_str(), "own" | "disown" | "restore");
    scope || header || files || has("--keep-files") || has("--from-version")
}
