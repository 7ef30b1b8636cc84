//! Points in time with a zone, as Go's `time.Time` is one.

use jiff::{Timestamp, tz::TimeZone};

use super::durations;

/// A zone.
#[derive(Clone, Debug, PartialEq)]
pub enum Zone {
    /// UTC.
    Utc,
    /// A zone of the database, or that of this machine.
    Named(TimeZone),
    /// One of an offset in seconds that a text had, with its name, which may be empty.
    Fixed(i32, String),
}

impl Zone {
    /// The zone of this machine.
    pub fn local() -> Self {
        let zone = TimeZone::system();
        match zone.is_unknown() || zone == TimeZone::UTC {
            true => Self::Utc,
            false => Self::Named(zone),
        }
    }

    /// The zone of a name; UTC if there is none.
    pub fn named(name: &str) -> Self {
        match name {
            "Local" => Self::local(),
            "" | "UTC" => Self::Utc,
            name => match TimeZone::get(name) {
                // The names have the case of the files that Go reads.
                Ok(zone) if zone.iana_name() == Some(name) => Self::Named(zone),
                _ => Self::Utc,
            },
        }
    }

    /// The seconds east of UTC at a time, and the name that the zone has then.
    pub fn at(&self, unix: i64) -> (i64, String) {
        match self {
            Self::Utc => (0, "UTC".to_owned()),
            Self::Fixed(offset, name) => (i64::from(*offset), name.clone()),
            Self::Named(zone) => {
                let range = Timestamp::MIN.as_second()..=Timestamp::MAX.as_second();
                // The calendar repeats after 400 years, and so do the rules of zones.
                const CYCLE: i64 = 146_097 * 86_400;
                let beyond = unix.saturating_sub(*range.end()).max(0);
                let inside = unix - (beyond.div_euclid(CYCLE) + i64::from(beyond > 0)) * CYCLE;
                let inside = inside.max(*range.start());
                let at = Timestamp::from_second(inside).unwrap_or_default();
                let info = zone.to_offset_info(at);
                (
                    i64::from(info.offset().seconds()),
                    info.abbreviation().to_owned(),
                )
            }
        }
    }
}

/// A point in time.
#[derive(Clone, Debug, PartialEq)]
pub struct Time {
    /// Seconds since 1970.
    pub unix: i64,
    /// Nanoseconds of the second.
    pub nanos: u32,
    /// The zone that it is shown in.
    pub zone: Zone,
}

/// The date and the time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    pub year: i64,
    /// From 1 on.
    pub month: i64,
    pub day: i64,
    /// The day of the year, from 1 on.
    pub yday: i64,
    /// From Sunday on, which is 0.
    pub weekday: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
}

/// Days from 1970-01-01 to a date.
pub fn days_of(year: i64, month: i64, day: i64) -> i64 {
    // A year that starts in March ends with the day that only some years have.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

/// Seconds from the year 1 to 1970: Go counts from there, and its numbers wrap.
const FROM_YEAR_ONE: i64 = 62_135_596_800;

impl Time {
    /// The time of this moment, in the zone of this machine.
    pub fn now() -> Self {
        let now = Timestamp::now().as_nanosecond();
        let second = i128::from(durations::SECOND);
        Self {
            unix: i64::try_from(now.div_euclid(second)).unwrap_or_default(),
            nanos: u32::try_from(now.rem_euclid(second)).unwrap_or_default(),
            zone: Zone::local(),
        }
    }

    /// A time in seconds since 1970, in the zone of this machine.
    pub fn of_unix(unix: i64) -> Self {
        // Beyond the end of Go's numbers, they start again.
        let unix = unix.wrapping_add(FROM_YEAR_ONE).wrapping_sub(FROM_YEAR_ONE);
        Self {
            unix,
            nanos: 0,
            zone: Zone::local(),
        }
    }

    /// The time that is no time: the start of the year 1.
    pub fn zero() -> Self {
        Self {
            unix: -FROM_YEAR_ONE,
            nanos: 0,
            zone: Zone::Utc,
        }
    }

    /// The same time in another zone.
    pub fn in_zone(&self, zone: Zone) -> Self {
        Self {
            zone,
            ..self.clone()
        }
    }

    /// A number of nanoseconds later.
    pub fn plus(&self, nanoseconds: i64) -> Self {
        let nanos = i64::from(self.nanos) + nanoseconds % durations::SECOND;
        let seconds = nanoseconds / durations::SECOND + nanos.div_euclid(durations::SECOND);
        Self {
            unix: self.unix.wrapping_add(seconds),
            nanos: nanos.rem_euclid(durations::SECOND) as u32,
            zone: self.zone.clone(),
        }
    }

    /// The nanoseconds since another time, as far as they fit.
    pub fn since(&self, other: &Self) -> i64 {
        let seconds = i128::from(self.unix) - i128::from(other.unix);
        let all = seconds * i128::from(durations::SECOND) + i128::from(self.nanos)
            - i128::from(other.nanos);
        let end = if all < 0 { i64::MIN } else { i64::MAX };
        i64::try_from(all).unwrap_or(end)
    }

    /// The date and the time of day in its zone.
    pub fn civil(&self) -> Civil {
        let (offset, _) = self.zone.at(self.unix);
        let seconds = i128::from(self.unix.wrapping_add(FROM_YEAR_ONE)) - i128::from(FROM_YEAR_ONE);
        let seconds = seconds + i128::from(offset);
        let days = i64::try_from(seconds.div_euclid(86_400)).unwrap_or_default();
        let of_day = seconds.rem_euclid(86_400) as i64;
        let (year, month, day) = date_of(days);
        Civil {
            year,
            month,
            day,
            yday: days - days_of(year, 1, 1) + 1,
            weekday: (days + 4).rem_euclid(7),
            hour: of_day / 3_600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
        }
    }

    pub fn instant(&self) -> (i64, u32) {
        (self.unix, self.nanos)
    }

    pub fn with_months(&self, years: i64, months: i64, days: i64) -> Option<Self> {
        let civil = self.civil();
        let months = civil.month.checked_add(months)?.checked_sub(1)?;
        let year = civil
            .year
            .checked_add(years)?
            .checked_add(months.div_euclid(12))?;
        let is_sane = |it: i64| it.unsigned_abs() < 100_000_000_000;
        if !is_sane(year) || !is_sane(days) {
            return None;
        }
        let day = days_of(year, months.rem_euclid(12) + 1, 1) + civil.day - 1 + days;
        let of_day = civil.hour * 3_600 + civil.minute * 60 + civil.second;
        let local = day.checked_mul(86_400)?.checked_add(of_day)?;
        Some(Self {
            unix: unix_of(local, &self.zone),
            ..self.clone()
        })
    }
}

/// The seconds since 1970 of a time of day in a zone, given as if the zone were UTC. Where clocks jump, as Go guesses.
pub fn unix_of(local: i64, zone: &Zone) -> i64 {
    let (offset, _) = zone.at(local);
    if offset == 0 {
        return local;
    }
    // The offset at what the clock shows may be that of the other side of a jump.
    let (at_guess, _) = zone.at(local - offset);
    local - at_guess
}
