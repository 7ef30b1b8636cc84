//! The network: each Pod has a namespace of its own, joined to the machine's by a bridge.

use std::{
    net::Ipv4Addr,
    sync::atomic::{AtomicU16, Ordering},
};

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

/// The address of the machine, as Pods see it.
pub(crate) const GATEWAY: &str = "10.244.0.1";

/// The addresses of Services.
pub(crate) const SERVICES: &str = "10.96.0.0/16";

/// Makes the bridge, and the addresses of Services local to the machine.
///
/// The bridge has a hardware address of its own. Without one, it has that of one of its ports, and loses it when that Pod
/// ends: the other Pods do not reach the machine any more until they ask for the address again.
pub(crate) async fn prepare() -> Result<()> {
    run(
        "ip",
        &format!(
            "link set lo up
link add pods address 02:00:0a:f4:00:01 type bridge
link set pods up
addr add {GATEWAY}/16 dev pods
route add local {SERVICES} dev lo"
        ),
    )
    .await
}

/// The address of the next Pod. An address is used once, so that nothing which remembers it reaches another Pod.
pub(crate) fn next_address() -> Ipv4Addr {
    static NEXT: AtomicU16 = AtomicU16::new(2);
    let [high, low] = NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    Ipv4Addr::new(10, 244, high, low)
}

/// Joins the network namespace of process `holder` to the bridge.
pub(crate) async fn join(holder: u32, address: Ipv4Addr) -> Result<()> {
    let link = link(address);
    run(
        "ip",
        &format!(
            "link add {link} type veth peer name eth0 netns {holder}
link set {link} master pods up"
        ),
    )
    .await?;
    let inside = format!(
        "link set lo up
addr add {address}/16 dev eth0
link set eth0 up
route add default via {GATEWAY}"
    );
    run(&format!("nsenter -t {holder} -n ip"), &inside).await
}

/// Loses what the Pod whose network `holder` has sends to `address`.
pub(crate) async fn lose(holder: u32, address: Ipv4Addr) -> Result<()> {
    let line = format!("route replace blackhole {address}");
    run(&format!("nsenter -t {holder} -n ip"), &line).await
}

/// Takes the Pod with `address` off the bridge.
pub(crate) async fn disconnect(address: Ipv4Addr) -> Result<()> {
    run("ip", &format!("link set {} down", link(address))).await
}

/// Ends what [`lose`] and [`disconnect`] did to a Pod.
pub(crate) async fn heal(holder: u32, address: Ipv4Addr) -> Result<()> {
    run("ip", &format!("link set {} up", link(address))).await?;
    let flush = "route flush type blackhole";
    run(&format!("nsenter -t {holder} -n ip"), flush).await
}

/// The machine's end of a Pod's link.
fn link(address: Ipv4Addr) -> String {
    let [_, _, high, low] = address.octets();
    format!("pod{high}-{low}")
}

/// Runs lines of ip(8).
async fn run(ip: &str, lines: &str) -> Result<()> {
    let script = format!("{ip} -batch - <<'EOF'\n{lines}\nEOF");
    let output = Command::new("sh").args(["-c", &script]).output().await;
    let output = output.context("cannot run `ip`")?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`ip` failed: {error}\n{lines}");
    Ok(())
}
