#!/bin/sh
# programs.sh FOLDER: builds the programs of a node from Go modules.
set -eu
folder=$1
cd "$(dirname "$0")"
export CGO_ENABLED=0
version=$(cd kube && go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${version#v1.}
stamp="-X k8s.io/component-base/version.gitVersion=$version -X k8s.io/client-go/pkg/version.gitVersion=$version"
stamp="$stamp -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${minor%%.*}"
(cd kube && go build -buildvcs=false -ldflags="-s -w $stamp" -o "$folder/" . ./pause)
(cd dns && go build -buildvcs=false -ldflags='-s -w' -o "$folder/coredns" .)
ln -sf kube "$folder/kubeadm"
echo "$version" >"$folder/version"
