//! `.helmignore`: which files of a directory do not belong to its chart.

use crate::{
    Error,
    go::path::{self, Pattern},
};

/// The most rules: each is compared with each path.
const MOST: usize = 1_000;

/// The longest rule, in bytes.
const LONGEST: usize = 4_096;

/// The rules of a `.helmignore`.
#[derive(Clone, Debug, Default)]
pub struct Rules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    pattern: Pattern,
    /// It says what stays: all that does not match is ignored.
    is_negative: bool,
    /// Only directories match.
    needs_directory: bool,
    /// The whole path is compared, not only the last name.
    is_path: bool,
}

impl Rules {
    /// Reads a text with a rule on each line.
    ///
    /// # Errors
    /// A pattern has `**`, which Helm does not know, or cannot be read.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut rules = Self::default();
        for line in text.lines() {
            rules.add(line)?;
        }
        Ok(rules)
    }

    /// Adds what Helm always ignores: files in `templates/` whose names begin with a dot.
    pub fn add_defaults(&mut self) {
        let _ = self.add("templates/.?*");
    }

    fn add(&mut self, line: &str) -> Result<(), Error> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if self.0.len() >= MOST || line.len() > LONGEST {
            return Err(Error::new(format!(
                ".helmignore has more than {MOST} rules, or one that is longer than {LONGEST} bytes"
            )));
        }
        if line.contains("**") {
            return Err(Error::new(
                "double-star (**) syntax is not supported".to_owned(),
            ));
        }
        // Helm judges the pattern with what is cut off below.
        Pattern::new(line)
            .matches("abc")
            .map_err(|_| Error::new("syntax error in pattern"))?;
        let (is_negative, rest) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (needs_directory, rest) = match rest.strip_suffix('/') {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let (is_path, rest) = match rest.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (rest.contains('/'), rest),
        };
        self.0.push(Rule {
            pattern: Pattern::new(rest),
            is_negative,
            needs_directory,
            is_path,
        });
        Ok(())
    }

    /// Whether a file is ignored, or a directory that it is in.
    pub fn ignores_file(&self, name: &str) -> bool {
        let mut above = name.match_indices('/').map(|(at, _)| &name[..at]);
        above.any(|directory| self.ignores(directory, true)) || self.ignores(name, false)
    }

    /// Whether a file or a directory is ignored. The first rule that says so counts.
    pub fn ignores(&self, name: &str, is_directory: bool) -> bool {
        if matches!(name, "" | "." | "./") {
            return false;
        }
        self.0.iter().any(|rule| {
            let fits = is_directory || !rule.needs_directory;
            let compared = if rule.is_path { name } else { path::base(name) };
            // Helm tells of a pattern that is wrong, and goes on as if it did not match.
            let matches = || rule.pattern.matches(compared) == Ok(true);
            match rule.is_negative {
                true => !fits || !matches(),
                false => fits && matches(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: &str, name: &str, is_directory: bool, wanted: bool) {
        let rules = Rules::parse(rule).unwrap();
        assert_eq!(rules.ignores(name, is_directory), wanted, "{rule} {name}");
    }

    #[test]
    fn files_in_ignored_directories_are_ignored() {
        let rules = Rules::parse("a/\n*.md").unwrap();
        let ignored = ["a/b/c.yaml", "b/a/c.yaml", "b/c.md"];
        assert!(ignored.iter().all(|name| rules.ignores_file(name)));
        let kept = ["a", "b/c.yaml", "templates/a.yaml"];
        assert!(!kept.iter().any(|name| rules.ignores_file(name)));
    }

    #[test]
    fn files_are_ignored() {
        check("*.md", "a/c.md", false, true);
        check("a/", "a", true, true);
        check("a/", "a", false, false);
        check("/b.txt", "b.txt", false, true);
        check("/b.txt", "a/b.txt", false, false);
        check("a/*.txt", "a/b.txt", false, true);
        check("# c\n\n  *.bak  ", "a.bak", false, true);
        check("!*.txt", "a.md", false, true);
        check("!*.txt", "a.txt", false, false);
        check("!a/", "a.txt", false, true);
        check("*", ".", true, false);
    }

    #[test]
    fn defaults_ignore_hidden_templates() {
        let mut rules = Rules::default();
        rules.add_defaults();
        assert!(rules.ignores("templates/.a", false));
        assert!(!rules.ignores("templates/a", false));
        assert!(!rules.ignores(".a", false));
    }

    #[test]
    fn wrong_rules() {
        for (rule, wanted) in [
            ("a/**", "double-star (**) syntax is not supported"),
            ("[a", "syntax error in pattern"),
        ] {
            let Err(error) = Rules::parse(rule) else {
                panic!("{rule}");
            };
            assert_eq!(error.to_string(), wanted);
        }
    }
}
