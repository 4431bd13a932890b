#!/bin/sh
# with-docker.sh COMMAND...: runs a command where docker answers: this machine's, or one that lives as long as the
# command does. That one has namespaces of its own for processes, mounts and network, without a way out: however the
# command ends, by kill -9, too, nothing of it is left. WITH_DOCKER=own takes it also where docker answers.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${WITH_DOCKER:-}" != own ] && docker info >/dev/null 2>&1; then exec "$@"; fi

lacks() {
  echo "no docker answers, and none can be started here: $*" >&2
  exit 3
}
[ "$(uname -s)" = Linux ] || lacks "that needs Linux"
[ "$(id -u)" = 0 ] || lacks "that needs root"
for program in ip setpriv unshare; do
  command -v "$program" >/dev/null || lacks "that needs the program $program"
done
unshare --mount --net --pid --fork --mount-proc true 2>/dev/null || lacks "that needs namespaces of its own (unshare)"

# Where Debian's docker is not installed it is unpacked, and found in PATH.
if ! command -v dockerd >/dev/null; then
  unpacked=${XDG_CACHE_HOME:-$HOME/.cache}/mara/docker
  "$here/images/debian-tools.sh" "$unpacked" docker.io || lacks "its packages could not be fetched"
  export DOCKER_UNPACKED="$unpacked"
fi

work=$(mktemp -d /var/tmp/mara-docker.XXXXXX)
setsid "$here/docker/clean.sh" "$work" $$ </dev/null >/dev/null 2>&1 &
setpriv --pdeathsig KILL unshare --mount --net --pid --fork --kill-child --mount-proc "$here/docker/inside.sh" "$work" "$@" <&0 &
namespaces=$!
trap 'kill -KILL "$namespaces" 2>/dev/null || true; "$here/docker/clean.sh" "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
wait "$namespaces"
