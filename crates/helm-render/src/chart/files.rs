//! `.Files`: the files of a chart that are neither templates nor special.

use std::{cell::OnceCell, collections::BTreeMap, rc::Rc, sync::Arc};

use data_encoding::BASE64;

use super::{
    File,
    glob::{self, Glob},
};
use crate::{
    Object, Value,
    go::{number::quote, path, print},
};

/// The files that a template sees, by path.
#[derive(Clone, Default)]
pub struct Files(BTreeMap<String, Rc<Content>>);

/// The bytes of a file, and its text once it was asked for.
struct Content {
    bytes: Arc<[u8]>,
    text: OnceCell<Rc<str>>,
}

impl Content {
    fn text(&self) -> Rc<str> {
        // Go makes one of each byte that is no text.
        let text = || {
            let chunks = self.bytes.utf8_chunks();
            let texts =
                chunks.map(|it| it.valid().to_owned() + &"\u{fffd}".repeat(it.invalid().len()));
            texts.collect::<String>().into()
        };
        self.text.get_or_init(text).clone()
    }
}

impl Files {
    /// The files of a chart.
    pub fn of(files: &[File]) -> Self {
        let content = |file: &File| {
            Rc::new(Content {
                bytes: file.data.clone(),
                text: OnceCell::new(),
            })
        };
        Self(
            files
                .iter()
                .map(|file| (file.name.clone(), content(file)))
                .collect(),
        )
    }

    /// The value of `.Files`.
    pub fn value(self) -> Value {
        Value::Object(Rc::new(self))
    }

    /// The files whose whole path matches a pattern. All match one that cannot be read.
    pub fn glob(&self, pattern: &str) -> Result<Self, String> {
        let glob = match Glob::new(pattern, &['/']) {
            Ok(glob) => Some(glob),
            Err(glob::Wrong::Syntax) => None,
            Err(glob::Wrong::Unsupported(what)) => {
                return Err(format!("pattern {pattern:?} is not supported: {what}"));
            }
        };
        let is_match = |path: &str| glob.as_ref().is_none_or(|glob| glob.is_match(path));
        let files = self.0.iter().filter(|(path, _)| is_match(path));
        let files = files.map(|(path, content)| (path.clone(), content.clone()));
        Ok(Self(files.collect()))
    }

    fn get(&self, path: &str) -> Result<Value, String> {
        match self.0.get(path) {
            Some(content) if std::str::from_utf8(&content.bytes).is_err() => Err(format!(
                "the file {} is no text in UTF-8, which is not supported: GetBytes and AsSecrets take it",
                quote(path)
            )),
            Some(content) => Ok(Value::String(content.text())),
            None => Ok(Value::from("")),
        }
    }

    fn bytes(&self, path: &str) -> Value {
        match self.0.get(path) {
            Some(content) => Value::Bytes(content.bytes.clone()),
            None => Value::Bytes(Arc::from([])),
        }
    }

    fn lines(&self, path: &str) -> Value {
        let Some(content) = self.0.get(path).filter(|it| !it.bytes.is_empty()) else {
            return Value::List(crate::List::of_strings(Vec::<Value>::new()));
        };
        let text = content.text();
        let text = text.strip_suffix('\n').unwrap_or(&text);
        Value::List(crate::List::of_strings(text.split('\n')))
    }

    /// A map in YAML from the last names of the files to what `text` says.
    fn yaml(&self, text: impl Fn(&Content) -> String) -> Result<Value, String> {
        let entries = self.0.iter().map(|(path, content)| {
            let name = path::base(path).to_owned();
            (name, serde_json::Value::String(text(content)))
        });
        let entries = serde_json::Value::Object(entries.collect());
        // Helm hides the error.
        let yaml = crate::yaml::write(&Value::of_json(&entries)).unwrap_or_default();
        Ok(Value::from(yaml.strip_suffix('\n').unwrap_or(&yaml)))
    }
}

impl Object for Files {
    fn type_name(&self) -> &'static str {
        "engine.files"
    }

    fn kind(&self) -> &'static str {
        "map"
    }

    fn weight(&self) -> usize {
        self.0.len()
    }

    fn field(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        Some(match (name, arguments) {
            ("Get", [Value::String(path)]) => self.get(path),
            ("GetBytes", [Value::String(path)]) => Ok(self.bytes(path)),
            ("Lines", [Value::String(path)]) => Ok(self.lines(path)),
            ("Glob", [Value::String(pattern)]) => self.glob(pattern).map(Self::value),
            ("Get" | "GetBytes" | "Lines" | "Glob", [other]) => Err(format!(
                "wrong type for value; expected string; got {}",
                other.type_name()
            )),
            ("Get" | "GetBytes" | "Lines" | "Glob", given) => Err(format!(
                "wrong number of args for {name}: want 1 got {}",
                given.len()
            )),
            ("AsConfig", []) => self.yaml(|content| content.text().to_string()),
            ("AsSecrets", []) => self.yaml(|content| BASE64.encode(&content.bytes)),
            ("AsConfig" | "AsSecrets", given) => Err(format!(
                "wrong number of args for {name}: want 0 got {}",
                given.len()
            )),
            (_, []) => Ok(self.bytes(name)),
            _ => Err(format!("{name} is not a method but has arguments")),
        })
    }

    fn text(&self) -> String {
        let files = self.0.iter().map(|(path, content)| {
            format!(
                "{path}:{}",
                print::any(&Value::Bytes(content.bytes.clone()))
            )
        });
        format!("map[{}]", files.collect::<Vec<_>>().join(" "))
    }

    fn json(&self) -> Option<serde_json::Value> {
        let files = self.0.iter();
        let text = |content: &Content| BASE64.encode(&content.bytes);
        let bytes = |content: &Content| serde_json::Value::from(text(content));
        Some(
            files
                .map(|(path, content)| (path.clone(), bytes(content)))
                .collect(),
        )
    }

    fn entries(&self) -> Option<Vec<(String, Value)>> {
        let bytes = |content: &Content| Value::Bytes(content.bytes.clone());
        let entries = self.0.iter();
        Some(
            entries
                .map(|(path, content)| (path.clone(), bytes(content)))
                .collect(),
        )
    }

    fn is_true(&self) -> bool {
        !self.0.is_empty()
    }
}
