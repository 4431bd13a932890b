#!/bin/sh
# capabilities.sh: prints the capabilities that root lacks here. Privileged containers, such as nodes, cannot start then.
# capabilities.sh wrapper RUNC: prints a runc that gives containers only existing capabilities.
set -eu
names="CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN
SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE
MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE"
has=$((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status)))
last=$(cat /proc/sys/kernel/cap_last_cap)
bit=0 edits='' lacks=''
for name in $names; do
  if [ "$bit" -le "$last" ] && [ $((has >> bit & 1)) = 0 ]; then
    lacks="$lacks CAP_$name"
    edits="${edits}s/\"CAP_$name\",//g; s/,\"CAP_$name\"//g; s/\"CAP_$name\"//g; "
  fi
  bit=$((bit + 1))
done
if [ "${1:-}" != wrapper ]; then
  echo "${lacks# }"
  exit
fi
cat <<WRAPPER
#!/bin/sh
# What a container or a process in one is to get stands in a file that an argument names.
before=
for argument in "\$@"; do
  case \$before in
  --bundle | -b) sed -i '$edits' "\$argument/config.json" ;;
  --process | -p) sed -i '$edits' "\$argument" ;;
  esac
  before=\$argument
done
exec $2 "\$@"
WRAPPER
