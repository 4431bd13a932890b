# A Pod can do anything to its node.
def powers: ["ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_PTRACE", "SYS_RAWIO", "DAC_READ_SEARCH", "BPF"];

# Whether a directory of the node holds what governs the node.
def governs: test("^/+(\\.*|(etc|root|home|boot|proc|sys|dev|bin|sbin|lib|lib64|usr|opt|run|var/run|var/lib)(/.*)?|var)/*$");

def deny:
  resources("kubernetes:.*") | . as $step
  | pods
  | ( pod_containers
      | (select(.securityContext?.privileged? == true) | "the container \(.name) is privileged"),
        (. as $container | .securityContext?.capabilities?.add? | [texts | ascii_upcase | sub("^CAP_"; "") | select(IN(powers[]))] | select(length > 0)
         | "the container \($container.name) has \(join(", "))") ),
    (("hostNetwork", "hostPID", "hostIPC") as $share | select(.[$share] == true) | "its Pods have \($share)"),
    (select(.securityContext?.windowsOptions?.hostProcess? == true) | "its Pods are processes of the host"),
    (.volumes | each | .hostPath?.path? // empty | strings | select(governs) | "its Pods mount \(.) of the node")
  | . as $message | $step | finding($message);
