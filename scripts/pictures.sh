#!/bin/sh
# Makes the pictures of the documentation from real runs on simulated clouds: the live view from what a terminal was sent, the
# report and the graph as they are. Takes a minute; it needs Linux's script(1), and Chromium for the report.
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
  runner plan -p aws -s dev -o svg >"$work/plan.svg"
)
"$work/pictures" $command <"$work/recording" >"$work/live.svg"
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update \
  --disable-sync --user-data-dir="$work/chromium" --hide-scrollbars --window-size=1000,1060 --screenshot="$work/report.png" \
  "file://$work/report.html" 2>/dev/null
mkdir -p docs/pictures
cp "$work/live.svg" "$work/report.png" "$work/plan.svg" docs/pictures/
