//! The fork server: a process of Python with Ansible loaded, which forks a process for each run.

use std::{
    collections::{HashMap, VecDeque},
    env,
    ffi::OsString,
    io,
    os::unix::process::CommandExt as _,
    process::{Command as StdCommand, Stdio},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::{UnixListener, UnixStream},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::{Notify, OwnedSemaphorePermit, mpsc, oneshot},
    task::spawn_blocking,
    time::timeout,
};

use crate::{
    error::Error,
    options::AnsibleOptions,
    program::{self, Directory},
};

/// How long Ansible may take to be loaded. It takes a second.
const START: Duration = Duration::from_secs(60);

/// How many of its last lines on standard error the error has, if it does not start.
const LINES: usize = 20;

/// The events of a run, one a line.
pub(crate) type Events = Lines<BufReader<UnixStream>>;

/// How a run ended.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub(crate) struct Ended {
    id: String,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Why it could not begin.
    pub(crate) error: Option<String>,
}

/// What the server says on its standard output.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Message {
    Ready { pid: i32, ansible: String },
    Ended(Ended),
}

/// A fork server that runs. When the last reference is dropped, it ends, with all runs.
pub(crate) struct Server {
    requests: mpsc::UnboundedSender<Value>,
    runs: Arc<Runs>,
    kill: Arc<Notify>,
    /// Its process.
    #[cfg(test)]
    pub(crate) pid: i32,
}

/// The runs that have not ended, by their ids; `None` after the end of the server.
type Runs = Mutex<Option<HashMap<String, Entry>>>;

struct Entry {
    events: Option<oneshot::Sender<Events>>,
    ended: oneshot::Sender<Ended>,
    /// Another run may begin when no process of this one is left.
    _permit: OwnedSemaphorePermit,
}

/// A run that began. If this is dropped before its end, the run is ended.
pub(crate) struct Begun {
    pub(crate) events: oneshot::Receiver<Events>,
    pub(crate) ended: oneshot::Receiver<Ended>,
    id: String,
    server: Arc<Server>,
}

impl Begun {
    /// Ends the run. `ended` says when no process of it is left.
    pub(crate) fn cancel(&self) {
        // After the end of the server, there is nothing to end.
        _ = self.server.requests.send(json!({ "cancel": self.id }));
    }

    /// Ends the server, which does not end the run.
    pub(crate) fn kill_server(&self) {
        self.server.kill.notify_one();
    }
}

/// Says what to do about a Python without Ansible.
fn help(why: String) -> String {
    match why.contains("No module named 'ansible") {
        true => format!(
            "this Python has no ansible-core; `make ansible` installs it for `make run`, and ANSIBLE_PYTHON names another Python: {why}"
        ),
        false => why,
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Server {
    /// Starts a server, and waits until it has loaded Ansible.
    pub(crate) async fn start(options: &AnsibleOptions) -> Result<Arc<Self>, Error> {
        let directory = spawn_blocking(Directory::new).await;
        let directory = directory.map_err(io::Error::other)??;
        let listener = UnixListener::bind(directory.socket())?;
        let mut child = command(options, &directory)
            .spawn()
            .map_err(|error| Error::Start(format!("{}: {error}", options.python.display())))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Error::Start("it has no pipes".to_owned()));
        };
        let mut stdout = BufReader::new(stdout).lines();
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let log = tokio::spawn(log(stderr, last.clone()));
        let ready = timeout(START, stdout.next_line()).await;
        let ready = ready.map(|line| line.ok().flatten());
        let ready = ready.map(|line| line.map(|line| serde_json::from_str(&line)));
        let Ok(Some(Ok(Message::Ready { pid, ansible }))) = ready else {
            _ = child.start_kill();
            _ = timeout(Duration::from_secs(1), log).await;
            directory.kill();
            let lines = last.lock().iter().cloned().collect::<Vec<String>>();
            let late = format!("it is not ready within {START:?}");
            let why = if ready.is_err() {
                late
            } else {
                help(lines.join("\n"))
            };
            return Err(Error::Start(why));
        };
        tracing::info!(pid, version = ansible, "Ansible is loaded");
        let (requests, received) = mpsc::unbounded_channel();
        let server = Self {
            requests,
            runs: Arc::new(Mutex::new(Some(HashMap::new()))),
            kill: Arc::default(),
            #[cfg(test)]
            pid,
        };
        let serving = Serving {
            directory,
            listener,
            child,
            stdout,
            runs: server.runs.clone(),
            kill: server.kill.clone(),
        };
        tokio::spawn(serving.serve(stdin, received));
        Ok(Arc::new(server))
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.runs.lock().is_some()
    }

    /// Begins a run.
    pub(crate) fn begin(
        self: &Arc<Self>,
        mut request: Value,
        permit: OwnedSemaphorePermit,
    ) -> Result<Begun, Error> {
        let id = program::random(8)?;
        request["id"] = id.clone().into();
        let (send_events, events) = oneshot::channel();
        let (send_ended, ended) = oneshot::channel();
        let entry = Entry {
            events: Some(send_events),
            ended: send_ended,
            _permit: permit,
        };
        let mut runs = self.runs.lock();
        let Some(runs) = &mut *runs else {
            return Err(Error::Gone);
        };
        runs.insert(id.clone(), entry);
        // The receiver ends after `runs`.
        _ = self.requests.send(json!({ "run": request }));
        Ok(Begun {
            events,
            ended,
            id,
            server: self.clone(),
        })
    }
}

