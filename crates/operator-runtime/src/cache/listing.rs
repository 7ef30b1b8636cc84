//! How a watch gets the objects that exist when it begins: streamed, or in the pages of a list.
//!
//! kube-apiserver streams them as events of the watch (WatchList, on by default since 1.34), so that neither
//! side holds a page in memory. Where that fails, a list follows: progress is better than a reason to wait,
//! as in client-go.

use std::time::Duration;

use kube::{Error, runtime::watcher};

use crate::client::TooLong;

/// Objects per page of a list: a page is in memory twice, as text and decoded.
const PAGE: u32 = 250;

/// The longest silence of a streamed list. An API server whose watch cache lags behind sends nothing until it
/// has caught up, and one that does not know about streams begins an ordinary watch, which never says that the
/// list is complete. A list in pages then comes from etcd.
pub(super) const SILENCE: Duration = Duration::from_secs(5);

/// How the next list is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Listing {
    streams: bool,
    page: u32,
}

/// When the next list is requested, after one failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    AtOnce,
    AfterBackoff,
}

impl Default for Listing {
    fn default() -> Self {
        Self {
            streams: true,
            page: PAGE,
        }
    }
}

impl Listing {
    pub(super) fn config(self, config: watcher::Config) -> watcher::Config {
        match self.streams {
            true => config.streaming_lists(),
            false => config.page_size(self.page),
        }
    }

    pub(super) fn streams(self) -> bool {
        self.streams
    }

    /// Chooses another way after a list that failed, or without an error stopped before its end.
    pub(super) fn fail(&mut self, error: Option<&watcher::Error>) -> Next {
        let refused = |code| matches!(code, 400 | 405 | 422);
        let next = match error {
            None => Next::AtOnce,
            Some(watcher::Error::WatchStartFailed(Error::Api(status))) if refused(status.code) => {
                Next::AtOnce
            }
            Some(error) if !self.streams && self.page > 1 && TooLong::caused(error) => {
                self.page = (self.page / 8).max(1);
                return Next::AtOnce;
            }
            Some(_) => Next::AfterBackoff,
        };
        self.streams = !self.streams;
        next
    }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    fn refused(code: u16) -> watcher::Error {
        let status = Status::failure("refused", "Refused").with_code(code);
        watcher::Error::WatchStartFailed(Error::Api(status.boxed()))
    }

    fn too_long() -> watcher::Error {
        let error = Error::Service(Box::new(TooLong::default()));
        watcher::Error::InitialListFailed(error)
    }

    #[test]
    fn a_list_follows_a_stream_that_fails_and_a_stream_a_list() {
        for (error, next) in [
            (Some(refused(422)), Next::AtOnce),
            (Some(refused(403)), Next::AfterBackoff),
            (Some(refused(410)), Next::AfterBackoff),
            (Some(too_long()), Next::AfterBackoff),
            (None, Next::AtOnce),
        ] {
            let mut listing = Listing::default();
            assert_eq!(listing.fail(error.as_ref()), next, "{error:?}");
            assert!(!listing.streams());
            let error = watcher::Error::NoResourceVersion;
            assert_eq!(listing.fail(Some(&error)), Next::AfterBackoff);
            assert_eq!(listing, Listing::default());
        }
    }

    #[test]
    fn pages_that_are_too_long_get_fewer_objects() {
        let mut listing = Listing::default();
        listing.fail(None);
        for page in [31, 3, 1] {
            assert_eq!(listing.fail(Some(&too_long())), Next::AtOnce);
            let expected = Listing {
                streams: false,
                page,
            };
            assert_eq!(listing, expected);
        }
        // One object that is too long.
        assert_eq!(listing.fail(Some(&too_long())), Next::AfterBackoff);
        assert!(listing.streams());
    }
}
