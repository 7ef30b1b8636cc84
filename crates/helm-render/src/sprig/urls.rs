//! URLs, as Go's package `net/url` has them.

use std::{collections::BTreeMap, net::Ipv6Addr};

use super::strings::string;
use crate::{
    function::{Functions, Kind},
    go::number::quote,
    value::{Map, Value},
};

pub fn add(all: &mut Functions) {
    all.add("urlParse", &[Kind::String], |_, given| {
        let url = string(&given[0]);
        match parse(url) {
            Ok(url) => Ok(Value::Map(Map::new(url))),
            Err(Fault { of, what }) => {
                Err(format!("unable to parse url: parse {}: {what}", quote(&of)))
            }
        }
    });
    all.add("urlJoin", &[Kind::Map], |_, given| match &given[0] {
        Value::Map(map) => join(map).map(Value::from),
        _ => Ok("".into()),
    });
}

/// Why a text is no URL.
struct Fault {
    /// The part that Go names.
    of: String,
    what: String,
}

/// A part of a URL: each has its own signs that need no escape.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    Host,
    Zone,
    User,
    Fragment,
}

fn is_plain(byte: u8, part: Part) -> bool {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return true;
    }
    let signs: &[u8] = match part {
        Part::Host | Part::Zone => b"!$&'()*+,;=:[]<>\"",
        Part::Path => b"$&+,/:;=@",
        Part::User => b"$&+,;=",
        Part::Fragment => b"$&+,/:;=?@!()*",
    };
    signs.contains(&byte)
}

fn escape(text: &str, part: Part) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match is_plain(byte, part) {
            true => escaped.push(char::from(byte)),
            false => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

fn unescape(text: &str, part: Part) -> Result<String, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte != b'%' {
            if matches!(part, Part::Host | Part::Zone) && byte.is_ascii() && !is_plain(byte, part) {
                let sign = quote(&char::from(byte).to_string());
                return Err(format!("invalid character {sign} in host name"));
            }
            out.push(byte);
            at += 1;
            continue;
        }
        let escape = &bytes[at..bytes.len().min(at + 3)];
        let shown = || {
            format!(
                "invalid URL escape {}",
                quote(&String::from_utf8_lossy(escape))
            )
        };
        let value = match escape {
            [_, high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                data_encoding::HEXLOWER_PERMISSIVE
                    .decode(&escape[1..])
                    .map_or(0, |it| it[0])
            }
            _ => return Err(shown()),
        };
        let is_allowed = match part {
            Part::Host => value >= 0x80 || value == b'%',
            Part::Zone => value == b'%' || value == b' ' || is_plain(value, Part::Host),
            _ => true,
        };
        if !is_allowed {
            return Err(shown());
        }
        out.push(value);
        at += 3;
    }
    super::encodings::text_of("urlParse", out)
}

/// The scheme, and what follows it.
fn scheme(url: &str) -> Result<(&str, &str), String> {
    for (at, byte) in url.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&url[..at], &url[at + 1..])),
            _ => break,
        }
    }
    Ok(("", url))
}

fn parse(url: &str) -> Result<BTreeMap<String, Value>, Fault> {
    let (before, fragment) = url.split_once('#').unwrap_or((url, ""));
    let fault = |of: &str, what: String| Fault {
        of: of.to_owned(),
        what,
    };
    let mut parts = before_fragment(before).map_err(|what| fault(before, what))?;
    let fragment = unescape(fragment, Part::Fragment).map_err(|what| fault(url, what))?;
    parts.insert("fragment", fragment);
    let host = parts.get("host").cloned().unwrap_or_default();
    parts.insert("hostname", hostname(&host).to_owned());
    let keys = [
        "scheme", "host", "hostname", "path", "query", "opaque", "fragment", "userinfo",
    ];
    let entry = |key: &str| (key.to_owned(), parts.remove(key).unwrap_or_default().into());
    Ok(keys.map(entry).into())
}

fn before_fragment(url: &str) -> Result<BTreeMap<&'static str, String>, String> {
    if url.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if url == "*" {
        return Ok(BTreeMap::from([("path", url.to_owned())]));
    }
    let (scheme, rest) = scheme(url)?;
    let (mut rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut parts = BTreeMap::from([
        ("scheme", scheme.to_lowercase()),
        ("query", query.to_owned()),
    ]);
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            parts.insert("opaque", rest.to_owned());
            return Ok(parts);
        }
        if rest
            .split('/')
            .next()
            .is_some_and(|segment| segment.contains(':'))
        {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    if (!scheme.is_empty() || !rest.starts_with("///")) && rest.starts_with("//") {
        let authority = &rest[2..];
        let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let lower = scheme.to_lowercase();
        parts.insert("host", parse_host(&lower, host)?);
        if let Some(user) = user {
            parts.insert("userinfo", userinfo(user)?);
        }
        rest = path;
    }
    parts.insert("path", unescape(rest, Part::Path)?);
    Ok(parts)
}