fn command(options: &AnsibleOptions, directory: &Directory) -> Command {
    let paths = |paths: &[std::path::PathBuf]| {
        // A path with a colon is none for Ansible.
        env::join_paths(paths).unwrap_or_else(|_| OsString::new())
    };
    let mut command = StdCommand::new(&options.python);
    let program = directory.path.join("python/operator_ansible/server.py");
    command.arg("-B").arg(program).arg(&directory.path);
    command.env(program::MARK, &directory.path);
    command.env("ANSIBLE_PIPELINING", "1");
    command.env("ANSIBLE_NOCOLOR", "1");
    command.env("ANSIBLE_COLLECTIONS_PATH", paths(&options.collections_path));
    // Playbooks find the roles of the operator, too.
    let own = std::path::absolute("roles").ok();
    let roles: Vec<_> = options.roles_path.iter().cloned().chain(own).collect();
    command.env("ANSIBLE_ROLES_PATH", paths(&roles));
    command.envs(
        options
            .environment
            .iter()
            .map(|(name, value)| (name, value)),
    );
    // Ctrl-C in a terminal is for the operator, which then ends the runs.
    command.process_group(0);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.into()
}

/// Logs standard error, and keeps its last lines.
async fn log(stderr: ChildStderr, last: Arc<Mutex<VecDeque<String>>>) {
    let mut lines = BufReader::new(stderr).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        tracing::warn!(line, "the fork server of Ansible");
        let mut last = last.lock();
        if last.len() == LINES {
            last.pop_front();
        }
        last.push_back(line);
    }
}

/// What the task of a server has.
struct Serving {
    directory: Directory,
    listener: UnixListener,
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    runs: Arc<Runs>,
    kill: Arc<Notify>,
}

impl Serving {
    /// Serves until the process ends, by itself or because nobody needs it.
    async fn serve(mut self, stdin: ChildStdin, mut requests: mpsc::UnboundedReceiver<Value>) {
        // A write that waits for the process must not hold up what the process says.
        let write = tokio::spawn(async move {
            let mut stdin = stdin;
            while let Some(request) = requests.recv().await {
                let line = format!("{request}\n");
                if stdin.write_all(line.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        loop {
            tokio::select! {
                line = self.stdout.next_line() => match line {
                    Ok(Some(line)) => self.hear(&line),
                    _ => break,
                },
                connection = self.listener.accept() => match connection {
                    Ok((stream, _)) => {
                        tokio::spawn(connect(stream, self.runs.clone()));
                    }
                    Err(error) => tracing::warn!(%error, "the events of a run cannot be received"),
                },
                () = self.kill.notified() => break,
            }
        }
        // A server that ends by itself removes all runs first.
        _ = self.child.start_kill();
        let status = self.child.wait().await;
        write.abort();
        let directory = self.directory;
        _ = spawn_blocking(move || {
            directory.kill();
            drop(directory);
        })
        .await;
        // Who waits for a run learns now that it has ended.
        let left = self.runs.lock().take().unwrap_or_default();
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        tracing::info!(
            runs = left.len(),
            status,
            "the fork server of Ansible ended"
        );
    }

    fn hear(&self, line: &str) {
        match serde_json::from_str(line) {
            Ok(Message::Ended(ended)) => {
                let entry = self
                    .runs
                    .lock()
                    .as_mut()
                    .and_then(|runs| runs.remove(&ended.id));
                if let Some(entry) = entry {
                    // Nobody waits for the end of a cancelled run.
                    _ = entry.ended.send(ended);
                }
            }
            Ok(Message::Ready { .. }) => {}
            Err(error) => tracing::warn!(%error, line, "the fork server of Ansible says"),
        }
    }
}

/// Gives the run of a connection its events.
async fn connect(stream: UnixStream, runs: Arc<Runs>) {
    #[derive(Deserialize)]
    struct Hello {
        id: String,
    }
    let mut lines = BufReader::new(stream).lines();
    let Ok(Some(hello)) = lines.next_line().await else {
        return;
    };
    let Ok(Hello { id }) = serde_json::from_str(&hello) else {
        return;
    };
    let mut runs = runs.lock();
    let entry = runs.as_mut().and_then(|runs| runs.get_mut(&id));
    if let Some(events) = entry.and_then(|entry| entry.events.take()) {
        _ = events.send(lines);
    }
}
