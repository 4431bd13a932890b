#!/bin/sh
# e2e-operator.sh [ARGUMENT...]: has the Pulumi Kubernetes Operator run an environment in a real kind cluster, with the image
# of `make image`. It needs what e2e-real.sh needs, and:
#   OPERATOR  a directory with the operator's programs manager and agent, built from its repository, static, and with tini;
#             its deploy/quickstart/install.yaml; and a file VERSION
#   PROVIDER  Pulumi's program pulumi-resource-kubernetes; without it no project works in the cluster
#   BUILT     how that program was built, for the record, if it is not the released one
# It ends with 3, and says why, where something is missing. RECORD=1 writes what has passed into docs/tested.json.
set -eu
cd "$(dirname "$0")/.."
lacks() {
  echo "the operator cannot be tested here: $*" >&2
  exit 3
}
[ -n "${OPERATOR:-}" ] || lacks "OPERATOR names no directory with it"
for name in manager agent tini install.yaml VERSION; do
  [ -e "$OPERATOR/$name" ] || lacks "$OPERATOR/$name is not there"
done
command -v kubectl >/dev/null && command -v git >/dev/null || lacks "it needs kubectl and git"
export E2E_OPERATOR="$OPERATOR" E2E_OPERATOR_VERSION="$(cat "$OPERATOR/VERSION")"
if [ -n "${PROVIDER:-}" ]; then
  version=$(go list -m -f '{{.Version}}' github.com/pulumi/pulumi-kubernetes/sdk/v4)
  PLUGINS=$(mktemp -d)
  trap 'rm -rf "$PLUGINS"' EXIT
  mkdir "$PLUGINS/resource-kubernetes-$version"
  cp "$PROVIDER" "$PLUGINS/resource-kubernetes-$version/pulumi-resource-kubernetes"
  chmod -R a+rX "$PLUGINS"
  export PLUGINS E2E_PROVIDER="$PROVIDER" E2E_PROVIDER_VERSION="${version#v}${BUILT:+ ($BUILT)}"
fi
scripts/e2e-real.sh -test.v -test.run='^TestOperator' "$@"
