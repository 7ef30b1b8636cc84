//! Helm's library, which a program in Go calls.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Mutex, OnceLock, PoisonError},
};

use serde_json::{Value, json};

struct Oracle {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Oracle {
    fn start() -> Self {
        static PROGRAM: OnceLock<String> = OnceLock::new();
        let program = PROGRAM.get_or_init(|| script("build.sh", &["oracle"]).trim().to_owned());
        let mut process = Command::new(program)
            .env_remove("KUBECONFIG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A stack that is too deep is printed in thousands of lines.
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self {
            process,
            input,
            output,
        }
    }

    /// The answer to a request, or `None` if the program ended instead.
    fn ask(&mut self, request: &Value) -> Option<Value> {
        writeln!(self.input, "{request}").ok()?;
        self.input.flush().ok()?;
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
        }
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What Helm's library answers. See `tests/helm/oracle/main.go` for the requests. One that ends the program, as a stack that is too
/// deep does, is answered with an error.
pub fn ask(request: &Value) -> Value {
    static ORACLE: Mutex<Option<Oracle>> = Mutex::new(None);
    let mut oracle = ORACLE.lock().unwrap_or_else(PoisonError::into_inner);
    let answer = oracle.get_or_insert_with(Oracle::start).ask(request);
    answer.unwrap_or_else(|| {
        *oracle = None;
        json!({"error": "Helm ended"})
    })
}

/// The text of a template that sees data as `.Values`.
pub fn template(text: &str, data: &Value) -> Result<String, String> {
    let answer = ask(&json!({"kind": "template", "template": text, "data": data}));
    match answer["error"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => Ok(answer["text"].as_str().unwrap().to_owned()),
    }
}

pub fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// What a script of `tests/helm` prints.
pub fn script(name: &str, arguments: &[&str]) -> String {
    let mut script = Command::new("sh");
    script.arg(repository().join("tests/helm").join(name));
    run(script.args(arguments).stderr(Stdio::inherit()))
}

pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn requests_are_answered() {
    let answer = |request| ask(&request);
    assert_eq!(
        answer(json!({"kind": "template", "template": "{{ .Values.a }}", "data": {"a": 1}})),
        json!({"text": "1"})
    );
    assert_eq!(
        answer(json!({"kind": "yaml", "value": {"a": [1]}})),
        json!({"text": "a:\n- 1\n"})
    );
    assert_eq!(
        answer(json!({"kind": "parse-yaml", "text": "a: [yes, 0x10]"})),
        json!({"value": {"a": [true, 16]}})
    );
    let failing = json!({"kind": "template", "template": "{{ mustToDuration \"x\" }}"});
    assert!(answer(failing)["error"].is_string());
    assert_eq!(
        answer(json!({"kind": "template", "template": "still there"})),
        json!({"text": "still there"})
    );
}
