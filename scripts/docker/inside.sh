#!/bin/sh
# inside.sh WORK COMMAND...: starts dockerd and runs the command. It is the first process of its namespaces: when it
# ends, everything that it has started ends. A dockerd that ends is started again, as a service would be; its process
# id is in the file that E2E_DOCKERD names.
set -eu
work=$1
shift
here=$(dirname "$0")

if [ -n "${DOCKER_UNPACKED:-}" ]; then
  libraries=$(echo "$DOCKER_UNPACKED"/usr/lib/*-linux-gnu)
  mkdir "$work/bin"
  for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
    ln -s "$DOCKER_UNPACKED/usr/sbin/xtables-nft-multi" "$work/bin/$name"
  done
  daemon_env="LD_LIBRARY_PATH=$libraries XTABLES_LIBDIR=$libraries/xtables"
  PATH=$work/bin:$PATH:$DOCKER_UNPACKED/usr/sbin:$DOCKER_UNPACKED/usr/bin
fi

# What dockerd writes beside its own directories is written nowhere.
mkdir "$work/etc" "$work/etc.work"
mount -t overlay -o "lowerdir=/etc,upperdir=$work/etc,workdir=$work/etc.work" overlay /etc
mount -t tmpfs tmpfs /run
ip link set lo up
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"

runtime=
if [ -n "$("$here/capabilities.sh")" ]; then
  "$here/capabilities.sh" wrapper "$(command -v runc || echo "$(command -v docker-runc)")" >"$work/runc"
  chmod +x "$work/runc"
  runtime="--add-runtime lesser=$work/runc --default-runtime lesser"
fi

export DOCKER_HOST="unix://$work/socket" E2E_DOCKERD="$work/pid"
while :; do
  env ${daemon_env:-} dockerd --host "$DOCKER_HOST" --data-root "$work/data" --exec-root "$work/run" --pidfile "$E2E_DOCKERD" \
    --cgroup-parent "/$(basename "$work")" --oom-score-adjust 0 $runtime >>"$work/log" 2>&1 || true
  sleep 0.2
done &
tries=600 # two minutes: machines are busy
until docker info >/dev/null 2>&1; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || { echo "dockerd does not start:" >&2; tail -n 20 "$work/log" >&2; exit 3; }
  sleep 0.2
done
trap 'exit 130' INT
trap 'exit 143' TERM HUP
code=0
"$@" || code=$?
exit "$code"
