#!/bin/bash
# <UDF name="harbor_admin_password" label="Password of Harbor's administrator">
# <UDF name="harbor_version" label="Version of Harbor">
# <UDF name="harbor_email" label="Address that the certificate authority warns" default="">

# Installs Harbor on Ubuntu, with a certificate of Let's Encrypt for the host
# name that Linode gives to the machine's address. Runs once, as root, when the
# machine first starts; Harbor's containers start themselves afterwards.
# https://goharbor.io/docs/main/install-config/
set -euo pipefail
exec >>/var/log/install-harbor.log 2>&1

export DEBIAN_FRONTEND=noninteractive
address=$(ip -4 route get 192.0.2.1 | sed -n 's/.* src \([0-9.]*\).*/\1/p')
host="${address//./-}.ip.linodeusercontent.com"
live="/etc/letsencrypt/live/$host"

# A machine that has just started may have no network yet, or another process
# may be installing packages.
retry() {
  local attempts=$1
  shift
  for _ in $(seq "$attempts"); do
    "$@" && return
    sleep 20
  done
  return 1
}

retry 20 apt-get -o DPkg::Lock::Timeout=300 update -q
retry 20 apt-get -o DPkg::Lock::Timeout=300 install -q -y ca-certificates certbot curl docker.io docker-compose-v2 python3-yaml

account=(--register-unsafely-without-email)
if [ -n "$HARBOR_EMAIL" ]; then
  account=(--email "$HARBOR_EMAIL")
fi
# The certificate authority locks a host out for an hour after five failures.
retry 4 certbot certonly --standalone --non-interactive --agree-tos "${account[@]}" --domain "$host"

retry 20 curl -fsSL --output /tmp/harbor.tgz \
  "https://github.com/goharbor/harbor/releases/download/v$HARBOR_VERSION/harbor-online-installer-v$HARBOR_VERSION.tgz"
tar -xzf /tmp/harbor.tgz -C /opt

# The settings are Harbor's own template with what has to differ. Values travel
# as environment variables, so that no character in them means anything.
install -m 600 /dev/null /opt/harbor/harbor.yml
export HARBOR_ADMIN_PASSWORD
HOST="$host" LIVE="$live" DATABASE_PASSWORD="$(openssl rand -hex 24)" python3 - <<'PYTHON'
import os, yaml

with open("/opt/harbor/harbor.yml.tmpl") as template:
    settings = yaml.safe_load(template)
settings["hostname"] = os.environ["HOST"]
settings["https"]["certificate"] = os.environ["LIVE"] + "/fullchain.pem"
settings["https"]["private_key"] = os.environ["LIVE"] + "/privkey.pem"
settings["harbor_admin_password"] = os.environ["HARBOR_ADMIN_PASSWORD"]
settings["database"]["password"] = os.environ["DATABASE_PASSWORD"]
with open("/opt/harbor/harbor.yml", "w") as target:
    yaml.safe_dump(settings, target)
PYTHON
retry 5 /opt/harbor/install.sh

# Renewal needs port 80 for a moment, and Harbor keeps a copy of the certificate.
hooks=/etc/letsencrypt/renewal-hooks
cat >"$hooks/pre/harbor" <<'HOOK'
#!/bin/sh
docker stop nginx
HOOK
cat >"$hooks/deploy/harbor" <<HOOK
#!/bin/sh
install -o 10000 -g 10000 -m 600 "$live/fullchain.pem" /data/secret/cert/server.crt
install -o 10000 -g 10000 -m 600 "$live/privkey.pem" /data/secret/cert/server.key
HOOK
cat >"$hooks/post/harbor" <<'HOOK'
#!/bin/sh
docker start nginx
HOOK
chmod 755 "$hooks"/*/harbor
