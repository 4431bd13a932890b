# A resource does not say whose it is: it has no tag or label "owner".
def warn:
  ( resources("aws:.*") | select(.inputs | has("tags")) | select((.inputs.tags // {} | objects | has("owner") or has("Owner")) | not)
    | finding("has no tag owner") ),
  ( resources("kubernetes:core/v1:Namespace") | select((.inputs.metadata.labels // {} | objects | has("owner")) | not)
    | finding("has no label owner") );
