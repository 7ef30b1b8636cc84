//! The due times of runs.

use croner::Cron;
use k8s_openapi::jiff::{SignedDuration, Timestamp, tz::TimeZone};

use crate::api::v1::CronJobSpec;

/// The reason why the due times are unknown.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    #[error("{0}")]
    Unparseable(String),
    #[error(
        "more than {MOST} runs were missed: set or decrease `spec.startingDeadlineSeconds`, or check the clocks"
    )]
    TooManyMissed,
}

/// With more missed runs than this, a wrong clock is more likely.
const MOST: usize = 100;

/// The runs around the current time.
#[derive(Debug, PartialEq)]
pub struct Runs {
    /// The newest run that is due and was not started.
    pub missed: Option<Timestamp>,
    pub next: Timestamp,
}

/// Parses a schedule of five fields.
pub fn parse(schedule: &str) -> Result<Cron, ScheduleError> {
    let fields = schedule.split_whitespace().count();
    if fields != 5 {
        let text = format!("Expected exactly 5 fields, found {fields}: {schedule}");
        return Err(ScheduleError::Unparseable(text));
    }
    let cron = schedule.parse();
    cron.map_err(|error: croner::errors::CronError| ScheduleError::Unparseable(error.to_string()))
}

/// The runs after `last`, which is the previous run, or the creation of the CronJob.
pub fn runs(spec: &CronJobSpec, last: Timestamp, now: Timestamp) -> Result<Runs, ScheduleError> {
    let cron = parse(&spec.schedule)?;
    let after = |time: Timestamp| {
        let time = cron.find_next_occurrence(&time.to_zoned(TimeZone::UTC), false);
        time.map(|time| time.timestamp())
            .map_err(|error| ScheduleError::Unparseable(error.to_string()))
    };
    let deadline = spec.starting_deadline_seconds;
    let earliest = deadline.and_then(|seconds| {
        let deadline = SignedDuration::from_secs(seconds);
        now.checked_sub(deadline).ok()
    });
    let mut missed = None;
    let mut run = after(earliest.map_or(last, |earliest| earliest.max(last)))?;
    let mut count = 0;
    while run <= now {
        missed = Some(run);
        count += 1;
        if count > MOST {
            return Err(ScheduleError::TooManyMissed);
        }
        run = after(run)?;
    }
    Ok(Runs { missed, next: run })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::batch::v1::JobTemplateSpec;

    use super::*;

    fn time(text: &str) -> Timestamp {
        format!("2030-01-01T{text}Z").parse().unwrap()
    }

    fn spec(schedule: &str, starting_deadline_seconds: Option<i64>) -> CronJobSpec {
        CronJobSpec {
            schedule: schedule.to_owned(),
            starting_deadline_seconds,
            concurrency_policy: None,
            suspend: None,
            job_template: JobTemplateSpec::default(),
            successful_jobs_history_limit: None,
            failed_jobs_history_limit: None,
        }
    }

    #[test]
    fn runs_are_found_between_the_last_one_and_now() {
        for (schedule, deadline, last, now, missed, next) in [
            (
                "*/10 * * * *",
                None,
                "10:00:00",
                "10:09:59",
                None,
                "10:10:00",
            ),
            (
                "*/10 * * * *",
                None,
                "10:00:00",
                "10:10:00",
                Some("10:10:00"),
                "10:20:00",
            ),
            (
                "*/10 * * * *",
                None,
                "10:00:00",
                "10:45:00",
                Some("10:40:00"),
                "10:50:00",
            ),
            // A run after its deadline is skipped.
            (
                "*/10 * * * *",
                Some(300),
                "10:00:00",
                "10:46:00",
                None,
                "10:50:00",
            ),
            (
                "*/10 * * * *",
                Some(300),
                "10:00:00",
                "10:44:00",
                Some("10:40:00"),
                "10:50:00",
            ),
            // A clock that is behind.
            (
                "*/10 * * * *",
                None,
                "10:30:00",
                "10:05:00",
                None,
                "10:40:00",
            ),
        ] {
            let found = runs(&spec(schedule, deadline), time(last), time(now)).unwrap();
            let missed = missed.map(time);
            assert_eq!(
                found,
                Runs {
                    missed,
                    next: time(next)
                },
                "{last} {now} {deadline:?}"
            );
        }
    }

    #[test]
    fn too_many_missed_runs_are_an_error() {
        let minutely = |deadline| {
            runs(
                &spec("* * * * *", deadline),
                time("10:00:00"),
                time("12:00:00"),
            )
        };
        assert_eq!(minutely(None), Err(ScheduleError::TooManyMissed));
        assert_eq!(minutely(Some(90)).unwrap().missed, Some(time("12:00:00")));
    }

    #[test]
    fn an_invalid_schedule_is_refused() {
        for (schedule, expected) in [
            (
                "invalid-cron-schedule",
                "Expected exactly 5 fields, found 1: invalid-cron-schedule",
            ),
            ("", "Expected exactly 5 fields, found 0: "),
            (
                "* * * * * *",
                "Expected exactly 5 fields, found 6: * * * * * *",
            ),
            ("99 * * * *", "Component error"),
        ] {
            let error = parse(schedule).unwrap_err().to_string();
            assert!(error.contains(expected), "{schedule}: {error}");
        }
        for schedule in ["*/5 * * * *", "0 0 * * *", "1 2-3 4,5 JAN mon"] {
            parse(schedule).unwrap();
        }
    }
}
