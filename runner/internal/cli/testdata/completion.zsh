#compdef runner
# Completion of runner for zsh.
_runner() {
  local -a found
  found=("${(@f)$(runner completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then
    found=("${(@)found//:/\\:}")
    found=("${(@)found/$'\t'/:}")
    _describe runner found
  else
    _files
  fi
}
if [[ "$funcstack[1]" == _runner ]]; then
  _runner "$@"
else
  compdef _runner runner
fi
