//! When a run is due: what it depends on has changed, its period is over, or a failed one is tried again.

use std::time::{Duration, Instant};

use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt as _;
use operator_runtime::{Action, LOW_PRIORITY};

use crate::{
    added::{AnsibleObject, FIRST, Known, LAST, Last},
    dependents::Dependents,
    error::Error,
    events::duration,
    marks, owner,
    reconcile::Reconcile,
    status::RecordedKind,
};

/// After this time, a reconcile that waits for watches looks again.
const WAIT: Duration = Duration::from_secs(10);

impl<K: AnsibleObject> Reconcile<'_, K> {
    /// The time after which an unchanged object is run for.
    pub(crate) fn period(&self) -> Result<Option<Duration>, Error> {
        let annotation = self.object.annotations().get(marks::RECONCILE_PERIOD);
        let period = match annotation {
            None => {
                let own = self.added.automation.period;
                own.unwrap_or(self.shared.runs.options.reconcile_period)
            }
            Some(value) if value == "0" || value == "0s" => Duration::ZERO,
            Some(value) => duration(value).ok_or_else(|| Error::Annotation {
                annotation: marks::RECONCILE_PERIOD,
                value: value.clone(),
            })?,
        };
        Ok(Some(period).filter(|period| !period.is_zero()))
    }

    /// The period, made shorter by up to a tenth, which is always the same for an object: objects that were created at once are not run
    /// for at once.
    pub(crate) fn spread(&self, period: Option<Duration>) -> Option<Duration> {
        let uid = self.object.uid().unwrap_or_default();
        let sum = uid.bytes().fold(0_u32, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(byte.into())
        });
        period.map(|period| period - period / 1000 * (sum % 100))
    }

    /// What to wait for, if there is nothing to run for.
    pub(crate) fn rest(&self, inputs: &str, period: Option<Duration>) -> Option<Action> {
        if let Some(retry) = self.retry(inputs) {
            return Some(retry);
        }
        if self.added.dependents.has_changed(&self.key) {
            return None;
        }
        let last = self.known(|known| known.last.clone());
        let last = match last {
            Some(last) => last,
            None => match self.recall(inputs)? {
                Ok(last) => last,
                Err(wait) => return Some(wait),
            },
        };
        if last.inputs != inputs || last.failures > 0 {
            return None;
        }
        let Some(after) = last.requeue.or(self.spread(period)) else {
            return Some(Action::await_change());
        };
        let left = after
            .checked_sub(last.at.elapsed())
            .filter(|it| !it.is_zero());
        left.map(|left| Action::requeue(left).priority(LOW_PRIORITY))
    }

    /// The pause before a failed run is tried again. A change of the object by the run itself is no reason to try earlier.
    pub(crate) fn retry(&self, inputs: &str) -> Option<Action> {
        let last = self.known(|known| known.last.clone())?;
        if last.failures == 0 || last.inputs != inputs {
            return None;
        }
        let pause = FIRST * 2_u32.saturating_pow((last.failures - 1).min(10));
        let left = pause.min(LAST).checked_sub(last.at.elapsed())?;
        (left > Duration::from_millis(5)).then(|| Action::requeue(left))
    }

    /// The last run of a former process, if it ran for the same and nobody has changed what it created.
    pub(crate) fn recall(&self, inputs: &str) -> Option<Result<Last, Action>> {
        let status = self.object.status()?;
        let record = status.record()?;
        if record.inputs != inputs || !status.holds("Successful") {
            return None;
        }
        let kinds = record.kinds.iter().map(RecordedKind::resource);
        let Some(stores) = self.added.watches.set(&self.object, kinds) else {
            return Some(Err(Action::requeue(WAIT)));
        };
        if self.added.automation.watch_dependents {
            let kind = (K::group(&()), K::kind(&()));
            let objects = stores.iter().flat_map(|store| store.list());
            let is_mine = |metadata: &_| {
                let namespaced = self.key.0.is_some();
                owner::owner_of(metadata, (&kind.0, &kind.1), namespaced).as_ref()
                    == Some(&self.key)
            };
            let objects: Vec<_> = objects.filter(|it| is_mine(&it.metadata)).collect();
            if Dependents::digest(objects.iter().map(|it| &**it)) != record.dependents {
                return None;
            }
        }
        let age = Timestamp::now()
            .as_second()
            .saturating_sub(record.completion);
        let age = Duration::from_secs(age.try_into().unwrap_or_default());
        let last = Last {
            inputs: record.inputs,
            at: Instant::now().checked_sub(age)?,
            requeue: None,
            failures: 0,
        };
        self.known(|known| {
            known.kinds.extend(record.kinds);
            known.last = Some(last.clone());
        });
        Some(Ok(last))
    }

    /// Looks at what is known of the object, or changes it.
    pub(crate) fn known<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        let mut all = self.added.known.lock();
        look(
            all.entry(self.object.uid().unwrap_or_default())
                .or_default(),
        )
    }

    pub(crate) fn remember(&self, inputs: String, requeue: Option<Duration>, failures: u32) {
        let last = Last {
            inputs,
            at: Instant::now(),
            requeue,
            failures,
        };
        self.known(|known| known.last = Some(last));
    }
}
