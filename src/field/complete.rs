//! Completes the text of a field while it is typed.

use super::{markers, types};

/// The texts that `text` may become: with each type, or behind the type with each marker, that starts with its last word.
pub fn completions(text: &str) -> Vec<String> {
    let Some((before, last)) = text.rsplit_once(':') else {
        return Vec::new();
    };
    let words: Vec<String> = match before.contains(':') {
        true => markers().collect(),
        false => {
            let inner = last
                .trim_start_matches("map[string]")
                .trim_start_matches('[');
            let outer = &last[..last.len() - inner.len()];
            types().map(|word| format!("{outer}{word}")).collect()
        }
    };
    let fitting = words.into_iter().filter(|word| word.starts_with(last));
    fitting.map(|word| format!("{before}:{word}")).collect()
}

/// The longest text that all of [`completions`] start with; the first of them if `text` is that long already.
pub fn complete(text: &str) -> Option<String> {
    let all = completions(text);
    let first = all.first()?;
    let is_common = |end: &usize| {
        first
            .get(..*end)
            .is_some_and(|start| all.iter().all(|it| it.starts_with(start)))
    };
    let common = (text.len()..=first.len()).rev().find(is_common)?;
    match common > text.len() {
        true => Some(first[..common].to_owned()),
        false => Some(first.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_completed_as_far_as_it_is_certain() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(complete(text).as_deref(), expected, "{text}");
        };
        check("size", None);
        check("size:in", Some("size:int"));
        check("size:int", Some("size:int32"));
        check("ports:[str", Some("ports:[string"));
        check("ports:map[string]Qu", Some("ports:map[string]Quantity"));
        check("size:int32:mi", Some("size:int32:min"));
        check("size:nothing", None);
    }
}
