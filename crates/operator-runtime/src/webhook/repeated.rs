//! Log lines about something that lasts.

use std::time::Duration;

use crate::clock::since_boot;

/// The interval between equal lines.
const INTERVAL: Duration = Duration::from_secs(60);

/// Decides when a line is logged: at once if it is a new one, and once a minute while it is the same.
#[derive(Debug, Default)]
pub(crate) struct Repeated(Option<(String, Duration)>);

impl Repeated {
    /// Whether to log `text` now.
    pub(crate) fn is_due(&mut self, text: &str) -> bool {
        self.is_due_at(text, since_boot())
    }

    fn is_due_at(&mut self, text: &str, now: Duration) -> bool {
        let last = self.0.as_ref();
        let due = last.is_none_or(|(last, at)| last != text || now.saturating_sub(*at) >= INTERVAL);
        if due {
            self.0 = Some((text.to_owned(), now));
        }
        due
    }

    /// What lasted is over.
    #[cfg(feature = "self-signed")]
    pub(crate) fn end(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_repeated_once_a_minute() {
        let mut repeated = Repeated::default();
        let mut due = |text, second| repeated.is_due_at(text, Duration::from_secs(second));
        let lines = [
            ("a", 0),
            ("a", 59),
            ("a", 60),
            ("a", 61),
            ("b", 62),
            ("b", 63),
        ];
        let logged = lines.map(|(text, second)| due(text, second));
        assert_eq!(logged, [true, false, true, false, true, false]);
    }
}
