#!/bin/sh
# Builds bin/pulumi, the stock Pulumi CLI of the same version as the engine
# inside, to compare with and to test --pulumi. It is a module of its own.
set -eu
cd "$(dirname "$0")/tools"
version=$(go list -m -f '{{.Version}}' github.com/pulumi/pulumi/pkg/v3)
../gobuild.sh ../../bin/pulumi github.com/pulumi/pulumi/pkg/v3/cmd/pulumi \
  "-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=${version#v}"
