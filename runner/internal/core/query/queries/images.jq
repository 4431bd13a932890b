# Images by registry, repository, tag and digest, and where they run.
[ running
  | place as $where
  | .object // {} | images | image
  | {registry: (.registry // "docker.io"), repository, tag: (.tag // (if .digest then "" else "latest" end)), digest: (.digest // ""), where: $where} ]
| group_by([.registry, .repository, .tag, .digest])[]
| {registry: .[0].registry, repository: .[0].repository, tag: .[0].tag, digest: .[0].digest, count: length, where: (map(.where) | unique)}
