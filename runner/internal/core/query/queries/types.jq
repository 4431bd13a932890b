# Types of resources, how many there are of each, and in which environments.
[ .items[] | {type, environment} ]
| group_by(.type)[]
| {type: .[0].type, count: length, environments: (map(.environment) | unique)}
