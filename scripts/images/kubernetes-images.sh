#!/bin/sh
# kubernetes-images.sh DIR PROGRAMS ROOT: makes the archives of the images that kubeadm wants on a node: one for
# CoreDNS, one for pause, one for all the others. What kube-proxy calls is taken from the root of the node.
set -eu
directory=$1 programs=$2 root=$3
here=$(dirname "$0")
kube=$directory/kube coredns=$directory/coredns pause=$directory/pause

# copy FILE...: copies files of the root, and the libraries that they load, into the image of Kubernetes.
copy() {
  libraries=$(chroot "$root" ldd "$@" | awk '/^\t/ { for (i = 1; i <= NF; i++) if ($i ~ "^/") print $i }' | sort -u)
  for file in "$@" $libraries; do
    install -D "$root$file" "$kube$file"
  done
}

install -D "$programs/kube" "$kube/usr/local/bin/kube"
for name in etcd kube-apiserver kube-controller-manager kube-scheduler kube-proxy; do
  ln -s kube "$kube/usr/local/bin/$name"
done
# iptables' extensions load libraries of their own. Without those, Services fail silently.
copy /usr/sbin/xtables-nft-multi /usr/sbin/conntrack $(cd "$root" && printf '/%s\n' usr/lib/*/xtables/*.so)
for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
  ln -s xtables-nft-multi "$kube/usr/sbin/$name"
done
mkdir "$kube/tmp" "$kube/etc"
install -D "$programs/coredns" "$coredns/usr/local/bin/coredns"
install -D "$programs/pause" "$pause/usr/local/bin/pause"

names=$("$programs/kubeadm" config images list --kubernetes-version "$(cat "$programs/version")" 2>/dev/null)
path='["PATH=/usr/local/bin:/usr/sbin"]'
"$here/archive.sh" "$kube.tar" "$kube" "{\"Env\": $path}" $(echo "$names" | grep -v -e /pause: -e /coredns:)
"$here/archive.sh" "$coredns.tar" "$coredns" "{\"Env\": $path, \"Entrypoint\": [\"/usr/local/bin/coredns\"]}" $(echo "$names" | grep /coredns:)
# The configuration of containerd that kind brings names pause:3.10.
"$here/archive.sh" "$pause.tar" "$pause" '{"Entrypoint": ["/usr/local/bin/pause"]}' \
  $(echo "$names" | grep /pause:) registry.k8s.io/pause:3.10
