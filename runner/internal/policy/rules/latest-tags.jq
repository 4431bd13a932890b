# An image has no version, or the tag latest.
def deny:
  resources("kubernetes:.*") | . as $step
  | .inputs | images | select(. != "[unknown]") | . as $name | image
  | select(.digest == null and (.tag == null or .tag == "latest"))
  | $step | finding("the image \($name) has no version, so that it may be another one tomorrow");
