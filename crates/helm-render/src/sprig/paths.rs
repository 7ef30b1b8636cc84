//! Paths of files: those with slashes, which are those of the system on Linux, too.

use super::strings::string;
use crate::{
    function::{Functions, Kind},
    go::path::{base, clean, extension},
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
    map(["ext", "osExt"], |path| extension(path).into());
    map(["isAbs", "osIsAbs"], |path| path.starts_with('/').into());
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
        for (path, last, ext) in [
            ("", ".", ""),
            ("///", "/", ""),
            ("a/b.c/", "b.c", ""),
            ("a.b/c", "c", ""),
            ("x/.tar.gz", ".tar.gz", ".gz"),
        ] {
            assert_eq!((base(path), extension(path)), (last, ext), "{path}");
        }
    }
}
