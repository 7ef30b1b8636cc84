//! `create api --image`: a controller that was generated with a Deployment of an image.
//!
//! The file of a controller belongs to the user, so the image is fixed when the controller is generated.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::field::Field;
use crate::name::{Invalid, text_serde};

/// The Deployment of a controller, under kubebuilder's names.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", expecting = "an image with its options")]
pub struct DeployImage {
    /// The image.
    pub image: Image,
    /// The command of its container, separated by commas; the default is that of the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_command: Option<Command>,
    /// The port that the container listens on, which gets a Service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_port: Option<Port>,
    /// The user ID that it runs as; the default is that of the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_as_user: Option<UserId>,
}

impl DeployImage {
    /// The fields in `PROJECT`; without a value, they are empty.
    pub fn fields(of: Option<&Self>) -> [(&'static str, String); 4] {
        fn text(value: Option<impl ToString>) -> String {
            value.map_or_else(String::new, |value| value.to_string())
        }
        let command = of.and_then(|it| it.container_command.as_ref());
        let port = of.and_then(|it| it.container_port);
        let user = of.and_then(|it| it.run_as_user);
        [
            ("image", text(of.map(|it| &it.image))),
            ("containerCommand", text(command)),
            ("containerPort", text(port.map(|it| it.0))),
            ("runAsUser", text(user.map(|it| it.0))),
        ]
    }

    /// The field of the spec that its Deployment needs.
    pub fn size() -> Field {
        let size = "size:int32:min=0:default=1:doc=The number of Pods.";
        size.parse().expect("the field is valid")
    }
}

/// A reference of an image: `memcached:1.6.39-alpine`.
#[derive(Clone, Debug, PartialEq)]
pub struct Image(String);

/// The words of a command, separated by commas.
#[derive(Clone, Debug, PartialEq)]
pub struct Command(String);

/// A port, from 1 to 65535.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Port(pub u16);

/// A user ID of Linux, other than that of root, from 1 to 2147483647: the Pods run with `runAsNonRoot`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct UserId(pub u32);

text_serde!(Image, "image");
text_serde!(Command, "command");

impl FromStr for Image {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match is_reference(text) {
            true => Ok(Self(text.to_owned())),
            false => Err(Invalid {
                what: "image",
                found: text.escape_debug().to_string(),
                fault: "it is not an image reference".to_owned(),
                rule: "it is a name with a tag or a digest, such as `registry.example.com/memcached:1.6.39`",
                suggestion: None,
            }),
        }
    }
}

/// Whether kubelet takes a text for an image: `[HOST/]NAME[:TAG][@DIGEST]`, by the grammar of the package `reference` of the
/// CNCF's distribution.
fn is_reference(text: &str) -> bool {
    let (text, digest) = match text.split_once('@') {
        Some((text, digest)) => (text, Some(digest)),
        None => (text, None),
    };
    let (path, last) = text
        .rsplit_once('/')
        .map_or(("", text), |(path, last)| (path, last));
    let (last, tag) = match last.split_once(':') {
        Some((last, tag)) => (last, Some(tag)),
        None => (last, None),
    };
    let mut components: Vec<_> = match text.contains('/') {
        true => path.split('/').collect(),
        false => Vec::new(),
    };
    if components.first().is_some_and(|first| is_host(first)) {
        components.remove(0);
    }
    components.push(last);
    components.into_iter().all(is_component)
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest)
}

/// A host with a port, or one that cannot be the first part of a name: it has a dot or a capital, or is `localhost`.
fn is_host(text: &str) -> bool {
    let (name, port) = text.split_once(':').unwrap_or((text, "0"));
    let is_label = |label: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(is_allowed)
    };
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_meant =
        text.contains(['.', ':']) || name == "localhost" || name.contains(char::is_uppercase);
    is_meant && is_port && name.split('.').all(is_label)
}

/// Lower-case letters and digits, with `.`, `_`, `__` or any number of `-` in between.
fn is_component(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = [text.bytes().next(), text.bytes().next_back()];
    let mut between = text.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    ends.into_iter().all(|end| end.is_some_and(is_word))
        && between
            .all(|it| matches!(it, "" | "." | "_" | "__") || it.bytes().all(|byte| byte == b'-'))
}

fn is_tag(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=128).contains(&text.len()) && !text.starts_with(['.', '-']) && text.bytes().all(is_allowed)
}

fn is_digest(text: &str) -> bool {
    let Some((algorithm, hash)) = text.split_once(':') else {
        return false;
    };
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    algorithm.split(['-', '_', '+', '.']).all(is_word)
        && hash.len() >= 32
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Command {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_word = |word: &str| !word.is_empty() && !word.contains(char::is_control);
        match text.split(',').all(is_word) {
            true => Ok(Self(text.to_owned())),
            false => Err(Invalid {
                what: "command",
                found: text.escape_debug().to_string(),
                fault: "a word of it is empty, or has a control character".to_owned(),
                rule: "it is the words of the command, separated by commas: `memcached,--memory-limit=64`",
                suggestion: None,
            }),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Port {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let port = text.parse().ok().filter(|port| *port > 0);
        port.map(Self).ok_or_else(|| Invalid {
            what: "port",
            found: text.escape_debug().to_string(),
            fault: "it is not a port".to_owned(),
            rule: "it is a number from 1 to 65535",
            suggestion: None,
        })
    }
}

impl FromStr for UserId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let user = text.parse::<u32>().ok();
        let user = user.filter(|user| (1..=2_147_483_647).contains(user));
        user.map(Self).ok_or_else(|| Invalid {
            what: "user ID",
            found: text.escape_debug().to_string(),
            fault: "it is not the ID of a user other than root".to_owned(),
            rule: "it is a number from 1 to 2147483647, because the Pods do not run as root",
            suggestion: None,
        })
    }
}

/// Reads a number, or the text of one, which kubebuilder writes.
fn number<'de, D: Deserializer<'de>, T: FromStr<Err = Invalid>>(from: D) -> Result<T, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Number(u64),
        Text(String),
    }
    let text = match Number::deserialize(from)? {
        Number::Number(number) => number.to_string(),
        Number::Text(text) => text,
    };
    text.parse().map_err(de::Error::custom)
}

impl<'de> Deserialize<'de> for Port {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        number(from)
    }
}

impl<'de> Deserialize<'de> for UserId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        number(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_a_reference() {
        let digest = format!("img@sha256:{}", "0a".repeat(32));
        for image in [
            "a",
            "memcached:1.6.39-alpine",
            "registry.example.com:5000/a/b__c/d.e-f:V1_2",
            "localhost/a",
            "Host/a",
            "yes",
            "1_000",
            "0x1f",
            &digest,
            &format!("registry.example.com/{}", digest.replace("img", "img:1")),
        ] {
            assert!(Image::from_str(image).is_ok(), "{image}");
        }
        for image in [
            "",
            "img:",
            "img@",
            "img@sha256:",
            "img@sha256:0a",
            ":1",
            "img:1:2",
            "img:-1",
            "a//b",
            "/a",
            "a/",
            "Img",
            "host/Img",
            "a..b",
            "a_-b",
            "_a",
            "host:/a",
            "host:x/a",
            "my image",
        ] {
            assert!(Image::from_str(image).is_err(), "{image}");
        }
    }
}
