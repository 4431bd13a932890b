#!/bin/sh
# e2e-real.sh [ARGUMENT...]: tests environments on kind for real: a docker daemon, kind's own code, Kubernetes in the nodes.
# It makes the images if it has to (node-image.sh, image.sh), and starts a daemon if none answers (with-docker.sh). Arguments go to
# the tests; RECORD=1 writes what has passed into docs/tested.json. It ends with 3, and says why, where a machine cannot do that.
set -eu
cd "$(dirname "$0")/.."
images=$(scripts/node-image.sh)
MARA_KUBE="$(dirname "${images%%.tar*}")/programs/kube"
export MARA_KUBE
# The exports for the Pulumi Kubernetes Operator, on an API server alone: with its definitions, which are not in this repository.
if [ $# = 0 ] && [ -n "${MARA_OPERATOR_CRDS:-}" ]; then
  go test -count=1 -run='^TestReal' ./runner/internal/feature/operator
elif [ $# = 0 ]; then
  echo "MARA_OPERATOR_CRDS names no directory with the Pulumi Kubernetes Operator's definitions: exports for it are not applied to an API server" >&2
fi
go test -c -o bin/e2e.test ./runner/internal/testing/e2e
E2E_NODE_IMAGE=mara-node:$(cd scripts/images/kube && go list -m -f '{{.Version}}' k8s.io/kubernetes) E2E_REGISTRY_IMAGE=registry:3
export E2E_NODE_IMAGE E2E_REGISTRY_IMAGE
if scripts/image.sh >&2; then # without Debian's packages its tests are skipped
  images="$images $PWD/bin/image.tar"
  export E2E_WORKSPACE_IMAGE=mara-workspace:dev
else
  [ $? = 3 ]
fi
if [ -n "${RECORD:-}" ]; then export E2E_RECORD="$PWD/docs/tested.json"; fi
exec scripts/with-docker.sh scripts/docker/with-images.sh "$images" \
  sh -c 'cd runner/internal/testing/e2e && exec ../../../../bin/e2e.test -test.timeout=40m -test.run="^Test(Real|Docker)" "$@"' e2e "$@"
