# Completion of runner for bash.
_runner() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local command="" offered="" known="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      init) command=init; break ;;
      providers|list-providers) command=providers; break ;;
      plan|show-execution) command=plan; break ;;
      preview) command=preview; break ;;
      up) command=up; break ;;
      refresh) command=refresh; break ;;
      destroy|down) command=destroy; break ;;
      status) command=status; break ;;
      outputs) command=outputs; break ;;
      env) command=env; break ;;
      pulumi) command=pulumi; break ;;
      completion) command=completion; break ;;
      version) command=version; break ;;
    esac
  done
  case "$command $previous" in
    "providers --output"|"providers -o") offered="table json"; known=1 ;;
    "plan --output"|"plan -o") offered="tree table json dot mermaid"; known=1 ;;
    "plan --root") offered=""; known=1 ;;
    "plan --stack"|"plan -s") offered=""; known=1 ;;
    "plan --provider"|"plan -p") offered="aws linode kind"; known=1 ;;
    "preview --output"|"preview -o") offered="text json"; known=1 ;;
    "preview --parallel") offered=""; known=1 ;;
    "preview --ui") offered="auto live plain"; known=1 ;;
    "preview --log-order") offered="auto stream grouped"; known=1 ;;
    "preview --report") offered=""; known=1 ;;
    "preview --root") offered=""; known=1 ;;
    "preview --stack"|"preview -s") offered=""; known=1 ;;
    "preview --provider"|"preview -p") offered="aws linode kind"; known=1 ;;
    "preview --simulate-speed") offered=""; known=1 ;;
    "preview --simulate-fail") offered=""; known=1 ;;
    "preview --simulate-slow") offered=""; known=1 ;;
    "preview --pulumi") offered=""; known=1 ;;
    "up --output"|"up -o") offered="text json"; known=1 ;;
    "up --parallel") offered=""; known=1 ;;
    "up --ui") offered="auto live plain"; known=1 ;;
    "up --log-order") offered="auto stream grouped"; known=1 ;;
    "up --report") offered=""; known=1 ;;
    "up --root") offered=""; known=1 ;;
    "up --stack"|"up -s") offered=""; known=1 ;;
    "up --provider"|"up -p") offered="aws linode kind"; known=1 ;;
    "up --simulate-speed") offered=""; known=1 ;;
    "up --simulate-fail") offered=""; known=1 ;;
    "up --simulate-slow") offered=""; known=1 ;;
    "up --pulumi") offered=""; known=1 ;;
    "refresh --output"|"refresh -o") offered="text json"; known=1 ;;
    "refresh --parallel") offered=""; known=1 ;;
    "refresh --ui") offered="auto live plain"; known=1 ;;
    "refresh --log-order") offered="auto stream grouped"; known=1 ;;
    "refresh --report") offered=""; known=1 ;;
    "refresh --root") offered=""; known=1 ;;
    "refresh --stack"|"refresh -s") offered=""; known=1 ;;
    "refresh --provider"|"refresh -p") offered="aws linode kind"; known=1 ;;
    "refresh --simulate-speed") offered=""; known=1 ;;
    "refresh --simulate-fail") offered=""; known=1 ;;
    "refresh --simulate-slow") offered=""; known=1 ;;
    "refresh --pulumi") offered=""; known=1 ;;
    "destroy --output"|"destroy -o") offered="text json"; known=1 ;;
    "destroy --parallel") offered=""; known=1 ;;
    "destroy --ui") offered="auto live plain"; known=1 ;;
    "destroy --log-order") offered="auto stream grouped"; known=1 ;;
    "destroy --report") offered=""; known=1 ;;
    "destroy --root") offered=""; known=1 ;;
    "destroy --stack"|"destroy -s") offered=""; known=1 ;;
    "destroy --provider"|"destroy -p") offered="aws linode kind"; known=1 ;;
    "destroy --simulate-speed") offered=""; known=1 ;;
    "destroy --simulate-fail") offered=""; known=1 ;;
    "destroy --simulate-slow") offered=""; known=1 ;;
    "destroy --pulumi") offered=""; known=1 ;;
    "status --output"|"status -o") offered="table json"; known=1 ;;
    "status --root") offered=""; known=1 ;;
    "status --stack"|"status -s") offered=""; known=1 ;;
    "status --provider"|"status -p") offered="aws linode kind"; known=1 ;;
    "status --simulate-speed") offered=""; known=1 ;;
    "status --simulate-fail") offered=""; known=1 ;;
    "status --simulate-slow") offered=""; known=1 ;;
    "status --pulumi") offered=""; known=1 ;;
    "outputs --output"|"outputs -o") offered="text json"; known=1 ;;
    "outputs --root") offered=""; known=1 ;;
    "outputs --stack"|"outputs -s") offered=""; known=1 ;;
    "outputs --provider"|"outputs -p") offered="aws linode kind"; known=1 ;;
    "outputs --simulate-speed") offered=""; known=1 ;;
    "outputs --simulate-fail") offered=""; known=1 ;;
    "outputs --simulate-slow") offered=""; known=1 ;;
    "outputs --pulumi") offered=""; known=1 ;;
    "env --root") offered=""; known=1 ;;
    "env --stack"|"env -s") offered=""; known=1 ;;
    "env --provider"|"env -p") offered="aws linode kind"; known=1 ;;
    "pulumi --root") offered=""; known=1 ;;
    "pulumi --stack"|"pulumi -s") offered=""; known=1 ;;
    "pulumi --provider"|"pulumi -p") offered="aws linode kind"; known=1 ;;
    "pulumi --simulate-speed") offered=""; known=1 ;;
    "pulumi --simulate-fail") offered=""; known=1 ;;
    "pulumi --simulate-slow") offered=""; known=1 ;;
    "pulumi --pulumi") offered=""; known=1 ;;
    "version --output"|"version -o") offered="text json"; known=1 ;;
  esac
  [[ -n "$known" ]] || case "$command" in
    "") offered="init providers plan preview up refresh destroy status outputs env pulumi completion version help" ;;
    init) [[ "$current" != -* ]] || offered="--debug --no-color" ;;
    providers) offered="--output --debug --no-color" ;;
    plan) offered="--output --destroy --root --stack --provider --debug --no-color" ;;
    preview) offered="--output --parallel --ui --log-order --report --root --stack --provider --yes --non-interactive --simulate --simulate-speed --simulate-fail --simulate-slow --pulumi --debug --no-color" ;;
    up) offered="--output --parallel --ui --log-order --report --root --stack --provider --yes --non-interactive --simulate --simulate-speed --simulate-fail --simulate-slow --pulumi --debug --no-color" ;;
    refresh) offered="--output --parallel --ui --log-order --report --root --stack --provider --yes --non-interactive --simulate --simulate-speed --simulate-fail --simulate-slow --pulumi --debug --no-color" ;;
    destroy) offered="--output --parallel --ui --log-order --report --root --stack --provider --yes --non-interactive --simulate --simulate-speed --simulate-fail --simulate-slow --pulumi --debug --no-color" ;;
    status) offered="--output --root --stack --provider --simulate --simulate-speed --simulate-fail --simulate-slow --pulumi --debug --no-color" ;;
    outputs) offered="--output --show-secrets --root --stack --provider --simulate --simulate-speed --simulate-fail --simulate-slow --pulumi --debug --no-color" ;;
    env) offered="--root --stack --provider --debug --no-color" ;;
    pulumi) offered="--root --stack --provider --simulate --simulate-speed --simulate-fail --simulate-slow --pulumi --debug --no-color" ;;
    completion) offered="bash zsh fish" ;;
    version) offered="--output --debug --no-color" ;;
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -o default -F _runner runner
