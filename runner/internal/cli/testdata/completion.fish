# Completion of runner for fish.
function __runner_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (runner completion fish -- $words[2..-1] "$current" 2>/dev/null)
  if set -q found[1]
    printf '%s\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c runner -f -a '(__runner_complete)'
