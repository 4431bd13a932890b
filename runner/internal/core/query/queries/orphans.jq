# Objects in the clusters that no state knows: made by hand, or left behind.
# reads: state, live
# kinds: namespaces, deployments.apps, statefulsets.apps, daemonsets.apps, jobs.batch, cronjobs.batch, services, ingresses.networking.k8s.io, configmaps
def id: "\(.environment) \(.object.kind) \(.object.metadata.namespace // "") \(.object.metadata.name)";

# Helm releases of the states. What Helm manages belongs to them.
([.items[] | select(.source == "state" and .object) | id] | unique) as $known
| ([.items[] | select(.source == "state" and .type == "kubernetes:helm.sh/v3:Release")
    | "\(.environment) \(.outputs.status.namespace? // .outputs.namespace // .inputs.namespace // "default") \(.outputs.status.name? // .outputs.name // .inputs.name)"] | unique) as $releases
| INDEX($known[]; .) as $known | INDEX($releases[]; .) as $releases
| .items[] | select(.source == "live")
| .object.metadata as $meta
| select(($meta.ownerReferences // []) | length == 0)
| select(($meta.namespace // $meta.name) | test("^(kube-.*|local-path-storage)$") | not)
| select($meta.name != "kube-root-ca.crt" and "\(.object.kind) \($meta.name)" != "Namespace default")
| select("\(.object.kind) \($meta.namespace) \($meta.name)" != "Service default kubernetes")
| select($known[id] | not)
| select($releases["\(.environment) \($meta.annotations["meta.helm.sh/release-namespace"]?) \($meta.annotations["meta.helm.sh/release-name"]?)"] | not)
| {environment, kind: .object.kind, namespace: ($meta.namespace // ""), name: $meta.name, created: $meta.creationTimestamp}
