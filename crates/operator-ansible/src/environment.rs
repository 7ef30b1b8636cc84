//! The variables of operator-sdk for one kind: `PREFIX_KIND_GROUP`.

use std::env;

use operator_runtime::TypedObject;

/// `ANSIBLE_VERBOSITY_KIND_GROUP`.
pub(crate) fn verbosity<K: TypedObject>() -> Option<u8> {
    let name = name("ANSIBLE_VERBOSITY", &K::kind(&()), &K::group(&()));
    read(&name, env::var(&name).ok(), 0..=7)
}

/// The maximum number of concurrent reconciles of a kind by operator-sdk's variable `MAX_CONCURRENT_RECONCILES_KIND_GROUP` of the environment,
/// or by its old name `WORKER_KIND_GROUP`, such as `MAX_CONCURRENT_RECONCILES_MEMCACHED_CACHE_EXAMPLE_COM`. `None` without one, and for a
/// value that is no such number, which is logged. Give it to [`Controller::concurrency`](operator_runtime::Controller::concurrency).
pub fn max_concurrent_reconciles<K: TypedObject>() -> Option<u16> {
    let prefixes = ["MAX_CONCURRENT_RECONCILES", "WORKER"];
    let mut names = prefixes
        .iter()
        .map(|it| name(it, &K::kind(&()), &K::group(&())));
    names.find_map(|name| read(&name, env::var(&name).ok(), 1..=u16::MAX))
}

fn name(prefix: &str, kind: &str, group: &str) -> String {
    format!("{prefix}_{kind}_{group}")
        .replace('.', "_")
        .to_uppercase()
}

/// The number in a variable, if it is a permitted one.
fn read<T>(name: &str, value: Option<String>, permitted: std::ops::RangeInclusive<T>) -> Option<T>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Debug,
{
    let value = value?;
    let number = value
        .trim()
        .parse()
        .ok()
        .filter(|it| permitted.contains(it));
    if number.is_none() {
        tracing::warn!(
            name,
            value,
            ?permitted,
            "the variable is no number from the permitted range, and is ignored"
        );
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_operator_sdk() {
        assert_eq!(
            name("ANSIBLE_VERBOSITY", "MemCached", "cache.example.com"),
            "ANSIBLE_VERBOSITY_MEMCACHED_CACHE_EXAMPLE_COM"
        );
        assert_eq!(name("WORKER", "Secret", ""), "WORKER_SECRET_");
    }

    #[test]
    fn what_is_no_permitted_number_is_ignored() {
        for (value, expected) in [
            (None, None),
            (Some("4"), Some(4)),
            (Some(" 0 "), Some(0)),
            (Some("8"), None),
            (Some("-1"), None),
            (Some("many"), None),
            (Some(""), None),
        ] {
            let found = read("X", value.map(str::to_owned), 0..=7_u8);
            assert_eq!(found, expected, "{value:?}");
        }
    }
}
