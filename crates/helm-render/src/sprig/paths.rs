//! Paths of files: those with slashes, which are those of the system on Linux, too.

use super::strings::string;
use crate::{
    function::{Functions, Kind},
    value::Value,
};

pub fn add(all: &mut Functions) {
    let mut map = |names: [&str; 2], call: fn(&str) -> Value| {
        for name in names {
            all.add(name, &[Kind::String], move |_, given| {
                Ok(call(string(&given[0])))
            });
        }
    };
    map(["base", "osBase"], |path| base(path).into());
    map(["dir", "osDir"], |path| {
        clean(&path[..path.rfind('/').map_or(0, |at| at + 1)]).into()
    });
    map(["clean", "osClean"], |path| clean(path).into());
    map(["ext", "osExt"], |path| ext(path).into());
    map(["isAbs", "osIsAbs"], |path| path.starts_with('/').into());
}

/// The last element of a path.
fn base(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" if path.is_empty() => ".",
        "" => "/",
        trimmed => &trimmed[trimmed.rfind('/').map_or(0, |at| at + 1)..],
    }
}

/// From the last dot of the last element on.
fn ext(path: &str) -> &str {
    let start = path.rfind('/').map_or(0, |at| at + 1);
    path[start..]
        .rfind('.')
        .map_or("", |at| &path[start + at..])
}

/// The shortest path for the same file, without `.`, `..` and empty elements where that can be.
pub fn clean(path: &str) -> String {
    let is_rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for element in path.split('/') {
        match element {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if is_rooted => {}
            element => kept.push(element),
        }
    }
    let root = if is_rooted { "/" } else { "" };
    match format!("{root}{}", kept.join("/")) {
        empty if empty.is_empty() => ".".to_owned(),
        cleaned => cleaned,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_short() {
        for (path, short) in [
            ("", "."),
            ("a/../..", ".."),
            ("/../a//b/./c/..", "/a/b"),
            ("../../x", "../../x"),
            ("a/b/../../..//", ".."),
            ("/", "/"),
        ] {
            assert_eq!(clean(path), short, "{path}");
        }
    }

    #[test]
    fn last_elements() {
        for (path, last, extension) in [
            ("", ".", ""),
            ("///", "/", ""),
            ("a/b.c/", "b.c", ""),
            ("a.b/c", "c", ""),
            ("x/.tar.gz", ".tar.gz", ".gz"),
        ] {
            assert_eq!((base(path), ext(path)), (last, extension), "{path}");
        }
    }
}
