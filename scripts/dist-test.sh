#!/bin/sh
# Makes a release for this machine's platform twice, in two places, and compares the bytes; and installs it without Go: in a directory with nothing but busybox, from a web server on this
# machine, over an older release. As root on Linux, with Debian's packages. DIST_PROGRAMS is as for dist.sh.
set -eu
cd "$(dirname "$0")/.."
port=${PORT:-8765}
address=http://127.0.0.1:$port/o/r/releases
platform=$(go env GOHOSTOS)/$(go env GOHOSTARCH)
work=$(mktemp -d)
server=''
finish() {
  [ -z "$server" ] || kill "$server"
  umount "$work/root/proc" 2>/dev/null || true
  git worktree remove --force "$work/elsewhere" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

export DIST_PACKAGES=deb # the others only take longer
git worktree add -q --detach "$work/elsewhere"
RELEASES=$address scripts/dist.sh 1.2.0 "$platform"
RELEASES=$address "$work/elsewhere/scripts/dist.sh" 1.2.0 "$platform" >/dev/null
diff -r dist "$work/elsewhere/dist" >&2 || fail "two builds of the same source differ"
for file in dist/*; do
  [ "$file" = dist/checksums.txt ] || grep -q "  ${file#dist/}\$" dist/checksums.txt || fail "checksums.txt has no $file"
done
echo "the same source made the same bytes twice:"
(cd dist && sha256sum -- *)
# It is seen that an archive that is too heavy ends a release.
if said=$(cd dist && ../scripts/release/weigh.sh 1000000 ./*.tar.gz 2>&1); then
  fail "an archive of more than a megabyte weighs less: $said"
fi
echo "with a budget of a megabyte: $said"

# What is published: this release, and one after it of which only the number is another.
web=$work/web/o/r/releases
mkdir -p "$web/download" "$web/latest"
mv "$work/elsewhere/dist" "$web/download/v1.2.0"
name=mara_1.3.0_$(echo "$platform" | tr / _)
mkdir "$web/download/v1.3.0"
tar -C "$work" -xzf "$web"/download/v1.2.0/*.tar.gz
mv "$work"/mara_1.2.0_* "$work/$name"
tar -C "$work" -cf - "$name" | gzip -1 >"$web/download/v1.3.0/$name.tar.gz"
cp "$web/download/v1.2.0/install.sh" "$web/download/v1.3.0/"
echo 1.3.0 >"$web/download/v1.3.0/VERSION"
(cd "$web/download/v1.3.0" && sha256sum -- * >checksums.txt)
ln -s ../download/v1.2.0 "$web/latest/download"

# The machine without Go.
root=$work/root
(cd "$work" && apt-get download -qq busybox-static 2>/dev/null >&2 && dpkg -x busybox-static_*.deb "$work/busybox")
busybox=$(find "$work/busybox" -type f -name busybox -perm -u+x | head -1)
mkdir -p "$root/bin" "$root/tmp" "$root/root" "$root/dev" "$root/etc" "$root/proc"
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo '127.0.0.1 localhost' >"$root/etc/hosts"
cp "$busybox" "$root/bin/busybox"
chroot "$root" /bin/busybox --install -s /bin
mount -t proc proc "$root/proc"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/urandom" c 1 9
if [ -n "${DIST_PROGRAMS:-}" ]; then # programs not built for a release need a libc
  ldd "$DIST_PROGRAMS"/runner | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")" && cp -L "$library" "$root$library"
  done
fi
"$busybox" httpd -f -p "127.0.0.1:$port" -h "$work/web" &
server=$!
inside() { chroot "$root" /bin/busybox env -i HOME=/root PATH=/usr/local/bin:/bin TERM=dumb "$@"; }
install() {
  inside sh -c "wget -q -O- $address/latest/download/install.sh | sh"
}

for version in 1.2.0 1.3.0; do
  rm "$web/latest/download"
  ln -s "../download/v$version" "$web/latest/download"
  install
  case $(inside readlink /usr/local/bin/runner) in
  */"$version"/bin/runner) ;;
  *) fail "the link does not lead to $version" ;;
  esac
