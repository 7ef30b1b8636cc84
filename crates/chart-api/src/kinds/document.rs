//! The documents in the text of a template: the lines that say what objects they are.

/// How many kinds one document may have.
const KINDS: usize = 200;

/// How many API versions one kind may have.
const API_VERSIONS: usize = 8;

/// What the text says of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// The API version, if it is a literal.
    pub api_version: Option<String>,
    /// The kind.
    pub kind: String,
}

/// A document that is being read. Where the text branches, it has several kinds or API versions. `P` is the place of a line.
#[derive(Default)]
pub struct Document<P> {
    api_versions: Vec<String>,
    kinds: Vec<(String, Vec<String>, P)>,
    /// Whether it has more than comments.
    has_begun: bool,
    /// Whether the last line is a comment that has not ended.
    is_comment: bool,
}

impl<P: Clone> Document<P> {
    /// Reads a text that follows. Gives the kinds of the documents that end in it.
    pub fn read(&mut self, text: &str, place: impl Fn() -> P) -> Vec<(Kind, P)>
    where
        P: Default,
    {
        let mut ended = Vec::new();
        for (at, line) in text.lines().enumerate() {
            self.is_comment &= at == 0;
            if line.starts_with("---") {
                ended.append(&mut std::mem::take(self).end());
                continue;
            }
            let start = line.trim_start();
            self.is_comment |= start.starts_with('#');
            self.has_begun |= !(self.is_comment || start.is_empty());
            if let Some(api_version) = literal(line, "apiVersion:") {
                self.api_version(api_version);
            } else if let Some(kind) = literal(line, "kind:")
                && self.kinds.len() < KINDS
            {
                self.kinds
                    .push((kind.to_owned(), self.api_versions.clone(), place()));
            }
        }
        self.is_comment &= !text.ends_with('\n');
        ended
    }

    /// Whether what follows begins an object.
    pub fn is_at_start(&self) -> bool {
        !(self.has_begun || self.is_comment)
    }

    /// The inside of an object, in which none begins.
    pub fn inside() -> Self
    where
        P: Default,
    {
        Self {
            has_begun: true,
            ..Self::default()
        }
    }

    fn api_version(&mut self, api_version: &str) {
        let api_version = api_version.to_owned();
        match self.kinds.last_mut() {
            None if self.api_versions.len() < API_VERSIONS => self.api_versions.push(api_version),
            None => {}
            // The kind stands before its API version.
            Some((_, of_kind, _)) if of_kind.is_empty() => of_kind.push(api_version),
            Some(_) => self.api_versions = vec![api_version],
        }
    }

    /// The kinds of the document.
    pub fn end(self) -> Vec<(Kind, P)> {
        let mut all = Vec::new();
        for (kind, api_versions, place) in self.kinds {
            let of = |api_version| Kind {
                api_version,
                kind: kind.clone(),
            };
            if api_versions.is_empty() {
                all.push((of(None), place.clone()));
            }
            for api_version in api_versions {
                all.push((of(Some(api_version)), place.clone()));
            }
        }
        all
    }
}

/// The value of a line that begins with a key and has a plain word for a value.
fn literal<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    let value = line.strip_prefix(key)?;
    let value = value.split(" #").next()?.trim();
    let value = value.trim_matches(['"', '\'']);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "./-".contains(c);
    (!value.is_empty() && value.chars().all(is_plain)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<String> {
        let mut document = Document::<()>::default();
        let mut all = document.read(text, || ());
        all.append(&mut document.end());
        let shown =
            |(it, ()): (Kind, ())| format!("{} {}", it.api_version.unwrap_or_default(), it.kind);
        all.into_iter().map(shown).collect()
    }

    #[test]
    fn an_object_begins_behind_comments() {
        for (texts, is_at_start) in [
            (&[][..], true),
            (&["\n  # a\n", "---\n"], true),
            (&["kind: A\n---\n"], true),
            (&["kind: A\n", "\n"], false),
            (&["# a"], false),
            (&["# a", " b"], false),
            (&["# a", " b\n"], true),
            (&["a: "], false),
        ] {
            let mut document = Document::<()>::default();
            for text in texts {
                document.read(text, || ());
            }
            assert_eq!(document.is_at_start(), is_at_start, "{texts:?}");
        }
    }

    #[test]
    fn documents_are_parted() {
        assert_eq!(kinds("apiVersion: v1\nkind: Pod # one\n"), ["v1 Pod"]);
        assert_eq!(
            kinds("kind: \"Pod\"\napiVersion: v1\n---\nkind: Job\n"),
            ["v1 Pod", " Job"]
        );
        assert_eq!(
            kinds("apiVersion: a/v1\napiVersion: a/v2\nkind: A\nspec:\n  kind: B"),
            ["a/v1 A", "a/v2 A"]
        );
        assert_eq!(
            kinds("apiVersion: v1\nkind: A\n\napiVersion: v2\nkind: B"),
            ["v1 A", "v2 B"]
        );
        assert!(kinds("kind: \n").is_empty());
    }
}
