# A Pod can do anything to its node.
def deny:
  resources("kubernetes:.*") | . as $step
  | pods
  | ( ((.containers // []) + (.initContainers // []))[] | select(.securityContext.privileged? == true) | "the container \(.name) is privileged" ),
    ( (("hostNetwork", "hostPID", "hostIPC") as $share | select(.[$share] == true) | "its Pods have \($share)") )
  | . as $message | $step | finding($message);