done
inside runner version --check --releases "$address" | grep 'newest release 1.3.0' || fail "runner version --check"
inside runner demo >"$work/demo" 2>&1 || { cat "$work/demo" && fail "runner demo"; }
tail -3 "$work/demo"
chroot "$root" /bin/busybox env -i PATH=/usr/local/bin:/bin runner demo >"$work/demo" 2>&1 || { cat "$work/demo" && fail "runner demo without a HOME"; }
[ -z "$(ls "$root/tmp")" ] || fail "left in /tmp: $(ls "$root/tmp")"
# On a terminal, someone who has only this address gets from the README to an adopted repository with a preview: with five commands, in ten minutes.
if command -v tmux >/dev/null; then
  rm -rf "$root/usr/local"
  cp -R examples/existing "$root/root/shop"
  terminal() { tmux -S "$work/tmux" "$@"; }
  screen() { terminal capture-pane -p -J -S -3000; }
  terminal new-session -d -x 100 -y 40 "chroot '$root' /bin/busybox env -i HOME=/root PATH=/usr/local/bin:/bin TERM=xterm-256color PS1='ready> ' \
    PULUMI_BACKEND_URL=file://state PULUMI_CONFIG_PASSPHRASE='correct horse' sh"
  began=$(date +%s) commands=0
  type_in() { # COMMAND [QUESTION]: the answer to a question is Enter
    commands=$((commands + 1)) question=${2:-}
    terminal send-keys -l "$1"
    terminal send-keys Enter
    until [ "$(screen | grep -c '^ready>')" -gt $commands ]; do
      [ $(($(date +%s) - began)) -lt 600 ] || fail "after ten minutes: $(screen)"
      if [ -n "$question" ] && screen | grep -q "$question"; then
        terminal send-keys Enter
        question=''
      fi
      sleep 0.3
    done
  }
  type_in "wget -q -O- $address/latest/download/install.sh | sh"
  type_in 'runner demo' 'Press Enter to remove them'
  type_in 'cd ~/shop'
  type_in 'runner adopt'
  type_in 'runner preview -s dev'
  screen >"$work/screen"
  terminal kill-server
  for want in 'The files of the demo were removed' 'wrote /root/shop/mara.yaml: 4 projects' 'preview succeeded'; do
    grep -q "$want" "$work/screen" || { cat "$work/screen" && fail "the first minutes do not show \"$want\""; }
  done
  [ -e "$root/root/shop/mara.yaml" ] && [ $commands -le 5 ] || fail "$commands commands"
  echo "from nothing to an adopted repository with a preview: $commands commands, $(($(date +%s) - began)) s"
else
  echo "not run: the first minutes on a terminal, since tmux is not installed"
fi
inside sh -n /usr/local/share/bash-completion/completions/runner 2>/dev/null || bash -n "$root/usr/local/lib/mara/1.3.0/share/bash-completion/completions/runner" || fail "the completion is broken"
grep -q '^\.TH RUNNER' "$root/usr/local/lib/mara/1.3.0/share/man/man1/runner.1" || fail "there is no manual page"
for package in dist/*.deb; do
  for field in Section Homepage Recommends; do
    [ -n "$(dpkg-deb -f "$package" $field)" ] || fail "$package has no $field"
  done
  dpkg -x "$package" "$work/deb"
  [ "$(readlink "$work/deb/usr/bin/runner")" = /usr/lib/mara/bin/runner ] && [ -x "$work/deb/usr/lib/mara/bin/mara-engine" ] || fail "$package"
  gzip -t "$work/deb/usr/share/man/man1/runner.1.gz" || fail "$package has no compressed manual pages"
  "$work/deb/usr/lib/mara/bin/runner" version || fail "$package: the runner does not start"
done
echo "a release for $platform is made, the same twice, and installs where nothing is"
