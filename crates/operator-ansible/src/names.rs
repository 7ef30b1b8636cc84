//! The names of variables: those of the spec in snake case, by the rules of operator-sdk, and those of the whole object.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

/// The words that are one whatever their case. operator-sdk takes them in a random order, which matters only for a name where one of
/// them begins inside another.
const WORDS: [&str; 3] = ["HTTP", "URL", "IP"];

/// The map with its keys in snake case, those of maps in it, too.
pub(crate) fn map_to_snake(map: &Map<String, Value>) -> Map<String, Value> {
    let entries = map.iter();
    entries
        .map(|(key, value)| (to_snake(key), deep(value)))
        .collect()
}

fn deep(value: &Value) -> Value {
    match value {
        Value::Object(map) => map_to_snake(map).into(),
        Value::Array(list) => list.iter().map(deep).collect(),
        other => other.clone(),
    }
}

/// A name in snake case. One that begins with a capital letter begins with `_` then.
fn to_snake(name: &str) -> String {
    static NUMBERS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"([a-zA-Z])([0-9]+)([a-zA-Z]([0-9]+))").expect("a valid pattern")
    });
    let name = NUMBERS.replace_all(name, "$1 $2 $3");
    let mut name = name.trim_matches(' ').to_owned();
    let Some(first) = name.chars().next() else {
        return name;
    };
    // In a name that is all capitals, no word stands out.
    if name.to_uppercase() != name {
        for word in WORDS {
            name = set_apart(&name, word);
        }
    }
    let mut parts = Vec::new();
    let mut part = String::new();
    for (at, letter) in name.char_indices() {
        // operator-sdk looks at the next byte, not at the next character.
        let next = name.as_bytes().get(at + 1).copied().unwrap_or_default();
        let case_changes = (letter.is_ascii_uppercase() && next.is_ascii_lowercase())
            || (letter.is_ascii_lowercase() && next.is_ascii_uppercase());
        if !part.is_empty() && case_changes {
            if letter.is_ascii_uppercase() {
                parts.push(part.to_lowercase());
                part = letter.to_string();
            } else {
                part.push(letter);
                parts.push(part.to_lowercase());
                part.clear();
            }
        } else if matches!(letter, ' ' | '_' | '-') {
            parts.push(part.to_lowercase());
            part.clear();
        } else {
            part.push(letter);
        }
    }
    parts.push(part.to_lowercase());
    let joined = parts.join("_");
    let begins_with_word = matches!(parts[0].as_str(), "http" | "url" | "ip");
    match first.is_ascii_uppercase() && !begins_with_word {
        true => format!("_{joined}"),
        false => joined,
    }
}

/// Puts `_` around the first place of a word. An `s` after it belongs to it, as a capital letter.
fn set_apart(name: &str, word: &str) -> String {
    let Some(start) = name.find(word) else {
        return name.to_owned();
    };
    let (before, rest) = name.split_at(start);
    let after = &rest[word.len()..];
    if after.is_empty() {
        return format!("{before}_{word}");
    }
    let (word, after) = match after.strip_prefix('s') {
        Some(after) => (format!("{word}S"), after),
        None => (word.to_owned(), after),
    };
    match (before.is_empty(), after.is_empty()) {
        (_, true) => format!("{before}_{word}"),
        (true, false) => format!("{word}_{after}"),
        (false, false) => format!("{before}_{word}_{after}"),
    }
}

/// The name of the variable with the whole object, such as `_cache_example_com_memcached`.
pub(crate) fn of_object(group: &str, kind: &str) -> String {
    let name = format!("_{group}_{}", kind.to_lowercase());
    name.replace(['.', '-'], "_")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_those_of_operator_sdk() {
        for (name, expected) in [
            // What is in snake case stays.
            ("port", "port"),
            ("2026", "2026"),
            ("max_conns", "max_conns"),
            ("_hidden_one", "_hidden_one"),
            // A change of case begins a word, and a capital letter at the start leaves `_`.
            ("replicaCount", "replica_count"),
            ("MaxSurgePercent", "_max_surge_percent"),
            ("_StartAt_Once_forAll", "_start_at_once_for_all"),
            ("JSONData", "_json_data"),
            ("grüßGott", "grüß_gott"),
            // Blanks and hyphens separate words.
            ("some-name", "some_name"),
            ("two words", "two_words"),
            // Digits between letters are apart, unless nothing with a digit follows.
            ("a1b2", "a_1_b2"),
            ("usesK8sNodes", "uses_k8s_nodes"),
            ("count_k8s_nodes", "count_k8s_nodes"),
            // Three words are one, whatever their case.
            ("URL", "url"),
            ("IP", "ip"),
            ("imageURL", "image_url"),
            ("imageURLs", "image_urls"),
            ("imageURLsList", "image_urls_list"),
            ("imageURLslist", "image_urls_list"),
            ("imageURLList", "image_url_list"),
            ("imageURLlist", "image_url_list"),
            ("HTTPsport", "_https_port"),
            ("IPpoolURLCheckHTTP", "ip_pool_url_check_http"),
            // But not in a name that is all capitals.
            ("ALL_OF_ZIP_AND_URLS", "_all_of_zip_and_urls"),
            ("", ""),
        ] {
            assert_eq!(to_snake(name), expected, "{name}");
        }
    }

    #[test]
    fn maps_are_converted_deep() {
        let spec =
            json!({ "oneKey": [{ "twoKey": { "threeKey": "valueStays" } }, [{ "fourKey": 1 }]] });
        let expected = json!({ "one_key": [{ "two_key": { "three_key": "valueStays" } }, [{ "four_key": 1 }]] });
        assert_eq!(deep(&spec), expected);
    }

    #[test]
    fn the_whole_object() {
        assert_eq!(
            of_object("cert-manager.k8s.io", "IssuerX"),
            "_cert_manager_k8s_io_issuerx"
        );
        assert_eq!(of_object("", "Secret"), "__secret");
    }
}
