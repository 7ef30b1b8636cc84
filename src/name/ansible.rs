//! What Ansible runs: a role or a playbook of the project, or a role of a collection.

use super::rust::is_device;
use super::{AnsiblePath, Invalid};

/// The rule for what Ansible runs.
pub const RULE: &str = "it is `roles/NAME`, `playbooks/NAME.yml` or `NAMESPACE.COLLECTION.ROLE`: letters, digits, `-`, `_` and `.`, starting and ending with a letter or digit, at most 58 characters in all, and no device of Windows";

/// The directory of all roles.
const ROLES: &str = "roles/";

/// The directory of all playbooks.
const PLAYBOOKS: &str = "playbooks/";

/// The extensions of playbooks.
const EXTENSIONS: [&str; 2] = [".yml", ".yaml"];

/// The fault of what Ansible runs.
pub fn fault(text: &str) -> Option<String> {
    let length = text.chars().count();
    let most = AnsiblePath::MAX;
    let is_long = length > most;
    shape_fault(text)
        .or_else(|| is_long.then(|| format!("it has {length} characters, {most} are allowed")))
}

fn shape_fault(text: &str) -> Option<String> {
    if let Some(name) = text.strip_prefix(ROLES) {
        return name_fault(name);
    }
    if let Some(file) = text.strip_prefix(PLAYBOOKS) {
        return match EXTENSIONS.iter().find_map(|it| file.strip_suffix(it)) {
            Some(name) => name_fault(name),
            None => Some("a playbook ends with `.yml` or `.yaml`".to_owned()),
        };
    }
    let words: Vec<&str> = text.split('.').collect();
    match words[..] {
        _ if text.contains('/') => Some(format!(
            "it starts with neither `{ROLES}` nor `{PLAYBOOKS}`"
        )),
        [_, _, _] if words.iter().all(|word| is_word(word)) => None,
        _ => Some("it is neither a path nor a role of a collection".to_owned()),
    }
}

/// Whether it can be a part of the name of a role of a collection (Ansible, "Using collections").
fn is_word(word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && word.chars().all(is_letter)
}

fn name_fault(name: &str) -> Option<String> {
    let is_odd = |c: &char| !(c.is_ascii_alphanumeric() || "-_.".contains(*c));
    Some(match name.chars().find(is_odd) {
        _ if name.is_empty() => "the name is missing".to_owned(),
        Some(c) if c.is_control() => "it contains a control character".to_owned(),
        Some(c) => format!("`{c}` is not allowed"),
        None if name.starts_with(is_mark) => format!("`{name}` starts with no letter or digit"),
        None if name.ends_with(is_mark) => format!("`{name}` ends with no letter or digit"),
        None if is_device(name.split('.').next().unwrap_or(name)) => {
            format!("`{name}` is a device of Windows")
        }
        None => return None,
    })
}

/// The nearest role or playbook; empty if nothing is left.
pub fn like(text: &str) -> String {
    let file = text.rsplit('/').next().unwrap_or(text);
    let playbook = EXTENSIONS
        .iter()
        .find_map(|it| Some((file.strip_suffix(it)?, *it)));
    let (directory, name, extension) = match playbook {
        Some((name, extension)) => (PLAYBOOKS, name, extension),
        None => (ROLES, file, ""),
    };
    let is_odd = |c: char| !(c.is_ascii_alphanumeric() || "_.".contains(c));
    let name = name.replace(is_odd, "-");
    let name = name.trim_start_matches(is_mark).chars();
    let most = AnsiblePath::MAX - directory.len() - extension.len();
    let name: String = name.take(most).collect();
    let path = format!("{directory}{}{extension}", name.trim_end_matches(is_mark));
    match fault(&path) {
        None => path,
        Some(_) => String::new(),
    }
}

fn is_mark(c: char) -> bool {
    "-_.".contains(c)
}

impl AnsiblePath {
    /// The longest text: with it, rustfmt leaves the call that has it on one line.
    pub const MAX: usize = 58;

    /// The role of this name in the project.
    ///
    /// Errors: the name is not valid.
    pub fn of_role(name: &str) -> Result<Self, Invalid> {
        format!("{ROLES}{name}").parse()
    }

    /// The playbook with this file name in the project.
    ///
    /// Errors: the name is not valid.
    pub fn of_playbook(file: &str) -> Result<Self, Invalid> {
        format!("{PLAYBOOKS}{file}").parse()
    }

    /// Whether it is a playbook.
    pub fn is_playbook(&self) -> bool {
        self.0.starts_with(PLAYBOOKS)
    }

    /// Whether it is in the project: a role of a collection is not.
    pub fn is_local(&self) -> bool {
        self.is_playbook() || self.0.starts_with(ROLES)
    }

    /// `role` or `playbook`.
    pub fn word(&self) -> &'static str {
        match self.is_playbook() {
            true => "playbook",
            false => "role",
        }
    }

    /// The name of the role, the path of the playbook, or the role of a collection, as `watches.yaml` has them.
    pub fn name(&self) -> &str {
        self.0.strip_prefix(ROLES).unwrap_or(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_playbooks() {
        #[track_caller]
        fn check(text: &str, expected: Result<(), (&str, Option<&str>)>) {
            let invalid = text.parse::<AnsiblePath>().map(|_| ());
            let found = invalid.map_err(|it| (it.fault, it.suggestion));
            let expected = expected
                .map_err(|(fault, suggestion)| (fault.to_owned(), suggestion.map(str::to_owned)));
            assert_eq!(found, expected, "{text}");
        }
        for path in [
            "roles/a",
            "roles/3-A.b_c",
            "playbooks/a.yml",
            "playbooks/a.b.yaml",
            "example.cache.memcached",
        ] {
            check(path, Ok(()));
        }
        let neither = "it starts with neither `roles/` nor `playbooks/`";
        check("a/b", Err((neither, Some("roles/b"))));
        check("../a.yml", Err((neither, Some("playbooks/a.yml"))));
        let no_path = "it is neither a path nor a role of a collection";
        check("memcached", Err((no_path, Some("roles/memcached"))));
        check("a.yml", Err((no_path, Some("playbooks/a.yml"))));
        check("a.b.3", Err((no_path, Some("roles/a.b.3"))));
        check("roles/", Err(("the name is missing", None)));
        check("roles/a/b", Err(("`/` is not allowed", Some("roles/b"))));
        check(
            "roles/..",
            Err(("`..` starts with no letter or digit", None)),
        );
        check("roles/nul.x", Err(("`nul.x` is a device of Windows", None)));
        let extension = "a playbook ends with `.yml` or `.yaml`";
        check("playbooks/a", Err((extension, Some("roles/a"))));
        let long = format!("roles/{}", "a".repeat(53));
        let short = format!("roles/{}", "a".repeat(52));
        let too_long = "it has 59 characters, 58 are allowed";
        check(&long, Err((too_long, Some(&short))));
    }
}