/// A user with a password, escaped as Go escapes them.
fn userinfo(text: &str) -> Result<String, String> {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !text.bytes().all(is_valid) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let parts = text.splitn(2, ':');
    let parts = parts.map(|part| Ok(escape(&unescape(part, Part::User)?, Part::User)));
    Ok(parts.collect::<Result<Vec<_>, String>>()?.join(":"))
}

fn check_port(port: &str) -> Result<(), String> {
    let digits = port.strip_prefix(':');
    match port.is_empty() || digits.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit())) {
        true => Ok(()),
        false => Err(format!("invalid port {} after host", quote(port))),
    }
}

fn parse_host(scheme: &str, host: &str) -> Result<String, String> {
    match host.rfind('[') {
        Some(0) => {}
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {
            // Only the web's schemes have a strict rule for several colons.
            let colon = match scheme {
                "http" | "https" => host.find(':'),
                _ => host.rfind(':'),
            };
            if let Some(colon) = colon {
                check_port(&host[colon..])?;
            }
            return unescape(host, Part::Host);
        }
    }
    let end = host.rfind(']').ok_or("missing ']' in host")?;
    let (inner, port) = (&host[1..end], &host[end + 1..]);
    check_port(port)?;
    let address = match inner.find("%25") {
        Some(zone) => {
            unescape(&inner[..zone], Part::Host)? + &unescape(&inner[zone..], Part::Zone)?
        }
        None => unescape(inner, Part::Host)?,
    };
    let (number, zone) = match address.split_once('%') {
        Some((number, zone)) => (number, Some(zone)),
        None => (&*address, None),
    };
    if number.parse::<std::net::Ipv4Addr>().is_ok() && zone.is_none() {
        return Err("invalid IP-literal".to_owned());
    }
    if number.parse::<Ipv6Addr>().is_err() || zone == Some("") {
        return Err(format!(
            "invalid host: ParseAddr({}): unable to parse IP",
            quote(&address)
        ));
    }
    Ok(format!("[{address}]{port}"))
}

/// The host without a port and without brackets.
fn hostname(host: &str) -> &str {
    let without_port = match host.rfind(':') {
        Some(colon) if check_port(&host[colon..]).is_ok() => &host[..colon],
        _ => host,
    };
    let inner = without_port
        .strip_prefix('[')
        .and_then(|it| it.strip_suffix(']'));
    inner.unwrap_or(without_port)
}

/// The text of a URL of parts.
fn join(map: &Map) -> Result<String, String> {
    let part = |key: &str| match map.get(key) {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.to_string()),
        // Go asks nothing for its type.
        Some(Value::Nil) => {
            Err("runtime error: invalid memory address or nil pointer dereference".to_owned())
        }
        Some(other) => Err(format!(
            "unable to parse {key} key, must be of type string, but {} found",
            other.kind()
        )),
    };
    let (scheme, host, path) = (part("scheme")?, part("host")?, part("path")?);
    let (query, opaque, fragment) = (part("query")?, part("opaque")?, part("fragment")?);
    let user = match part("userinfo")? {
        user if user.is_empty() => None,
        user => {
            let url = format!("proto://{user}@host");
            let parts = parse(&url).map_err(|Fault { of, what }| {
                format!(
                    "unable to parse userinfo in dict: parse {}: {what}",
                    quote(&of)
                )
            })?;
            let at = url.split('#').next().is_some_and(|it| it.contains('@'));
            let user = parts
                .get("userinfo")
                .and_then(Value::as_str)
                .map(str::to_owned);
            user.filter(|_| at && !opaque_user(&url))
        }
    };
    let mut out = String::new();
    if !scheme.is_empty() {
        out += &format!("{scheme}:");
    }
    if !opaque.is_empty() {
        out += &opaque;
    } else {
        let has_authority = !scheme.is_empty() || !host.is_empty() || user.is_some();
        if has_authority && (!host.is_empty() || !path.is_empty() || user.is_some()) {
            out += "//";
        }
        if let Some(user) = user {
            out += &format!("{user}@");
        }
        out += &escape(&host, Part::Host);
        let escaped = if path == "*" {
            path.clone()
        } else {
            escape(&path, Part::Path)
        };
        if !escaped.is_empty() && !escaped.starts_with('/') && !host.is_empty() {
            out.push('/');
        }
        if out.is_empty() && escaped.split('/').next().is_some_and(|it| it.contains(':')) {
            out += "./";
        }
        out += &escaped;
    }
    if !query.is_empty() {
        out += &format!("?{query}");
    }
    if !fragment.is_empty() {
        out += &format!("#{}", escape(&fragment, Part::Fragment));
    }
    Ok(out)
}

/// Whether the text of a user ends the authority, so that the URL around it has none.
fn opaque_user(url: &str) -> bool {
    let authority = url.trim_start_matches("proto://");
    let end = authority.find(['/', '?', '#']).unwrap_or(authority.len());
    !authority[..end].contains('@')
}
