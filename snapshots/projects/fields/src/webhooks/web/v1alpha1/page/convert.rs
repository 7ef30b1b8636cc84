// SPDX-License-Identifier: Apache-2.0

use operator_runtime::webhook::Spoke;

use crate::api::web::v1::page as v1;
use crate::api::web::v1alpha1::page as v1alpha1;

/// Declares the conversion of v1alpha1 to the hub, v1, and back.
pub fn spoke() -> Spoke<v1::Page> {
    Spoke::of::<v1alpha1::Page>()
}

// Every field is named: if you add one, this code does not compile until you convert it. An
// annotation keeps the fields of the hub that v1alpha1 lacks, except those in `.drops(&[…])`.

impl From<v1alpha1::Page> for v1::Page {
    fn from(spoke: v1alpha1::Page) -> Self {
        let v1alpha1::PageSpec {
            title,
            source,
            ports,
            modes,
            hosts,
            names,
            labels,
            limits,
            expires,
            timeout,
            interval,
            memory,
            surge,
            extra,
            values,
            rules,
            ratio,
            large,
            policy,
            password,
            selector,
            resources,
            env,
            r#type,
            namespace,
            answer,
            reason,
            matrix,
            greeting,
        } = spoke.spec;
        Self {
            metadata: spoke.metadata,
            spec: v1::PageSpec {
                title,
                source: source.into(),
                ports: ports.into_iter().map(Into::into).collect(),
                modes: modes.into_iter().map(Into::into).collect(),
                hosts,
                names,
                labels,
                limits,
                expires,
                timeout,
                interval,
                memory,
                surge,
                extra,
                values,
                rules,
                ratio,
                large,
                policy: policy.map(Into::into),
                password,
                selector,
                resources,
                env,
                r#type,
                namespace,
                answer: answer.into(),
                reason: reason.map(Into::into),
                matrix,
                greeting,
            },
            status: spoke.status.map(Into::into),
        }
    }
}

impl From<v1::Page> for v1alpha1::Page {
    fn from(hub: v1::Page) -> Self {
        let v1::PageSpec {
            title,
            source,
            ports,
            modes,
            hosts,
            names,
            labels,
            limits,
            expires,
            timeout,
            interval,
            memory,
            surge,
            extra,
            values,
            rules,
            ratio,
            large,
            policy,
            password,
            selector,
            resources,
            env,
            r#type,
            namespace,
            answer,
            reason,
            matrix,
            greeting,
        } = hub.spec;
        Self {
            metadata: hub.metadata,
            spec: v1alpha1::PageSpec {
                title,
                source: source.into(),
                ports: ports.into_iter().map(Into::into).collect(),
                modes: modes.into_iter().map(Into::into).collect(),
                hosts,
                names,
                labels,
                limits,
                expires,
                timeout,
                interval,
                memory,
                surge,
                extra,
                values,
                rules,
                ratio,
                large,
                policy: policy.map(Into::into),
                password,
                selector,
                resources,
                env,
                r#type,
                namespace,
                answer: answer.into(),
                reason: reason.map(Into::into),
                matrix,
                greeting,
            },
            status: hub.status.map(Into::into),
        }
    }
}

impl From<v1alpha1::PageStatus> for v1::PageStatus {
    fn from(spoke: v1alpha1::PageStatus) -> Self {
        let v1alpha1::PageStatus {
            phase,
            policy,
            ports,
            items,
            observed_generation,
            conditions,
        } = spoke;
        Self {
            phase: phase.map(Into::into),
            policy: policy.map(Into::into),
            ports: ports.into_iter().map(Into::into).collect(),
            items: items
                .into_iter()
                .map(|(key, value)| (key, value.into()))
                .collect(),
            observed_generation,
            conditions,
        }
    }
}

impl From<v1::PageStatus> for v1alpha1::PageStatus {
    fn from(hub: v1::PageStatus) -> Self {
        let v1::PageStatus {
            phase,
            policy,
            ports,
            items,
            observed_generation,
            conditions,
        } = hub;
        Self {
            phase: phase.map(Into::into),
            policy: policy.map(Into::into),
            ports: ports.into_iter().map(Into::into).collect(),
            items: items
                .into_iter()
                .map(|(key, value)| (key, value.into()))
                .collect(),
            observed_generation,
            conditions,
        }
    }
}

impl From<v1alpha1::Source> for v1::Source {
    fn from(value: v1alpha1::Source) -> Self {
        let v1alpha1::Source { url, revision } = value;
        Self { url, revision }
    }
}

