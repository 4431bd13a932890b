#!/bin/sh
# clean.sh WORK [PID]: removes what with-docker.sh has left on disk and of cgroups, as soon as the process has ended.
set -u
work=$1
while [ -n "${2:-}" ] && kill -0 "$2" 2>/dev/null; do sleep 1; done
# The last processes may take a moment to die.
for _ in 1 2 3 4 5 6 7 8 9 10; do
  find /sys/fs/cgroup -depth -type d -path "*/$(basename "$work")*" -exec rmdir {} + 2>/dev/null
  rm -rf "$work" 2>/dev/null && break
  sleep 1
done
