#!/bin/sh
# node.sh ROOT PROGRAMS IMAGES: makes a node of a root of Debian: with the programs, with what kind's own images have,
# with our own files (node/), and with archives of images in its containerd. It needs root, and namespaces of its own
# for mounts and processes.
set -eu
root=$1 programs=$2 images=$3
here=$(cd "$(dirname "$0")" && pwd)
kind=$(cd "$here/../.." && go list -m -f '{{.Dir}}' sigs.k8s.io/kind)/images/base/files
in_root() { chroot "$root" "$@"; }

install "$programs/kube" "$root/usr/bin/kube"
for name in kubeadm kubelet kubectl crictl; do
  ln -s kube "$root/usr/bin/$name"
done
for name in containerd ctr containerd-shim-runc-v2; do
  ln -s "/usr/bin/$name" "$root/usr/local/bin/$name"
done
mkdir -p "$root/opt/cni" "$root/etc/kubernetes/manifests"
ln -s /usr/lib/cni "$root/opt/cni/bin"

for file in $(cd "$kind" && find etc kind/bin usr/local/bin/entrypoint -type f ! -name '*fuse*' ! -name crictl.yaml); do
  case $file in */bin/*) mode=755 ;; *) mode=644 ;; esac
  install -D -m "$mode" "$kind/$file" "$root/$file"
done
cp -r "$here/node/." "$root/"
cp "$programs/version" "$root/kind/version"
# kind's entrypoint does this in user namespaces; a node that lacks CAP_SYS_RESOURCE needs it, too.
sed -i 's/restrict_oom_score_adj = false/restrict_oom_score_adj = true/' "$root/etc/containerd/config.toml"
# The default from containerd 2.2 on: hosts.toml files say where images come from.
printf '\n[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n' >>"$root/etc/containerd/config.toml"
in_root ctr oci spec |
  jq '.hooks.createContainer = [{path: "/kind/bin/mount-product-files.sh"}] | del(.process.rlimits)' >"$root/etc/containerd/cri-base.json"

# As in kind's Dockerfile: only what a node runs is started.
(
  cd "$root/lib/systemd/system"
  rm -f multi-user.target.wants/* local-fs.target.wants/* basic.target.wants/* "$root"/etc/systemd/system/*.wants/* \
    sysinit.target.wants/systemd-tmpfiles-setup.service sockets.target.wants/*udev* sockets.target.wants/*initctl*
)
echo ReadKMsg=no >>"$root/etc/systemd/journald.conf"
ln -sf /lib/systemd/systemd "$root/sbin/init"
in_root systemctl --quiet enable kubelet.service containerd.service undo-mount-hacks.service
in_root systemctl --quiet mask systemd-binfmt.service

# A containerd that runs in the root takes the images in. It looks for the mount that it is on.
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/run"
chroot "$root" containerd --config /dev/null --log-level error &
containerd=$!
tries=100
until in_root ctr version >/dev/null 2>&1; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || { echo "containerd does not start in $root" >&2; exit 1; }
  sleep 0.1
done
for image in "$images"/*.tar; do
  in_root ctr --namespace=k8s.io images import --label=io.cri-containerd.pinned=pinned --all-platforms --no-unpack --digests - <"$image" >/dev/null
done
kill "$containerd"
wait "$containerd" || true
umount "$root/run" "$root/proc" "$root"
in_root dpkg-query --show --showformat '${Package} ${Version}\n' containerd containernetworking-plugins runc systemd >"$root/kind/packages"
