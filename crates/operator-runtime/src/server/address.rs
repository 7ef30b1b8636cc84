//! The bind address of a server, as a flag.

use std::{
    net::{IpAddr, Ipv6Addr, SocketAddr},
    str::FromStr,
};

/// A bind address: `IP:port`, `:port` for all interfaces, or `0` to disable the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub Option<SocketAddr>);

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "0" {
            return Ok(Self(None));
        }
        let address = match text.strip_prefix(':') {
            // The unspecified IPv6 address accepts IPv4 connections, too.
            Some(port) => {
                let any = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
                port.parse().ok().map(|port| SocketAddr::new(any, port))
            }
            None => text.parse().ok(),
        };
        let expected = || "expected `IP:PORT`, `:PORT`, or `0` for none".to_owned();
        address
            .map(|address| Self(Some(address)))
            .ok_or_else(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let cases = [
            ("0", Some(None)),
            (":8081", Some(Some("[::]:8081"))),
            ("127.0.0.1:80", Some(Some("127.0.0.1:80"))),
            ("[::1]:80", Some(Some("[::1]:80"))),
            ("8081", None),
            (":x", None),
            (":70000", None),
            ("", None),
        ];
        for (text, address) in cases {
            let parsed = text.parse::<Address>().ok().map(|address| address.0);
            let address = address.map(|address| address.map(|text| text.parse().unwrap()));
            assert_eq!(parsed, address, "{text}");
        }
    }
}
