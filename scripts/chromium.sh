#!/bin/sh
# chromium.sh NAME: ends with 3 where no Chromium is installed, and says so for the script NAME.
for browser in chromium chromium-browser google-chrome; do
  if command -v "$browser" >/dev/null; then exit 0; fi
done
echo "$1: no Chromium is installed; on Debian: apt-get install chromium" >&2
exit 3
