//! `tests/control-plane/build.sh` with an archive server and a Go compiler that are the test's own: what is fetched, what is
//! verified, and when it builds instead.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use sha2::{Digest, Sha512};
use tempfile::TempDir;

use crate::session::repository;

const ARCHIVE: &str = "envtest-v9.9.9-linux-amd64.tar.gz";
const PUBLISHED: [&str; 3] = ["etcd", "kube-apiserver", "kubectl"];
const CONTROLLERS: &str = "kube-controller-manager";

/// What the script needs of a POSIX system, with GNU's or BSD's SHA-512 and, where there is one, flock.
const TOOLS: [&str; 17] = [
    "awk", "cat", "cksum", "curl", "dirname", "grep", "gzip", "ln", "mkdir", "mktemp", "mv", "rm",
    "sed", "sh", "tar", "touch", "tr",
];
const EITHER: [&str; 4] = ["flock", "perl", "sha512sum", "shasum"];

/// Writes what `-o` names, as the compiler does, and what it was asked for.
const GO: &str = r#"#!/bin/sh
echo "$*" >> "$GO_LOG"
while [ $# -gt 1 ]; do
    [ "$1" != -o ] || out=$2
    shift
done
echo "built from $1" > "$out"
chmod 755 "$out"
echo example.com/package >&2
"#;

/// The script beside a checksum file of the test's own, and the PATH that it sees.
struct Machine {
    root: TempDir,
    /// What is answered to a request for a path; everything else is not found.
    served: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    asked: Arc<Mutex<Vec<String>>>,
    url: String,
}

impl Machine {
    /// A Linux machine with Go and curl, and a server with an archive that has the right checksum.
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        let scripts = root.path().join("control-plane");
        for file in [
            "build.sh",
            "go.mod",
            "go.sum",
            "main.go",
            "controller-manager/main.go",
        ] {
            let copy = scripts.join(file);
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::copy(repository().join("tests/control-plane").join(file), copy).unwrap();
        }
        let bin = root.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for tool in TOOLS {
            let found = which(tool).unwrap_or_else(|| panic!("this system has no `{tool}`"));
            symlink(found, bin.join(tool)).unwrap();
        }
        for tool in EITHER {
            if let Some(found) = which(tool) {
                symlink(found, bin.join(tool)).unwrap();
            }
        }
        let machine = Self {
            served: Arc::default(),
            asked: Arc::default(),
            url: String::new(),
            root,
        };
        machine.program("go", GO);
        machine.program("uname", "#!/bin/sh\necho Linux x86_64\n");
        let archive = machine.archive();
        machine.expect(ARCHIVE, &archive);
        machine.serve(ARCHIVE, archive);
        machine.listen()
    }

    /// Written by a process of its own: were the file open in this one, a child of another test could still hold it open
    /// when it is run, and the system would call it busy.
    fn program(&self, name: &str, text: &str) {
        let output = Command::new("sh")
            .args([
                "-c",
                r#"printf %s "$1" > "$2" && chmod 755 "$2""#,
                "sh",
                text,
            ])
            .arg(self.root.path().join("bin").join(name))
            .output()
            .unwrap();
        assert!(output.status.success());
    }

    fn without(&self, program: &str) {
        fs::remove_file(self.root.path().join("bin").join(program)).unwrap();
    }

    /// An archive as controller-tools publishes it, with the same bytes each time: times of its files are in it.
    fn archive(&self) -> Vec<u8> {
        let directory = self.root.path().join("archive/controller-tools/envtest");
        fs::create_dir_all(&directory).unwrap();
        for name in PUBLISHED {
            let file = directory.join(name);
            if file.exists() {
                continue;
            }
            fs::write(&file, format!("published {name}\n")).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let output = Command::new("tar")
            .args(["-czf", "-", "controller-tools"])
            .current_dir(self.root.path().join("archive"))
            .output()
            .unwrap();
        assert!(output.status.success());
        output.stdout
    }

    /// Adds the checksum of an archive with these bytes to those that the script knows.
    fn expect(&self, archive: &str, bytes: &[u8]) {
        let file = self.root.path().join("control-plane/envtest.sha512");
        let sum: String = Sha512::digest(bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let known = fs::read_to_string(&file).unwrap_or_default();
        fs::write(file, format!("{known}{sum}  {archive}\n")).unwrap();
    }

    fn serve(&self, archive: &str, bytes: Vec<u8>) {
        self.served.lock().unwrap().insert(path_of(archive), bytes);
    }

    /// Serves until the process ends.
    fn listen(mut self) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        self.url = format!("http://{}", listener.local_addr().unwrap());
        let (served, asked) = (self.served.clone(), self.asked.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let request: Vec<String> = lines
                    .map(Result::unwrap)
                    .take_while(|line| !line.is_empty())
                    .collect();
                let path = request[0].split(' ').nth(1).unwrap().to_owned();
                let found = served.lock().unwrap().get(&path).cloned();
                asked.lock().unwrap().push(path);
                let status = if found.is_some() {
                    "200 OK"
                } else {
                    "404 Not Found"
                };
                let body = found.unwrap_or_default();
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                // A client that has seen enough may be gone.
                let _ = stream
                    .write_all(head.as_bytes())
                    .and_then(|()| stream.write_all(&body));
            }
        });
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command
            .arg(self.root.path().join("control-plane/build.sh"))
            .args(arguments)
            .env_clear()
            .env("PATH", self.root.path().join("bin"))
            .env("HOME", self.root.path())
            .env("GO_LOG", self.root.path().join("go.log"))
            .env("ENVTEST_URL", &self.url);
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).output().unwrap())
    }

    /// The packages that Go was asked to build.
    fn built(&self) -> Vec<String> {
        let log = fs::read_to_string(self.root.path().join("go.log")).unwrap_or_default();
        let packages = log.lines().map(|line| line.rsplit(' ').next().unwrap());
        packages.map(str::to_owned).collect()
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// How the script ended.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Ended {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// What the binaries of the printed directory hold.
    #[track_caller]
    fn binaries(&self) -> BTreeMap<String, String> {
        assert_eq!(self.code, 0, "{}", self.stderr);
        let directory = Path::new(self.stdout.trim());
        let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
        let text = |path: PathBuf| fs::read_to_string(path).unwrap();
        entries
            .map(|entry| (entry.file_name().into_string().unwrap(), text(entry.path())))
            .collect()
    }

    #[track_caller]
    fn is_published(&self) {
        let binaries = self.binaries();
        for name in PUBLISHED {
            let wanted = format!("published {name}\n");
            assert_eq!(binaries[name], wanted, "{}", self.stderr);
        }
    }

    #[track_caller]
    fn is_built_because(&self, reason: &str) {
        let binaries = self.binaries();
        for name in PUBLISHED {
            assert_eq!(binaries[name], "built from .\n", "{}", self.stderr);
        }
        assert!(self.stderr.contains(reason), "{}", self.stderr);
        let note = "note: the published control plane cannot be used, so it is built from source";
        assert!(self.stderr.contains(note), "{}", self.stderr);
    }
}

