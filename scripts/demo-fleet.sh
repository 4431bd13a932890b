#!/bin/sh
# Rolls twelve environments out in three waves on simulated clouds, changes one
# layer, and shows that only the environments that import it are affected.
set -eu
cd "$(dirname "$0")/.."
bin=$PWD/bin
root=$(mktemp -d "${TMPDIR:-/tmp}/mara-fleet-XXXXXX")
cd "$root"
mkdir -p config/layers/stage config/layers/region config/environments

cat > config/layers/base.yaml <<'LAYER'
values:
  runner: {provider: kind}
  pulumiConfig:
    logstore:heap: 512m
LAYER
for stage in test canary prod; do
  printf 'imports: [base]\nvalues:\n  runner: {labels: {stage: %s}}\n' "$stage" > "config/layers/stage/$stage.yaml"
done
for region in ap eu us; do
  printf 'values:\n  runner: {labels: {region: %s}}\n' "$region" > "config/layers/region/$region.yaml"
  printf 'imports: [stage/test, region/%s]\n' "$region" > "config/environments/test-$region.yaml"
  printf 'imports: [stage/canary, region/%s]\n' "$region" > "config/environments/canary-$region.yaml"
  for n in 1 2; do
    printf 'imports: [stage/prod, region/%s]\n' "$region" > "config/environments/prod-$region-$n.yaml"
  done
done
cat > config/rollout.yaml <<'WAVES'
waves:
  - {name: test, match: {stage: test}}
  - {name: canary, match: {stage: canary}, soak: 1s, gates: [drift]}
  - {name: prod, match: {stage: prod}, parallel: 50%, maxFailures: 1}
WAVES

say() { printf '\n== %s ==\n\n' "$*"; }
runner() { "$bin/runner" "$@"; }

say "Twelve environments, described in layers"
runner fleet list
runner check --simulate
say "Rolled out in three waves"
runner fleet up --all --simulate
say "One layer changes: the memory of the log store in the region us"
printf 'values:\n  runner: {labels: {region: us}}\n  pulumiConfig:\n    logstore:heap: 768m\n' > config/layers/region/us.yaml
runner config explain logstore:heap -s prod-us-1 | head -4
runner fleet get logstore:heap
runner fleet plan --affected --why --simulate
say "Only those are rolled out"
runner fleet up --affected --simulate
say "All are up to date"
runner fleet status --simulate
printf '\nThe overview page is named above; everything is in %s\n' "$root"
