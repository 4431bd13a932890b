#!/bin/sh
# Makes the pictures of the documentation from real runs on simulated clouds: the run from what a terminal was sent, the
# report, the graph and pages of runner web as they are. Takes two minutes; it needs Linux's script(1), and Chromium for the report.
set -eu
cd "$(dirname "$0")/.."
export PATH="$PWD/bin:$PATH"
for program in script chromium; do
  command -v "$program" >/dev/null || { echo "pictures: $program is not installed; on Debian it is in the package bsdutils or chromium" >&2; exit 3; }
done

work=$(mktemp -d "${TMPDIR:-/tmp}/mara-pictures-XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" TERM=xterm-256color PULUMI_CONFIG_PASSPHRASE=picture RUNNER_SIMULATE_SPEED=60 RUNNER_YES=true RUNNER_GENERATE_SECRETS=true
unset CI NO_COLOR
go build -o "$work/pictures" ./scripts/pictures
runner init "$work/mara" >/dev/null
command="runner up -p aws -s dev --simulate"
(
  cd "$work/mara"
  mv config/pulumi/environment.example config/pulumi/environment
  cat > config/pulumi/Pulumi.dev.yaml <<'STACK'
config:
  aws:region: eu-north-1
  kubernetes:infra_type: aws
STACK
  # The first run tells the second how long everything takes.
  $command >/dev/null
  RUNNER_SIMULATE_SPEED=100000 runner destroy -s dev --simulate >/dev/null
  script -qec "stty cols 100 rows 40; exec $command" /dev/null </dev/null >"$work/recording"
  runner report -s dev --simulate -o html >"$work/report.html"
  # What previews show: values, then the loss of the cluster.
  for line in 'logstore:storage_size: 20Gi' 'eks:service_cidr: 172.21.0.0/16'; do
    printf '  %s\n' 'eks:desired_capacity: 4' "$line" >changes
    { cat config/pulumi/Pulumi.dev.yaml changes; } >"$work/changed" && cp config/pulumi/Pulumi.dev.yaml "$work/stack" && cp "$work/changed" config/pulumi/Pulumi.dev.yaml
    RUNNER_SIMULATE_SPEED=100000 script -qec "stty cols 110 rows 70; exec runner preview -s dev --simulate" /dev/null </dev/null >"$work/preview-${line%%:*}"
    cp "$work/stack" config/pulumi/Pulumi.dev.yaml
  done
  runner plan -p aws -s dev -o svg --skip kic-image-build,kic-image-push,ingress-controller-namespace,ingress-controller,bank-of-anthos >"$work/plan.svg"
)
# The film of the site's first page: narrow, so that it can be read on a phone.
(
  runner init "$work/small" -s dev -p kind >/dev/null
  cd "$work/small"
  script -qec "stty cols 50 rows 30; exec runner up -s dev --simulate" /dev/null </dev/null >"$work/narrow"
)
# A fleet in three waves, as files of runner web.
(
  mkdir -p "$work/shop/config/layers" "$work/shop/config/environments"
  cd "$work/shop"
  printf 'values:\n  runner: {provider: kind}\n  pulumiConfig: {"logstore:storage_size": 10Gi}\n' > config/layers/base.yaml
  for stage in test canary prod; do
    printf 'imports: [base]\nvalues: {runner: {labels: {stage: %s}}}\n' $stage > config/layers/$stage.yaml
    for region in eu us ap; do
      printf 'imports: [%s]\nvalues: {runner: {labels: {region: %s}}}\n' $stage $region > config/environments/$stage-$region.yaml
    done
  done
  printf 'waves:\n  - {name: test, match: {stage: test}}\n  - {name: canary, match: {stage: canary}}\n  - {name: prod, match: {stage: prod}, maxFailures: 3}\n' > config/rollout.yaml
  export RUNNER_SIMULATE_SPEED=100000
  runner fleet up --all --simulate >/dev/null
  runner fleet drift -l stage=prod --simulate >/dev/null
  printf 'imports: [prod]\nvalues: {runner: {labels: {region: us}}, pulumiConfig: {"logstore:storage_size": 20Gi}}\n' > config/environments/prod-us.yaml
  printf 'imports: [canary]\nvalues: {runner: {labels: {region: ap}}, pulumiConfig: {"logstore:storage_size": 20Gi}}\n' > config/environments/canary-ap.yaml
  runner web --export "$work/web" --simulate >/dev/null
)
shoot() { # PAGE PICTURE HEIGHT
  chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update \
    --disable-sync --user-data-dir="$work/chromium" --hide-scrollbars --window-size="1200,$3" --screenshot="$work/$2" "file://$work/web/$1" 2>/dev/null
}
shoot index.html web-fleet.png 860
shoot e/prod-us.html web-environment.png 1120
"$work/pictures" $command <"$work/recording" >"$work/run.svg"
sed "s#$work/##g" "$work/narrow" | "$work/pictures" -columns 50 runner up -s dev --simulate >"$work/start.svg"
sed "s#$work/##g" "$work/preview-logstore" | "$work/pictures" -still runner preview -s dev --simulate >"$work/preview.svg"
sed "s#$work/##g" "$work/preview-eks" | "$work/pictures" -still runner preview -s dev --simulate >"$work/preview-loss.svg"
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update \
  --disable-sync --user-data-dir="$work/chromium" --hide-scrollbars --window-size=1000,1060 --screenshot="$work/report.png" \
  "file://$work/report.html" 2>/dev/null
mkdir -p docs/pictures
cp "$work/run.svg" "$work/start.svg" "$work/preview.svg" "$work/preview-loss.svg" "$work/report.png" "$work/plan.svg" "$work/web-fleet.png" "$work/web-environment.png" docs/pictures/
