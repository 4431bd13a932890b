# What every rule can use besides the functions of queries.

# The steps of all projects, each with its project.
def steps: .projects[] | .name as $project | .steps[] | . + {project: $project};

# The steps after which a resource is there: what is deleted is not judged.
def resources: steps | select(.op != "delete" and .op != "read" and .inputs != null);

# The steps of a type, or of types by a regular expression.
def resources($type): resources | select(.type | test("^(?:\($type))$"));

# A finding about a step.
def finding($message): {message: $message, project, type, name, urn};

# Whether a list of ranges is open to everybody.
def open: map(strings | select(. == "0.0.0.0/0" or . == "::/0")) | length > 0;

# The specification of the Pods of a Kubernetes object, if it has some.
def pods:
  .inputs | if .kind? == "Pod" then .spec else (.spec?.template?.spec?, .spec?.jobTemplate?.spec?.template?.spec?) end | objects;
