# Completion of runner for bash.
_runner() {
  local line="${COMP_LINE:0:COMP_POINT}" IFS=$' \t\n' current words
  read -ra words <<<"$line"
  [[ "$line" != *[[:space:]] ]] || words+=("")
  current="${words[${#words[@]}-1]}"
  IFS=$'\n'
  COMPREPLY=($(runner completion bash -- "${words[@]:1}" 2>/dev/null))
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
  COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*[:=]}"}"}")
}
complete -o default -F _runner runner
