#!/bin/sh
# programs.sh DIR: builds the programs of a node from Go modules.
set -eu
directory=$1
cd "$(dirname "$0")"
export CGO_ENABLED=0
version=$(cd kube && go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${version#v1.}
stamp="-X k8s.io/component-base/version.gitVersion=$version -X k8s.io/client-go/pkg/version.gitVersion=$version"
stamp="$stamp -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${minor%%.*}"
(cd kube && go build -buildvcs=false -ldflags="-s -w $stamp" -o "$directory/" . ./pause)
(cd dns && go build -buildvcs=false -ldflags='-s -w' -o "$directory/coredns" .)
ln -sf kube "$directory/kubeadm"
echo "$version" >"$directory/version"
