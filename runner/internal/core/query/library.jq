# What every query can use besides jq's own functions.

# The images of a Kubernetes object, wherever its Pods are described.
def images:
  [.. | objects | (.containers?, .initContainers?, .ephemeralContainers?) | arrays | .[] | objects | .image? | strings]
  | unique | .[];

# The parts of an image's name.
def image:
  capture("^(?:(?<registry>[^/]+\\.[^/]+|[^/]+:[0-9]+|localhost)/)?(?<repository>[^:@]+)(?::(?<tag>[^@]+))?(?:@(?<digest>.+))?$");

# The containers of a Kubernetes object.
def containers:
  .. | objects | (.containers?, .initContainers?) | arrays | .[] | objects;

# The items that say what runs, each once: live, a Deployment, its ReplicaSet and its Pods name the same image.
def running:
  .items[] | select(.source == "state" or .object.kind == "Pod");

# Where an item is, for people.
def place:
  .environment + "/" + (.project // ([.namespace, .name] | map(strings) | join("/")));

# The Kubernetes objects of a kind.
def kind($kind):
  .items[] | select(.object.kind? == $kind);

# Whether an address can only be reached from inside a network.
def private:
  test("^(10\\.|127\\.|192\\.168\\.|172\\.(1[6-9]|2[0-9]|3[01])\\.|169\\.254\\.|f[cd]|fe80:|::1$)");