impl From<v1::Source> for v1alpha1::Source {
    fn from(value: v1::Source) -> Self {
        let v1::Source { url, revision } = value;
        Self { url, revision }
    }
}

impl From<v1alpha1::Port> for v1::Port {
    fn from(value: v1alpha1::Port) -> Self {
        let v1alpha1::Port {
            name,
            number,
            protocol,
        } = value;
        Self {
            name,
            number,
            protocol: protocol.into(),
        }
    }
}

impl From<v1::Port> for v1alpha1::Port {
    fn from(value: v1::Port) -> Self {
        let v1::Port {
            name,
            number,
            protocol,
        } = value;
        Self {
            name,
            number,
            protocol: protocol.into(),
        }
    }
}

impl From<v1alpha1::Mode> for v1::Mode {
    fn from(value: v1alpha1::Mode) -> Self {
        match value {
            v1alpha1::Mode::ReadOnly => Self::ReadOnly,
            v1alpha1::Mode::ReadWrite => Self::ReadWrite,
            v1alpha1::Mode::AB => Self::AB,
        }
    }
}

impl From<v1::Mode> for v1alpha1::Mode {
    fn from(value: v1::Mode) -> Self {
        match value {
            v1::Mode::ReadOnly => Self::ReadOnly,
            v1::Mode::ReadWrite => Self::ReadWrite,
            v1::Mode::AB => Self::AB,
        }
    }
}

impl From<v1alpha1::Policy> for v1::Policy {
    fn from(value: v1alpha1::Policy) -> Self {
        match value {
            v1alpha1::Policy::Fast => Self::Fast,
            v1alpha1::Policy::Slow => Self::Slow,
        }
    }
}

impl From<v1::Policy> for v1alpha1::Policy {
    fn from(value: v1::Policy) -> Self {
        match value {
            v1::Policy::Fast => Self::Fast,
            v1::Policy::Slow => Self::Slow,
        }
    }
}

impl From<v1alpha1::Answer> for v1::Answer {
    fn from(value: v1alpha1::Answer) -> Self {
        match value {
            v1alpha1::Answer::Yes => Self::Yes,
            v1alpha1::Answer::No => Self::No,
            v1alpha1::Answer::On => Self::On,
        }
    }
}

impl From<v1::Answer> for v1alpha1::Answer {
    fn from(value: v1::Answer) -> Self {
        match value {
            v1::Answer::Yes => Self::Yes,
            v1::Answer::No => Self::No,
            v1::Answer::On => Self::On,
        }
    }
}

impl From<v1alpha1::SpecReason> for v1::SpecReason {
    fn from(value: v1alpha1::SpecReason) -> Self {
        match value {
            v1alpha1::SpecReason::A => Self::A,
            v1alpha1::SpecReason::B => Self::B,
        }
    }
}

impl From<v1::SpecReason> for v1alpha1::SpecReason {
    fn from(value: v1::SpecReason) -> Self {
        match value {
            v1::SpecReason::A => Self::A,
            v1::SpecReason::B => Self::B,
        }
    }
}

impl From<v1alpha1::Protocol> for v1::Protocol {
    fn from(value: v1alpha1::Protocol) -> Self {
        match value {
            v1alpha1::Protocol::Tcp => Self::Tcp,
            v1alpha1::Protocol::Udp => Self::Udp,
        }
    }
}

impl From<v1::Protocol> for v1alpha1::Protocol {
    fn from(value: v1::Protocol) -> Self {
        match value {
            v1::Protocol::Tcp => Self::Tcp,
            v1::Protocol::Udp => Self::Udp,
        }
    }
}

impl From<v1alpha1::Phase> for v1::Phase {
    fn from(value: v1alpha1::Phase) -> Self {
        match value {
            v1alpha1::Phase::Pending => Self::Pending,
            v1alpha1::Phase::Ready => Self::Ready,
        }
    }
}

impl From<v1::Phase> for v1alpha1::Phase {
    fn from(value: v1::Phase) -> Self {
        match value {
            v1::Phase::Pending => Self::Pending,
            v1::Phase::Ready => Self::Ready,
        }
    }
}

impl From<v1alpha1::Item> for v1::Item {
    fn from(value: v1alpha1::Item) -> Self {
        let v1alpha1::Item { name } = value;
        Self { name }
    }
}

impl From<v1::Item> for v1alpha1::Item {
    fn from(value: v1::Item) -> Self {
        let v1::Item { name } = value;
        Self { name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Objects generated from the schemas survive the conversion there and back. Where you write a
    /// conversion by hand, also compare a value of each version.
    #[test]
    fn loses_nothing() {
        operator_runtime::fake::round_trip(&spoke());
    }
}
