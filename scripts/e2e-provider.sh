#!/bin/sh
# e2e-provider.sh [ARGUMENT...]: deploys the environment's projects to a real kind cluster with Pulumi's own Kubernetes
# provider, with charts from a mirror. It needs what e2e-real.sh needs, and:
#   PROVIDER  the program pulumi-resource-kubernetes, if it is not installed as a plugin of Pulumi's
#   BUILT     how that program was built, for the record, if it is not the released one
#   CHARTS    a directory with the charts of docs/mirror.md, unpacked, a directory each
#   VELERO    a directory with Velero's programs, for backups: velero, velero-helper, velero-restore-helper, cp-plugin and
#             velero-plugin-for-aws; without it no backup is made. VELERO_BUILT says how they were built, for the record.
#             CHARTS then has Velero's chart 12.0.3 as well, in a directory of another name
#   INGRESS   an archive of the image of the ingress controller, as docker save writes it; without it that controller is not
#             tested. INGRESS_BUILT says how the image was built, for the record, if it is not the released one. CHARTS then
#             has the controller's chart 2.6.3 as well, in a directory of another name
# It ends with 3, and says why, where something is missing. RECORD=1 writes what has passed into docs/tested.json.
set -eu
cd "$(dirname "$0")/.."
version=$(go list -m -f '{{.Version}}' github.com/pulumi/pulumi-kubernetes/sdk/v4)
provider=${PROVIDER:-${PULUMI_HOME:-$HOME/.pulumi}/plugins/resource-kubernetes-$version/pulumi-resource-kubernetes}
lacks() {
  echo "the Kubernetes provider cannot be tested here: $*" >&2
  exit 3
}
[ -x "$provider" ] ||
  lacks "$provider is not there: bin/runner pulumi kubeconfig -- plugin install resource kubernetes $version, or name it with PROVIDER"
[ -n "${CHARTS:-}" ] || lacks "CHARTS names no directory with charts: helm pull --untar those of docs/mirror.md into one"
export E2E_PROVIDER="$provider" E2E_PROVIDER_VERSION="${version#v}" E2E_PROVIDER_BUILT="${BUILT:-}" E2E_CHARTS="$CHARTS"
export E2E_VELERO="${VELERO:-}" E2E_VELERO_BUILT="${VELERO_BUILT:-}"
export E2E_INGRESS="${INGRESS:-}" E2E_INGRESS_BUILT="${INGRESS_BUILT:-}"
exec scripts/e2e-real.sh -test.v -test.run='^TestProvider' "$@"
