//! Paths in JSON texts, in Kubernetes' notation.

use memchr::memchr2;

/// The path after the first `end` bytes of a JSON text, such as `spec.ports[0].name`: of the value that
/// ends there, or that contains the position. Takes time linear in `end`, and no memory for skipped values.
pub(crate) fn path(text: &[u8], end: usize) -> String {
    let text = &text[..end.min(text.len())];
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut key = false;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'{' => {
                steps.push(Step::Key(b""));
                key = true;
            }
            b'[' => steps.push(Step::Index(0)),
            b'}' | b']' => _ = steps.pop(),
            // The last byte may follow the value.
            b',' if at < text.len() => match steps.last_mut() {
                Some(Step::Index(index)) => *index += 1,
                _ => key = true,
            },
            b'"' => {
                let begin = at;
                at = loop {
                    let rest = text.get(at..).unwrap_or_default();
                    match memchr2(b'"', b'\\', rest) {
                        None => break text.len(),
                        Some(skipped) if rest[skipped] == b'"' => break at + skipped,
                        Some(skipped) => at += skipped + 2,
                    }
                };
                let string = &text[begin..at];
                at += 1;
                if key && let Some(Step::Key(current)) = steps.last_mut() {
                    *current = string;
                    key = false;
                }
            }
            _ => {}
        }
    }
    let mut path = String::new();
    for step in steps {
        step.add_to(&mut path);
    }
    path
}

/// One step of a path.
pub(crate) enum Step<'a> {
    /// Empty before the first key.
    Key(&'a [u8]),
    Index(usize),
}

impl Step<'_> {
    /// Formats like Kubernetes: field names after a dot, other keys in brackets.
    pub(crate) fn add_to(&self, path: &mut String) {
        let part = match self {
            Step::Key(b"") => return,
            Step::Key(key) => {
                let key = String::from_utf8_lossy(key);
                if key
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
                {
                    let dot = if path.is_empty() { "" } else { "." };
                    format!("{dot}{key}")
                } else {
                    format!("[{key}]")
                }
            }
            Step::Index(index) => format!("[{index}]"),
        };
        path.push_str(&part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_in_any_text() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..10_000 {
            let bytes = b"{}[]\",:\\ax1";
            let text: Vec<u8> = (0..30)
                .map(|_| bytes[random.usize(..bytes.len())])
                .collect();
            path(&text, random.usize(..40));
        }
    }
}
