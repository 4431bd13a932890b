# A container has no limit of memory.
def warn:
  resources("kubernetes:.*") | . as $step
  | pods | ((.containers // []) + (.initContainers // []))[] | select((.resources.limits.memory? // null) == null)
  | . as $container | $step | finding("the container \($container.name) has no limit of memory");
