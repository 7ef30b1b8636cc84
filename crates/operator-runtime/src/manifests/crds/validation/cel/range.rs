//! From the least to the most that something may have or cost.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Range {
    pub(super) const UNKNOWN: Self = Self {
        least: 0,
        most: u64::MAX,
    };

    pub(super) const fn exactly(count: u64) -> Self {
        Self {
            least: count,
            most: count,
        }
    }

    /// What parts are added to with [`Self::or`].
    pub(super) fn none_of(count: usize) -> Self {
        let least = if count == 0 { 0 } else { u64::MAX };
        Self { least, most: 0 }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            least: self.least.saturating_add(other.least),
            most: self.most.saturating_add(other.most),
        }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self {
            least: self.least.saturating_mul(other.least),
            most: self.most.saturating_mul(other.most),
        }
    }

    /// Rounded up.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self {
            least: scaled(self.least, factor),
            most: scaled(self.most, factor),
        }
    }

    /// What a tenth of the length of a text costs to read.
    pub(super) fn read(self) -> Self {
        self.scaled(0.1)
    }

    /// What is in one or the other.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }
}

/// 2⁶⁴.
pub(super) const TOO_MUCH: f64 = 18_446_744_073_709_551_616.0;

fn scaled(count: u64, factor: f64) -> u64 {
    // What is too large becomes the largest number.
    (count as f64 * factor).ceil() as u64
}
