# Helm charts and their versions over the environments.
[ .items[] | select(.source == "state" and .type == "kubernetes:helm.sh/v3:Release")
  | {chart: (.inputs.chart // .outputs.chart | sub("^.*/"; "")), version: (.outputs.status.version? // .outputs.version // .inputs.version), where: place} ]
| group_by([.chart, .version])[]
| {chart: .[0].chart, version: .[0].version, count: length, where: (map(.where) | unique)}
