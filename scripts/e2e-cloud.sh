#!/bin/sh
# e2e-cloud.sh [ARGUMENT...]: runs the tests on the emulated cloud with Pulumi's own provider instead of the one that stands in
# for it. It needs:
#   PROVIDER  a directory with pulumi-resource-linode, of the version that go.mod names
#   BUILT     how that program was built, for the record, if it is not the released one
# It ends with 3, and says why, where something is missing. RECORD=1 writes what has passed into docs/tested.json.
set -eu
cd "$(dirname "$0")/.."
version=$(go list -m -f '{{.Version}}' github.com/pulumi/pulumi-linode/sdk/v5)
lacks() {
  echo "Linode's provider cannot be tested here: $*" >&2
  exit 3
}
[ -n "${PROVIDER:-}" ] || lacks "PROVIDER names no directory with pulumi-resource-linode: bin/runner pulumi linode-lke -- plugin install" \
  "resource linode $version puts it into \$PULUMI_HOME/plugins/resource-linode-$version"
[ -x "$PROVIDER/pulumi-resource-linode" ] || lacks "there is no program $PROVIDER/pulumi-resource-linode"
E2E_LINODE=$(cd "$PROVIDER" && pwd)
export E2E_LINODE E2E_LINODE_BUILT="${BUILT:-}"
go test -count=1 -run '^TestLinodePlugin$' ./runner/internal/testing/e2e || lacks "it is not $version"
if [ -n "${RECORD:-}" ]; then export E2E_RECORD="$PWD/docs/tested.json"; fi
exec go test -count=1 -timeout 30m -v -run 'OnAnEmulatedCloud$' "$@" ./runner/internal/testing/e2e
