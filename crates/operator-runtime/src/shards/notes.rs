//! What a member says about itself, on its Lease.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    str::FromStr,
};

use super::identity::Identity;
use crate::slots::Slots;

/// The annotation with the identity of a member.
pub(crate) const MEMBER: &str = "operator-runtime/member";
/// The annotation with the [`Notes`] of a member.
pub(crate) const SHARDS: &str = "operator-runtime/shards";

/// An assignment that a member has acted on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Acted {
    /// The UID of the object.
    pub(crate) object: String,
    /// The number of the assignment.
    pub(crate) number: u64,
}

/// What a member says about itself. All of it is written at once, in one text: a part alone would mean
/// something else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Notes {
    /// The last assignment that the member has acted on.
    pub(crate) acted: Option<Acted>,
    /// The slots that it has to stop, and has not stopped yet.
    pub(crate) draining: Slots,
    /// The slots whose cache it fills.
    pub(crate) filling: Slots,
    /// It wants to end, and to pass all its slots on before.
    pub(crate) leaving: bool,
}

impl Notes {
    /// The annotations of the Lease of this member.
    pub(crate) fn annotations(&self, identity: &Identity) -> BTreeMap<String, String> {
        BTreeMap::from([
            (MEMBER.to_owned(), identity.to_string()),
            (SHARDS.to_owned(), self.to_string()),
        ])
    }

    /// The number of the last assignment of this object that the member has acted on.
    pub(crate) fn acted_on(&self, object: &str) -> Option<u64> {
        let acted = self.acted.as_ref().filter(|acted| acted.object == object);
        acted.map(|acted| acted.number)
    }
}

impl Display for Notes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            acted,
            draining,
            filling,
            leaving,
        } = self;
        f.write_str("acted-on=")?;
        if let Some(Acted { object, number }) = acted {
            write!(f, "{object}/{number}")?;
        }
        write!(
            f,
            " draining={draining} filling={filling} leaving={leaving}"
        )
    }
}

/// A text is not one that [`Notes`] writes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not written as `acted-on=UID/NUMBER draining=SLOTS filling=SLOTS leaving=false`")]
pub(crate) struct NotNotes(String);

impl FromStr for Notes {
    type Err = NotNotes;

    fn from_str(text: &str) -> Result<Self, NotNotes> {
        let read = || {
            let mut fields = text.split(' ');
            let mut field = |name: &str| fields.next()?.strip_prefix(name)?.strip_prefix('=');
            let acted = match field("acted-on")? {
                "" => None,
                acted => {
                    let (object, number) = acted.split_once('/')?;
                    Some(Acted {
                        object: object.to_owned(),
                        number: number.parse().ok()?,
                    })
                }
            };
            Some(Self {
                acted,
                draining: field("draining")?.parse().ok()?,
                filling: field("filling")?.parse().ok()?,
                leaving: field("leaving")?.parse().ok()?,
            })
        };
        let notes = read().filter(|notes| notes.to_string() == text);
        notes.ok_or_else(|| NotNotes(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let notes = Notes {
            acted: Some(Acted {
                object: "9b2f64b0".to_owned(),
                number: 7,
            }),
            draining: "0-3".parse().unwrap(),
            filling: Slots::NONE,
            leaving: true,
        };
        for (notes, text) in [
            (
                notes.clone(),
                "acted-on=9b2f64b0/7 draining=0-3 filling= leaving=true",
            ),
            (
                Notes::default(),
                "acted-on= draining= filling= leaving=false",
            ),
        ] {
            assert_eq!(notes.to_string(), text);
            assert_eq!(text.parse(), Ok(notes));
        }
        assert_eq!(notes.acted_on("9b2f64b0"), Some(7));
        assert_eq!(notes.acted_on("other"), None);
        let annotations = notes.annotations(&"pod-a_1".parse().unwrap());
        assert_eq!(annotations[MEMBER], "pod-a_1");
        assert_eq!(annotations[SHARDS], notes.to_string());
        for text in [
            "",
            "acted-on= draining= filling=",
            "acted-on= draining= filling= leaving=no",
            "acted-on= filling= draining= leaving=true",
            "acted-on=a draining= filling= leaving=true",
            "acted-on=a/-1 draining= filling= leaving=true",
            "acted-on= draining=a filling= leaving=true",
            "acted-on= draining= filling= leaving=true more",
        ] {
            let error = text.parse::<Notes>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is not")), "{error}");
        }
    }
}
