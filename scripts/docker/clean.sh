#!/bin/sh
# clean.sh WORK [PID]: removes what with-docker.sh has left on disk and of cgroups, as soon as the process has ended. Until then it
# thaws what keeps nodes from ending.
set -u
work=$1
groups=/sys/fs/cgroup/freezer/$(basename "$work") # of cgroup v1

# thaw ends what has been frozen for some seconds in nodes. kubelet and runc freeze groups for a moment; a node that is
# killed in that moment keeps them frozen, and with cgroup v1 nothing frozen ends: docker cannot remove the node then. What
# docker itself has paused, a directory higher, stays so.
frozen=
thaw() {
  before=$frozen frozen=
  [ -d "$groups" ] || return 0
  for state in $(find "$groups" -mindepth 3 -name freezer.self_freezing 2>/dev/null); do
    [ "$(cat "$state" 2>/dev/null)" = 1 ] || continue
    group=${state%/*}
    frozen="$frozen $group"
    case "$before " in *" $group "*) echo THAWED >"$group/freezer.state" 2>/dev/null ;; esac
  done
}

seconds=0
while [ -n "${2:-}" ] && kill -0 "$2" 2>/dev/null; do
  sleep 1
  seconds=$((seconds + 1))
  [ $((seconds % 5)) != 0 ] || thaw
done
# The last processes may take a moment to die.
for _ in 1 2 3 4 5 6 7 8 9 10; do
  thaw
  find /sys/fs/cgroup -depth -type d -path "*/$(basename "$work")*" -exec rmdir {} + 2>/dev/null
  rm -rf "$work" 2>/dev/null && [ -z "$(find /sys/fs/cgroup -type d -path "*/$(basename "$work")*" 2>/dev/null)" ] && break
  sleep 1
done