fn path_of(archive: &str) -> String {
    let version = archive.splitn(3, '-').take(2).collect::<Vec<_>>().join("-");
    format!("/{version}/{archive}")
}

fn which(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|directory| directory.join(name))
        .find(|file| file.is_file())
}

#[test]
fn the_archive_is_fetched_once() {
    let machine = Machine::new();
    let demo = machine.run(&["demo"]);
    demo.is_published();
    assert!(!demo.binaries().contains_key(CONTROLLERS));
    assert_eq!(machine.built(), [""; 0]);
    assert_eq!(machine.asked(), [path_of(ARCHIVE)]);

    let again = machine.run(&["demo"]);
    assert_eq!(again.stdout, demo.stdout);
    assert_eq!(again.stderr, "");
    assert_eq!(machine.asked().len(), 1);
    // The Makefiles of generated projects look here.
    let stable = Path::new(demo.stdout.trim()).with_file_name("v1.37");
    let kubectl = fs::read_to_string(stable.join("kubectl"));
    assert_eq!(kubectl.unwrap(), "published kubectl\n");
}

/// The archive has no kube-controller-manager.
#[test]
fn what_only_tests_need_is_built() {
    let machine = Machine::new();
    let demo = machine.run(&["demo"]);
    let all = machine.run(&[]);
    assert_eq!(all.stdout, demo.stdout);
    all.is_published();
    assert_eq!(
        all.binaries()[CONTROLLERS],
        "built from ./controller-manager\n"
    );
    assert_eq!(machine.built(), ["./controller-manager"]);
    // For the demo the same directory will do.
    assert_eq!(machine.run(&["demo"]).stdout, demo.stdout);
    assert_eq!(machine.built().len(), 1);
    assert_eq!(machine.asked().len(), 1);
}

#[test]
fn an_archive_with_another_checksum_is_refused() {
    let machine = Machine::new();
    let mut bytes = machine.archive();
    bytes.push(0);
    machine.serve(ARCHIVE, bytes);
    let all = machine.run(&[]);
    all.is_built_because(&format!("{ARCHIVE} does not have the checksum"));
    assert_eq!(
        all.binaries()[CONTROLLERS],
        "built from ./controller-manager\n"
    );
    assert_eq!(machine.built(), [".", "./controller-manager"]);
}

#[test]
fn an_archive_with_something_else_is_refused() {
    let machine = Machine::new();
    let bytes = b"<html>a login page</html>".to_vec();
    fs::remove_file(machine.root.path().join("control-plane/envtest.sha512")).unwrap();
    machine.expect(ARCHIVE, &bytes);
    machine.serve(ARCHIVE, bytes);
    machine.run(&["demo"]).is_built_because("tar: ");
}

