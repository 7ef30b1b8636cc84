//! One container: a process with a file system and an environment of its own.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Container;
use tokio::process::{Child, Command};

use crate::{image::Image, variables};

/// Builds the root of a container and runs its command there. The positional arguments are those of `env -i`.
///
/// The root is a tmpfs with the programs and libraries of the host, without `/usr/local`. Over it lies the image, each file
/// of it by a bind mount, because the kernel mounts no overlay in a user namespace whose root it did not mount itself.
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
find "$IMAGE" -type f | while read -r file; do bind "$file" "${file#"$IMAGE"}"; done
while read -r mode source target; do
    mkdir -p "root$target"
    mount --bind "$source" "root$target"
    [ "$mode" = rw ] || mount -o remount,bind,ro "root$target"
done <mounts
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
            let mut source = volume.context("a volume is missing")?.clone();
            if let Some(sub_path) = &mount.sub_path {
                source = source.join(sub_path);
                fs::create_dir_all(&source)?;
            }
            let mode = if mount.read_only == Some(true) {
                "ro"
            } else {
                "rw"
            };
            mounts += &format!("{mode} {} {}\n", source.display(), mount.mount_path);
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
            anyhow::bail!("the container has no command, and its image no entrypoint");
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
