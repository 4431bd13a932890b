# Something that holds data is deleted or replaced.
def deny:
  steps | select(.stateful and (.op == "delete" or .op == "replace"))
  | finding("would be \(.op)d, and its data lost" + (if .replaces then "; \(.replaces | join(", ")) cannot change in place" else "" end));
