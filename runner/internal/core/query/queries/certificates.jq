# Certificates that end within 30 days, or are not ready.
# kinds: certificates.cert-manager.io
[ kind("Certificate") | select(.object.apiVersion | startswith("cert-manager.io/"))
  | (.object.status.notAfter? | if . then fromdateiso8601 else null end) as $end
  | ([.object.status.conditions[]? | select(.type == "Ready") | .status][0]) as $ready
  | {environment, where: place, name, ready: ($ready // "Unknown"), ends: (.object.status.notAfter? // ""),
     days: (if $end then (($end - now) / 86400 | floor) else null end)} ]
| sort_by(.days)[] | select(.days == null or .days < 30 or .ready != "True")
| {environment, where, name, ready, ends, days}
