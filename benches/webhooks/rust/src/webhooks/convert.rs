use operator_runtime::webhook::Spoke;

use crate::api::{v1, v2};

pub fn spoke() -> Spoke<v1::Cache> {
    Spoke::of::<v2::Cache>()
}

impl From<v2::Cache> for v1::Cache {
    fn from(old: v2::Cache) -> Self {
        let v2::Cache {
            metadata,
            spec,
            status,
        } = old;
        let v2::CacheSpec {
            replicas,
            container,
            memory_mib,
            scheduling,
            backup,
        } = spec;
        let v2::Container {
            image,
            port,
            env,
            resources,
        } = container;
        let v2::Scheduling {
            node_selector,
            tolerations,
        } = scheduling;
        let spec = v1::CacheSpec {
            replicas,
            image,
            port,
            memory_mib,
            env,
            resources,
            node_selector,
            tolerations,
            backup,
        };
        Self {
            metadata,
            spec,
            status,
        }
    }
}

impl From<v1::Cache> for v2::Cache {
    fn from(old: v1::Cache) -> Self {
        let v1::Cache {
            metadata,
            spec,
            status,
        } = old;
        let v1::CacheSpec {
            replicas,
            image,
            port,
            memory_mib,
            env,
            resources,
            node_selector,
            tolerations,
            backup,
        } = spec;
        let container = v2::Container {
            image,
            port,
            env,
            resources,
        };
        let scheduling = v2::Scheduling {
            node_selector,
            tolerations,
        };
        let spec = v2::CacheSpec {
            replicas,
            container,
            memory_mib,
            scheduling,
            backup,
        };
        Self {
            metadata,
            spec,
            status,
        }
    }
}