#[test]
fn without_an_archive_it_is_built() {
    let machine = Machine::new();
    machine.served.lock().unwrap().clear();
    machine.run(&["demo"]).is_built_because("404");
    assert_eq!(machine.built(), ["."]);
}

#[test]
fn without_a_network_it_is_built_at_once() {
    let mut machine = Machine::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    machine.url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let started = Instant::now();
    machine.run(&["demo"]).is_built_because("curl: (7)");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn without_curl_it_is_built() {
    let machine = Machine::new();
    machine.without("curl");
    machine
        .run(&["demo"])
        .is_built_because("`curl` is not in PATH");
    assert_eq!(machine.asked(), [""; 0]);
}

#[test]
fn without_an_archive_and_go_it_is_refused() {
    let machine = Machine::new();
    machine.served.lock().unwrap().clear();
    machine.without("go");
    let refused = machine.run(&["demo"]);
    assert_eq!(refused.code, 1);
    assert_eq!(refused.stdout, "");
    assert!(
        refused.stderr.contains("error: Go is needed"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("help: install Go 1.26.0"),
        "{}",
        refused.stderr
    );
    // What failed is tried again, and leaves nothing that could be taken for a result.
    machine.program("go", GO);
    assert_eq!(machine.run(&["demo"]).binaries().len(), 4);
}

#[test]
fn a_build_that_fails_is_shown_and_leaves_nothing() {
    let machine = Machine::new();
    machine.served.lock().unwrap().clear();
    machine.program("go", "#!/bin/sh\necho 'main.go:1:1: broken' >&2\nexit 1\n");
    let failed = machine.run(&["demo"]);
    assert_eq!((failed.code, &*failed.stdout), (1, ""));
    assert!(
        failed.stderr.contains("main.go:1:1: broken"),
        "{}",
        failed.stderr
    );
    machine.program("go", GO);
    machine.run(&["demo"]).is_built_because("404");
}

#[test]
fn each_platform_has_an_archive() {
    for (system, platform) in [
        ("Linux x86_64", "linux-amd64"),
        ("Linux aarch64", "linux-arm64"),
        ("Darwin x86_64", "darwin-amd64"),
        ("Darwin arm64", "darwin-arm64"),
    ] {
        let machine = Machine::new();
        let archive = format!("envtest-v9.9.9-{platform}.tar.gz");
        let bytes = machine.archive();
        if archive != ARCHIVE {
            machine.expect(&archive, &bytes);
        }
        machine.served.lock().unwrap().clear();
        machine.serve(&archive, bytes);
        machine.program("uname", &format!("#!/bin/sh\necho {system}\n"));
        machine.run(&["demo"]).is_published();
        assert_eq!(machine.asked(), [path_of(&archive)]);
    }
    let machine = Machine::new();
    machine.program("uname", "#!/bin/sh\necho Plan9 mips\n");
    machine
        .run(&["demo"])
        .is_built_because("no control plane is published for plan9-mips");
    assert_eq!(machine.asked(), [""; 0]);
}

#[test]
fn kubebuilder_assets_win() {
    let machine = Machine::new();
    let assets = machine.root.path().join("archive/controller-tools/envtest");
    let with = |arguments: &[&str]| {
        let mut command = machine.command(arguments);
        Ended::of(command.env("KUBEBUILDER_ASSETS", &assets).output().unwrap())
    };
    let demo = with(&["demo"]);
    assert_eq!(
        (demo.stdout.trim(), &*demo.stderr),
        (assets.to_str().unwrap(), "")
    );
    let all = with(&[]);
    assert_eq!(all.stdout, demo.stdout);
    assert!(all.stderr.contains(CONTROLLERS), "{}", all.stderr);
    fs::remove_file(assets.join("kubectl")).unwrap();
    let refused = with(&["demo"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("holds no `kubectl`"),
        "{}",
        refused.stderr
    );
    assert_eq!(machine.asked(), [""; 0]);
    assert_eq!(machine.built(), [""; 0]);
}

/// The published archives of this repository's tests are those of the projects that it generates.
#[test]
fn the_checksums_are_those_of_generated_projects() {
    let makefile = repository().join("templates/project/Makefile.tera");
    let makefile = fs::read_to_string(makefile).unwrap();
    let value = |name: &str| {
        let line = makefile
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name} := ")));
        line.unwrap_or_else(|| panic!("the Makefile has no {name}"))
    };
    let version = value("ENVTEST_K8S_VERSION");
    let expected: String = ["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"]
        .map(|platform| {
            let sum = value(&format!("envtest-{platform}"));
            format!("{sum}  envtest-v{version}-{platform}.tar.gz\n")
        })
        .concat();
    let known = repository().join("tests/control-plane/envtest.sha512");
    assert_eq!(fs::read_to_string(known).unwrap(), expected);
}
