# An image has no version, or the tag latest.
def version: select(. != "[unknown]") | . as $name | image? | select(.digest == null and (.tag == null or .tag == "latest")) | $name;

# The images that the values of a chart name: with their tag, or beside it. A chart
# itself has versions for those without a tag.
def charted:
  .. | objects
  | ( select(.tag? == "latest") | "\(.repository? // .image? // .name? // "" | strings):latest" ),
    ( .image?, .repository? | strings | select(test(":latest$")) );

# The images that what is no Kubernetes object names.
def others:
  if .type == "docker:index/image:Image" then .inputs.imageName
  elif .type == "docker:index/container:Container" then .inputs.image
  elif .type | test("^docker:index/(remoteImage:RemoteImage|registryImage:RegistryImage)$") then .inputs.name
  elif .type == "docker-build:index:Image" then .inputs.tags[]?
  elif .type == "aws:lambda/function:Function" then .inputs.imageUri
  elif .type == "aws:ecs/taskDefinition:TaskDefinition" then .inputs.containerDefinitions | strings | fromjson? | arrays | .[] | objects | .image?
  else empty end | strings;

def deny:
  ( resources("kubernetes:.*") | select(.type | test("helm.sh") | not) | . as $step
    | .inputs | images | version | . as $name
    | $step | finding("the image \($name) has no version, so that it may be another one tomorrow") ),
  ( resources("kubernetes:helm.sh/.*") | . as $step
    | [.inputs.values? | charted] | unique[] | . as $name
    | $step | finding("the chart uses the image \($name), which may be another one tomorrow") ),
  ( resources | . as $step | others | version | . as $name
    | $step | finding("the image \($name) has no version, so that it may be another one tomorrow") );
