//! Services: names in the hosts file, and a TCP proxy behind each cluster IP.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::SocketAddr,
    path::Path,
    sync::Arc,
    time::Duration,
};

use anyhow::Result;
use futures::StreamExt;
use k8s_openapi::api::{
    core::v1::Service,
    discovery::v1::{Endpoint, EndpointSlice},
};
use kube::{
    Api, Client, ResourceExt,
    runtime::{
        WatchStreamExt,
        reflector::{self, Store},
        watcher,
    },
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
    time::timeout,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

const SERVICE: &str = "kubernetes.io/service-name";

/// The Services of the cluster.
#[derive(Clone)]
struct Services {
    services: Store<Service>,
    slices: Store<EndpointSlice>,
}

/// What a proxy leads to: a port of a Service.
#[derive(Clone, Debug, PartialEq)]
struct Target {
    namespace: String,
    name: String,
    port: Option<String>,
}

/// Follows the Services, for as long as the machine runs. `hosts` is the hosts file of the machine and of each container.
pub(crate) async fn run(client: Client, hosts: &Path) -> Result<()> {
    let changed = Arc::new(Notify::new());
    let services = Services {
        services: follow(client.clone(), &changed),
        slices: follow(client, &changed),
    };
    let mut proxies: BTreeMap<SocketAddr, (Target, JoinHandle<()>)> = BTreeMap::new();
    loop {
        // The same file, not a new one: containers have it by a bind mount.
        let text = services.hosts();
        if fs::read_to_string(hosts).is_ok_and(|old| old != text) {
            fs::write(hosts, text)?;
        }
        let wanted = services.targets();
        for (address, (target, proxy)) in std::mem::take(&mut proxies) {
            if wanted.get(&address) == Some(&target) {
                proxies.insert(address, (target, proxy));
                continue;
            }
            proxy.abort();
            // The address is free only when the task has ended.
            _ = proxy.await;
        }
        for (address, target) in wanted {
            if proxies.contains_key(&address) {
                continue;
            }
            let listener = match TcpListener::bind(address).await {
                Ok(listener) => listener,
                // No reason to stop serving the others. The next change of any Service tries again.
                Err(error) => {
                    eprintln!("process-node: cannot listen on {address}: {error}");
                    continue;
                }
            };
            let proxy = tokio::spawn(serve(listener, services.clone(), target.clone()));
            proxies.insert(address, (target, proxy));
        }
        changed.notified().await;
    }
}

fn follow<K>(client: Client, changed: &Arc<Notify>) -> Store<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + Send + Sync + 'static,
    K: serde::de::DeserializeOwned,
{
    let (store, writer) = reflector::store();
    let changed = changed.clone();
    let events = watcher(Api::<K>::all(client), watcher::Config::default());
    let events = events.default_backoff().reflect(writer);
    tokio::spawn(events.for_each(move |_| {
        changed.notify_one();
        std::future::ready(())
    }));
    store
}

async fn serve(listener: TcpListener, services: Services, target: Target) {
    while let Ok((mut client, _)) = listener.accept().await {
        let mut addresses = services.endpoints(&target);
        fastrand::shuffle(&mut addresses);
        tokio::spawn(async move {
            for address in addresses {
                let server = timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await;
                if let Ok(Ok(mut server)) = server {
                    _ = copy_bidirectional(&mut client, &mut server).await;
                    return;
                }
            }
        });
    }
}

impl Services {
    /// The addresses to listen on.
    fn targets(&self) -> BTreeMap<SocketAddr, Target> {
        let mut targets = BTreeMap::new();
        for service in self.services.state() {
            let spec = service.spec.clone().unwrap_or_default();
            let Some(Ok(ip)) = spec.cluster_ip.map(|ip| ip.parse()) else {
                continue;
            };
            for port in spec.ports.into_iter().flatten() {
                let Ok(number) = u16::try_from(port.port) else {
                    continue;
                };
                let target = Target {
                    namespace: service.namespace().unwrap_or_default(),
                    name: service.name_any(),
                    port: port.name,
                };
                targets.insert(SocketAddr::new(ip, number), target);
            }
        }
        targets
    }

    /// The ready endpoints of a port.
    fn endpoints(&self, target: &Target) -> Vec<SocketAddr> {
        let mut addresses = Vec::new();
        for slice in self.slices_of(&target.namespace, &target.name) {
            let mut ports = slice.ports.iter().flatten();
            // A port without a name has the name "" in slices.
            let name = target.port.as_deref().unwrap_or_default();
            let port = ports.find(|port| port.name.as_deref().unwrap_or_default() == name);
            let Some(Ok(port)) = port.and_then(|port| port.port).map(u16::try_from) else {
                continue;
            };
            let ready = slice
                .endpoints
                .iter()
                .flatten()
                .filter(|endpoint| is_ready(endpoint));
            let ips = ready.flat_map(|endpoint| &endpoint.addresses);
            addresses.extend(ips.filter_map(|ip| Some(SocketAddr::new(ip.parse().ok()?, port))));
        }
        addresses
    }

    fn slices_of(&self, namespace: &str, service: &str) -> Vec<Arc<EndpointSlice>> {
        let mut slices = self.slices.state();
        slices.retain(|slice| {
            slice.namespace().as_deref() == Some(namespace)
                && slice
                    .labels()
                    .get(SERVICE)
                    .is_some_and(|name| name == service)
        });
        slices
    }

    /// The hosts file: a line for each Service, and for each Pod that a headless Service names.
    fn hosts(&self) -> String {
        let mut lines = BTreeSet::new();
        for service in self.services.state() {
            let (namespace, name) = (service.namespace().unwrap_or_default(), service.name_any());
            let full = format!("{name}.{namespace}.svc");
            let ip = service
                .spec
                .as_ref()
                .and_then(|spec| spec.cluster_ip.as_deref());
            match ip {
                None | Some("") => {}
                Some("None") => {
                    for slice in self.slices_of(&namespace, &name) {
                        for endpoint in slice.endpoints.iter().flatten().filter(|it| is_ready(it)) {
                            let host = endpoint.hostname.as_ref();
                            let host = host.map(|host| line_names(&format!("{host}.{full}")));
                            let names = [host, Some(line_names(&full))].into_iter().flatten();
                            let names: Vec<_> = names.collect();
                            let line = |ip| format!("{ip} {}", names.join(" "));
                            lines.extend(endpoint.addresses.iter().map(line));
                        }
                    }
                }
                Some(ip) => _ = lines.insert(format!("{ip} {}", line_names(&full))),
            }
        }
        let lines: Vec<String> = lines.into_iter().collect();
        format!("127.0.0.1 localhost\n::1 localhost\n{}\n", lines.join("\n"))
    }
}

fn line_names(full: &str) -> String {
    format!("{full} {full}.cluster.local")
}

fn is_ready(endpoint: &Endpoint) -> bool {
    let conditions = endpoint.conditions.as_ref();
    conditions.and_then(|conditions| conditions.ready) != Some(false)
}
