# Containers without a limit of memory or processor time.
running
| {environment, where: place, kind: .object.kind?, name} as $at
| .object // {} | containers | select(.name? and .image?)
| (["cpu", "memory"] - ((.resources.limits // {}) | keys)) as $missing
| select($missing | length > 0)
| {environment: $at.environment, where: $at.where, kind: $at.kind, name: $at.name, container: .name, missing: $missing}
