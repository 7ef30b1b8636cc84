//! One container: a process with a file system and an environment of its own.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::Container;
use tokio::process::{Child, Command};

use crate::{image::Image, variables};

/// Builds the root of a container and runs its command there. The positional arguments are those of `env -i`.
///
/// The root is a tmpfs with the programs and libraries of the host, without `/usr/local`. Over it lies the image by bind mounts, because
/// the kernel mounts no overlay in a user namespace whose root it did not mount itself: a directory that only the image has is one mount,
/// which the container cannot write; elsewhere, each file is one.
const SCRIPT: &str = r#"
set -eu
cd "$DIRECTORY"
mkdir -p root
mount -t tmpfs tmpfs root
for entry in bin sbin lib lib64; do
    if [ -L "/$entry" ]; then cp -P "/$entry" root/; elif [ -d "/$entry" ]; then mkdir "root/$entry"; mount --rbind "/$entry" "root/$entry"; fi
done
mkdir -p root/usr/local root/etc root/var/lib root/var/run root/run root/tmp root/proc root/sys root/dev/shm
chmod 1777 root/tmp root/dev/shm
for entry in /usr/*; do
    [ "$entry" = /usr/local ] || [ -L "$entry" ] || { mkdir -p "root$entry"; mount --rbind "$entry" "root$entry"; }
done
for entry in passwd group nsswitch.conf ld.so.cache ld.so.conf ld.so.conf.d ssl localtime; do
    [ ! -e "/etc/$entry" ] || cp -r "/etc/$entry" root/etc/
done
for entry in null zero full random urandom tty; do
    touch "root/dev/$entry"; mount --bind "/dev/$entry" "root/dev/$entry"
done
mount --rbind /proc root/proc
mount --rbind /sys root/sys
bind() { mkdir -p "$(dirname "root$2")"; touch "root$2"; mount --bind "$1" "root$2"; }
bind /etc/hosts /etc/hosts
bind /etc/resolv.conf /etc/resolv.conf
: >termination
bind termination "$TERMINATION"
lay() {
    for path in "$IMAGE$1"/* "$IMAGE$1"/.[!.]*; do
        to=${path#"$IMAGE"}
        if [ -L "$path" ]; then cp -Pf "$path" "root$to"
        elif [ -f "$path" ]; then bind "$path" "$to"
        elif [ -d "root$to" ]; then lay "$to"
        elif [ -d "$path" ]; then mkdir "root$to"; mount --bind "$path" "root$to"; mount -o remount,bind,ro "root$to"
        fi
    done
}
lay ""
volume() {
    if [ -d "$2" ]; then mkdir -p "root$3"; mount --bind "$2" "root$3"; else bind "$2" "$3"; fi
    [ "$1" = rw ] || mount -o remount,bind,ro "root$3"
}
. ./mounts
exec chroot root env -i "$@"
"#;

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What a container is started with.
pub(crate) struct Start<'a> {
    pub(crate) container: &'a Container,
    pub(crate) image: &'a Image,
    /// The process whose network and host name the containers of the Pod share.
    pub(crate) holder: u32,
    /// A directory of the container.
    pub(crate) directory: &'a Path,
    pub(crate) log: &'a Path,
    /// The directories of the Pod's volumes.
    pub(crate) volumes: &'a BTreeMap<String, PathBuf>,
    pub(crate) environment: Vec<(String, String)>,
}

impl Start<'_> {
    /// Starts the process, in a process group of its own.
    ///
    /// # Errors
    /// If it has no command, a volume is missing, or `nsenter` is.
    pub(crate) fn spawn(self) -> Result<Child> {
        fs::create_dir_all(self.directory)?;
        let mut mounts = String::new();
        for mount in self.container.volume_mounts.iter().flatten() {
            let volume = self.volumes.get(&mount.name);
            let volume = volume.context("a volume is missing")?;
            let source = match &mount.sub_path {
                Some(path) => sub_path(volume, Path::new(path))?,
                None => volume.clone(),
            };
            let mode = if mount.read_only == Some(true) {
                "ro"
            } else {
                "rw"
            };
            let (source, target) = (source.display().to_string(), inside(&mount.mount_path));
            mounts += &format!("volume {mode} {} {}\n", quoted(&source), quoted(&target));
        }
        fs::write(self.directory.join("mounts"), mounts)?;
        let expand = |text: &String| variables::expand(text, &self.environment);
        let list = |texts: &Option<Vec<String>>| -> Vec<String> {
            texts.iter().flatten().map(expand).collect()
        };
        let mut command = list(&self.container.command);
        if command.is_empty() {
            command.extend(self.image.entrypoint.clone());
        }
        command.extend(list(&self.container.args));
        if command.is_empty() {
            bail!("the container has no command, and its image no entrypoint");
        }
        if let Some(parent) = self.log.parent() {
            fs::create_dir_all(parent)?;
        }
        let log = File::options().append(true).create(true).open(self.log)?;
        let termination = self.container.termination_message_path.as_deref();
        let child = Command::new("nsenter")
            .args(["-t", &self.holder.to_string(), "-n", "-u"])
            .args(["unshare", "-m", "--propagation", "private"])
            .args(["sh", "-c", SCRIPT, "sh", &format!("PATH={PATH}")])
            .args(
                self.environment
                    .iter()
                    .map(|(name, value)| format!("{name}={value}")),
            )
            .args(command)
            .env("DIRECTORY", self.directory)
            .env("IMAGE", &self.image.directory)
            .env("TERMINATION", termination.unwrap_or("/dev/termination-log"))
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .spawn();
        child.context("cannot run `nsenter`")
    }
}

/// A path in a volume, which is created as a directory if it does not exist. Like a kubelet, it follows links, but not out of
/// the volume.
fn sub_path(volume: &Path, path: &Path) -> Result<PathBuf> {
    let volume = volume.canonicalize()?;
    let mut found = volume.clone();
    for component in path.components() {
        let next = found.join(component);
        if next.symlink_metadata().is_err() {
            fs::create_dir(&next)?;
        }
        found = next.canonicalize()?;
        if !found.starts_with(&volume) {
            bail!("subPath `{}` leads out of its volume", path.display());
        }
    }
    Ok(found)
}

/// A path in the container, without `..` that would lead out of it.
fn inside(path: &str) -> String {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

/// A word of a shell (POSIX, section 2.2.2), whatever the text is.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::{env, os::unix::fs::symlink, process};

    use super::*;

    #[test]
    fn targets_stay_in_the_container() {
        for (path, expected) in [
            ("/data", "/data"),
            ("data//a/", "/data/a"),
            ("/a/../../../etc/./b", "/etc/b"),
            ("/a\nb", "/a\nb"),
            ("..", "/"),
        ] {
            assert_eq!(inside(path), expected);
        }
    }

    #[test]
    fn texts_are_one_word_of_the_shell() {
        for text in ["", "a b", "a\nrw / /b", "it's", "$(id)`id`\\", "\"*"] {
            let script = format!("printf %s {}", quoted(text));
            let output = process::Command::new("sh").args(["-c", &script]).output();
            assert_eq!(output.unwrap().stdout, text.as_bytes());
        }
    }

    #[test]
    fn links_do_not_lead_out_of_a_volume() {
        let directory = env::temp_dir().join(format!("process-node-links-{}", process::id()));
        let volume = directory.join("volume");
        fs::create_dir_all(volume.join("..data")).unwrap();
        fs::write(volume.join("..data/key"), "").unwrap();
        // As in the volume of a ConfigMap.
        symlink("..data/key", volume.join("key")).unwrap();
        symlink("/etc", volume.join("absolute")).unwrap();
        symlink("..", volume.join("above")).unwrap();
        symlink("/nowhere", volume.join("broken")).unwrap();
        let volume = volume.canonicalize().unwrap();
        let found = |path| sub_path(&volume, Path::new(path));
        assert_eq!(found("key").unwrap(), volume.join("..data/key"));
        assert_eq!(found("a/b").unwrap(), volume.join("a/b"));
        assert!(volume.join("a/b").is_dir());
        for path in [
            "absolute",
            "absolute/passwd",
            "above/new/a",
            "a/../..",
            "/etc",
        ] {
            let error = found(path).unwrap_err().to_string();
            assert!(
                error.ends_with("leads out of its volume"),
                "{path}: {error}"
            );
        }
        assert!(found("broken").is_err());
        assert!(!directory.join("new").exists());
        fs::remove_dir_all(&directory).unwrap();
    }
}
