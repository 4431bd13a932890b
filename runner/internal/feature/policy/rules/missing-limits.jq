# A container has no limit of memory.
def warn:
  resources("kubernetes:.*") | . as $step
  | pods | pod_containers | select([.resources, .resources?.limits?] | any(. == "[unknown]") | not) | select(.resources?.limits?.memory? == null)
  | . as $container | $step | finding("the container \($container.name) has no limit of memory");
