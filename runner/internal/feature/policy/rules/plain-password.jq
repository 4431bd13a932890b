# A password, a token or a private key is in plain text, and so in the state.
def names_secret:
  ascii_downcase | gsub("[-_. ]"; "")
  | (contains("pass") or contains("token") or contains("secret") or contains("key"))
    and test("(password|passwd|passphrase|(root|user|admin|db)pass|(client|app|api|shared|signing|webhook|jwt|oauth2?|cookie|session|hmac)secret" +
      "|secretaccesskey|privatekey(pem)?|apikey|token)$")
    and (test("(creation|client|request|next|page)token$") | not);

# What refers to a secret, or switches something on or off, is none.
def plain:
  length > 0 and . != "[unknown]" and (contains("[secret]") | not)
  and (test("^(true|false|yes|no|none|null|anonymous|disabled|enabled|required|optional)$"; "i") or test("^(/|arn:|vault:|ref\\+|[$][({]|[{<])") | not);

def has_login: contains("://") and contains("@") and (contains("\n") | not) and test("://[^/:@\\s]+:[^/@\\s{$<%\\[][^/@\\s]*@");

def place: reduce .[] as $part (""; if $part | type == "number" then . + "[\($part)]" elif . == "" then $part else . + "." + $part end);

def deny:
  resources | select(.type | startswith("kubernetes:core/v1:Secret") | not) | . as $step
  | .inputs | if .containerDefinitions? | type == "string" then .containerDefinitions |= (fromjson? // .) else . end
  | . as $inputs | paths(strings) as $path
  | select($path | any(.[]; . == "encryptedData" or . == "kubectl.kubernetes.io/last-applied-configuration") | not)
  | ($inputs | getpath($path)) as $value
  | ($path | map(strings) | last) as $key
  | ((if $key == "value" then $inputs | getpath($path[:-1]) | objects | select(.type? != "SECRET" and .type? != "[unknown]") | .name? // .key? | strings else empty end) // null) as $name
  | if ($name // $key | names_secret) and ($value | plain) then "\($path | place)\(if $name then " of \($name)" else "" end) is in plain text"
    elif $value | has_login then "\($path | place) has a password in a URL"
    else empty end
  | . as $message | $step | finding("\($message); make it a secret, or refer to one");
