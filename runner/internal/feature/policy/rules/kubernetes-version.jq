# A version of Kubernetes has reached the end of its support.
# The days are those of the Kubernetes project; a cloud may support a version longer.
def ended: {
  "1.28": "2024-10-28", "1.29": "2025-02-28", "1.30": "2025-06-28", "1.31": "2025-11-11",
  "1.32": "2026-02-28", "1.33": "2026-06-28", "1.34": "2026-10-27", "1.35": "2027-02-28", "1.36": "2027-06-28"
};
def minor: (strings | capture("v?(?<minor>1\\.[0-9]+)").minor) // null;
def old:
  . as $version
  | if (ended[$version]) then select((ended[$version] + "T00:00:00Z" | fromdateiso8601) < now) | "support has ended on \(ended[$version])"
    else select(($version | split(".")[1] | tonumber) < 28) | "support has ended long ago" end;

def warn:
  ( (resources("aws:eks/cluster:Cluster") | {step: ., version: .inputs.version}),
    (resources("linode:index/lkeCluster:LkeCluster") | {step: ., version: .inputs.k8sVersion}),
    (resources("digitalocean:index/kubernetesCluster:KubernetesCluster") | {step: ., version: .inputs.version}),
    (resources("kind:index:Cluster") | {step: ., version: (.inputs.nodeImage // "" | capture(":(?<tag>v1\\.[0-9]+)").tag)}) )
  | .version as $version | .step as $step
  | ($version | minor) | select(.) | old as $why
  | $step | finding("Kubernetes \($version): \($why)");
