# Versions of MySQL, how many of each, and where.
[ running
  | place as $where
  | ( (.object // {} | images | image | select(.repository | test("(^|/)mysql$")) | .tag // "latest"),
      (select(.type | startswith("aws:rds/")) | .outputs | select(.engine? == "mysql") | .engineVersion) )
  | {version: ., where: $where} ]
| group_by(.version)[]
| {version: .[0].version, count: length, where: (map(.where) | unique)}
