//! The revision before one that failed is installed again, for charts with [`with_rollback`](crate::Chart::with_rollback).

use std::{sync::Arc, time::Instant};

use kube::runtime::events::EventType;
use operator_runtime::{Action, in_one_line};

use crate::{
    error::Error,
    release::{Run, WAIT},
    releases::ReleaseObject,
    rendering::{self, Rendering},
};

impl<K: ReleaseObject> Run<'_, K> {
    /// Installs the last revision that was installed whole again. `None` if there is none, or if nothing is kept of it.
    ///
    /// # Errors
    /// As [`hold`](Self::hold).
    pub(crate) async fn roll_back(&mut self, error: &Error) -> Result<Option<Action>, Error> {
        if !self.installed.chart.rolls_back {
            return Ok(None);
        }
        if self.installed_rendering().await?.is_none() {
            return Ok(None);
        }
        let revision = self.status.revision.unwrap_or_default();
        let why = format!(
            "{}; revision {revision} is installed again",
            in_one_line(error)
        );
        if let Some(pending) = &mut self.status.pending {
            pending.rolled_back = Some(why.clone());
        }
        self.is_new = false;
        // Before anything is applied: if the API server refuses an object of it, or the operator ends, the new revision must not be
        // tried again, by turns with this one.
        self.save().await?;
        // What differs now, nobody else has changed.
        self.known(|known| known.is_applied = false);
        self.publish(EventType::Warning, "RolledBack", &why).await;
        self.hold().await.map(Some)
    }

    /// Keeps the installed revision as it is, until other values come than those that failed.
    ///
    /// # Errors
    /// The API server refuses an object of it; nothing is kept of the revision any more.
    pub(crate) async fn hold(&mut self) -> Result<Action, Error> {
        let Some(rendering) = self.installed_rendering().await? else {
            return Err(Error::Lost(self.owner().secret_name()));
        };
        let Some(stores) = self.stores(&rendering).await? else {
            return Ok(Action::requeue(WAIT));
        };
        if let Some(pause) = self.known(|known| known.fight.pause(Instant::now())) {
            return Ok(Action::requeue(pause));
        }
        let applied = self.apply(&rendering, &stores, false).await;
        let are_gone = self.prune(&rendering).await?;
        let (drifted, refused) = match applied {
            Ok(drifted) => (drifted, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let pending = self.status.pending.as_ref();
        let why = pending.and_then(|it| it.rolled_back.clone());
        self.report_installed(&rendering, &stores, drifted, why)
            .await?;
        match refused {
            Some(error) => Err(error),
            None => Ok(self.next_look(are_gone)),
        }
    }

    /// What was rendered for the installed revision. The values that it had are no longer known.
    pub(crate) async fn installed_rendering(&self) -> Result<Option<Arc<Rendering>>, Error> {
        let (Some(installed), Some(inputs)) = (self.status.installed(), &self.status.inputs) else {
            return Ok(None);
        };
        let of = self
            .inputs(inputs, installed.revision, installed.upgrade)
            .await?;
        let known = self.known(|known| known.rendering.clone());
        if let Some(known) = known.filter(|known| known.of.is_same_but_for_cluster(&of)) {
            return Ok(Some(known));
        }
        let Some(kept) = self.owner().kept(&of).await? else {
            return Ok(None);
        };
        let kept = Arc::new(rendering::of_kept(self.installed.chart, of, &kept)?);
        // Whoever can write Secrets must not choose what is applied.
        if kept.digest != installed.digest {
            return Ok(None);
        }
        self.known(|known| known.rendering = Some(kept.clone()));
        Ok(Some(kept))
    }
}
