//! YAML that anybody may have written.
//!
//! Invariant: reading takes time in proportion to the text. The reader itself refuses 128 levels, but only after it has
//! taken time in the square of how deep brackets are nested.

use serde::{
    Deserialize,
    de::{DeserializeOwned, Error as _},
};
use serde_yaml::{Deserializer, Error, Value};

/// More brackets than prose and patterns leave open, and few enough to be quick.
const DEEPEST: usize = 1_000;

/// Reads a text of one document.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    check(text)?;
    serde_yaml::from_str(text)
}

/// Reads all documents of a text.
pub fn documents(text: &str) -> Result<Vec<Value>, Error> {
    check(text)?;
    Deserializer::from_str(text)
        .map(Value::deserialize)
        .collect()
}

/// Whether no key holds others: the writer cannot write such a text.
pub fn keys_are_words(value: &Value) -> bool {
    match value {
        Value::Mapping(mapping) => mapping
            .iter()
            .all(|(key, value)| !key.is_mapping() && !key.is_sequence() && keys_are_words(value)),
        Value::Sequence(list) => list.iter().all(keys_are_words),
        Value::Tagged(tagged) => keys_are_words(&tagged.value),
        _ => true,
    }
}

fn check(text: &str) -> Result<(), Error> {
    let mut open = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > DEEPEST {
            let line = text.as_bytes()[..at]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
                + 1;
            return Err(Error::custom(format!(
                "more than {DEEPEST} brackets are open in line {line}"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_without_end_are_refused() {
        for open in ["[", "{a: ", "- [", "[\n"] {
            let text = open.repeat(200_000);
            let refused = documents(&text).unwrap_err().to_string();
            assert!(
                refused.starts_with("more than 1000 brackets are open in line"),
                "{refused}"
            );
            assert!(read::<Value>(&text).is_err());
        }
        assert_eq!(documents("a: [1]\n---\n[]\n").unwrap().len(), 2);
        assert_eq!(read::<Vec<u8>>("[1, 2]").unwrap(), [1, 2]);
        // Half-open intervals in a description.
        let prose = format!("a: '{}'\n", "[0, 1) ".repeat(900));
        assert!(read::<Value>(&prose).is_ok());
    }
}
