# What every rule can use besides the functions of queries.

# The steps of all projects, each with its project.
def steps: .projects[] | .name as $project | .steps[] | . + {project: $project};

# The steps after which a resource is there: what is deleted is not judged.
def resources: steps | select(.op != "delete" and .op != "read" and .inputs != null);

# The steps of a type, or of types by a regular expression.
def resources($type): resources | select(.type | test("^(?:\($type))$"));

# A finding about a step.
def finding($message): {message: $message, project, type, name, urn};

# Whether a list of ranges is open to everybody: to all addresses, or to a part of
# them that no network can own, such as a half.
def open:
  any(.[]?; strings | ascii_downcase
    | . == "any" or . == "0/0" or ((capture("^(?<address>[0-9a-f.:]+)/(?<bits>[0-9]+)$") // null)
      | . != null and (.bits | tonumber) < (if .address | test(":") then 16 else 8 end) and (.address | test("^f[cde]") | not)));

# The strings that an input holds, one or a list; nothing that is not known yet.
def texts: if type == "array" then .[] else . end | strings | select(. != "[unknown]");

# The objects of a list; nothing of one that is not known yet.
def each: arrays | .[] | objects;

# The containers of a Pod's specification, those before the others first.
def pod_containers: .initContainers, .containers | each;

# Whether an input that should be true is not; one that is not known yet may be.
def off: . != true and . != "true" and . != "[unknown]";

# The specification of the Pods of a Kubernetes object, if it has some.
def pods:
  .inputs | if .kind? == "Pod" then .spec else (.spec?.template?.spec?, .spec?.jobTemplate?.spec?.template?.spec?) end | objects;
