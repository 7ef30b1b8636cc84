//! Versions, and what holds for them.

use std::rc::Rc;

use super::{constraint::Constraints, semver::Version, strings::string};
use crate::{
    function::{Functions, Kind},
    value::Value,
};

pub fn add(all: &mut Functions) {
    all.add("semver", &[Kind::String], |_, given| {
        Ok(Value::Object(Rc::new(Version::parse(string(&given[0]))?)))
    });
    all.add("semverCompare", &[Kind::String; 2], |_, given| {
        let constraints = Constraints::parse(string(&given[0]))?;
        Ok(constraints
            .allow(&Version::parse(string(&given[1]))?)
            .into())
    });
}
