//! Images: directories whose files are laid over the root of a container.

use std::{collections::BTreeMap, path::PathBuf, str::FromStr};

use anyhow::{Context, Error, Result};

/// An image is a directory, and the program that runs if a container names none.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The directory. Its files and links appear at the same paths in the container.
    pub directory: PathBuf,
    /// The program that runs if the container has no command.
    pub entrypoint: Option<String>,
}

/// `NAME=DIRECTORY[,ENTRYPOINT]`, where NAME is the image of a container: `example.com/etcd:v3.6.16`.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedImage(pub String, pub Image);

impl FromStr for NamedImage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, rest) = text
            .split_once('=')
            .context("an image is NAME=DIRECTORY[,ENTRYPOINT]")?;
        let (directory, entrypoint) = match rest.split_once(',') {
            Some((directory, entrypoint)) => (directory, Some(entrypoint.to_owned())),
            None => (rest, None),
        };
        let directory = std::fs::canonicalize(directory);
        let directory =
            directory.with_context(|| format!("the image `{name}` has no directory"))?;
        Ok(Self(
            name.to_owned(),
            Image {
                directory,
                entrypoint,
            },
        ))
    }
}

/// The images by name.
pub(crate) type Images = BTreeMap<String, Image>;
