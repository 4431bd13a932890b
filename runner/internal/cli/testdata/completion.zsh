#compdef runner
# Completion of runner for zsh.
_runner() {
  local -a commands
  commands=(
    'init:make a folder for the configuration of environments'
    'providers:list the providers'
    'plan:show the projects of a provider, in order, with what they wait for'
    'preview:show what up would change'
    'up:create or update everything in the environment'
    'refresh:bring the state in line with what really exists'
    'destroy:destroy everything in the environment'
    'status:show what is deployed'
    'outputs:show the outputs of the projects'
    'env:print what plain pulumi needs to see the same state and configuration'
    'pulumi:run any Pulumi command on one project'
    'completion:print the completion of a shell\: bash, zsh or fish'
    'version:print the versions of the runner and of the Pulumi inside'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
    init)
      _arguments \
        '--debug[log what happens inside, on stderr]' \
        '--no-color[print without colour; NO_COLOR does the same]' \
        '1:folder:_files -/'
      ;;
    providers|list-providers)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--debug[log what happens inside, on stderr]' \
        '--no-color[print without colour; NO_COLOR does the same]'
      ;;
    plan|show-execution)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: tree, table, json, dot, mermaid (default\: tree)]:value:(tree table json dot mermaid)' \
        '--destroy[show the order of destroy]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest folder upward that has one)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, linode or kind (default\: the one in the stack configuration)]:value:(aws linode kind)' \
        '--debug[log what happens inside, on stderr]' \
        '--no-color[print without colour; NO_COLOR does the same]'
      ;;
    preview)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit) or .csv]:value:' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest folder upward that has one)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, linode or kind (default\: the one in the stack configuration)]:value:(aws linode kind)' \
        '(--yes -y)'{--yes,-y}'[do it without asking for confirmation]' \
        '--non-interactive[never ask anything; what is missing is an error]' \
        '--simulate[work on simulated clouds, kept apart under .runner/simulated]' \
        '--simulate-speed[make simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[fail simulated resources of a type, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-slow[slow simulated resources of a type down, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the engine inside]:value:_files' \
        '--debug[log what happens inside, on stderr]' \
        '--no-color[print without colour; NO_COLOR does the same]'
      ;;
    up)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit) or .csv]:value:' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest folder upward that has one)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, linode or kind (default\: the one in the stack configuration)]:value:(aws linode kind)' \
        '(--yes -y)'{--yes,-y}'[do it without asking for confirmation]' \
        '--non-interactive[never ask anything; what is missing is an error]' \
        '--simulate[work on simulated clouds, kept apart under .runner/simulated]' \
        '--simulate-speed[make simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[fail simulated resources of a type, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-slow[slow simulated resources of a type down, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the engine inside]:value:_files' \
        '--debug[log what happens inside, on stderr]' \
        '--no-color[print without colour; NO_COLOR does the same]'
      ;;
    refresh)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit) or .csv]:value:' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest folder upward that has one)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, linode or kind (default\: the one in the stack configuration)]:value:(aws linode kind)' \
        '(--yes -y)'{--yes,-y}'[do it without asking for confirmation]' \
        '--non-interactive[never ask anything; what is missing is an error]' \
        '--simulate[work on simulated clouds, kept apart under .runner/simulated]' \
        '--simulate-speed[make simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[fail simulated resources of a type, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-slow[slow simulated resources of a type down, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the engine inside]:value:_files' \
        '--debug[log what happens inside, on stderr]' \
        '--no-color[print without colour; NO_COLOR does the same]'
      ;;
    destroy|down)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit) or .csv]:value:' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest folder upward that has one)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, linode or kind (default\: the one in the stack configuration)]:value:(aws linode kind)' \
        '(--yes -y)'{--yes,-y}'[do it without asking for confirmation]' \
        '--non-interactive[never ask anything; what is missing is an error]' \
        '--simulate[work on simulated clouds, kept apart under .runner/simulated]' \
        '--simulate-speed[make simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[fail simulated resources of a type, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-slow[slow simulated resources of a type down, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the engine inside]:value:_files' \
        '--debug[log what happens inside, on stderr]' \
        '--no-color[print without colour; NO_COLOR does the same]'
      ;;
    status)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest folder upward that has one)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, linode or kind (default\: the one in the stack configuration)]:value:(aws linode kind)' \
        '--simulate[work on simulated clouds, kept apart under .runner/simulated]' \
        '--simulate-speed[make simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[fail simulated resources of a type, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-slow[slow simulated resources of a type down, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the engine inside]:value:_files' \
        '--debug[log what happens inside, on stderr]' \
        '--no-color[print without colour; NO_COLOR does the same]'
      ;;
    outputs)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--show-secrets[print secret values in plain text]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest folder upward that has one)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, linode or kind (default\: the one in the stack configuration)]:value:(aws linode kind)' \
        '--simulate[work on simulated clouds, kept apart under .runner/simulated]' \
        '--simulate-speed[make simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[fail simulated resources of a type, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-slow[slow simulated resources of a type down, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the engine inside]:value:_files' \
        '--debug[log what happens inside, on stderr]' \
        '--no-color[print without colour; NO_COLOR does the same]'
      ;;
    env)
      _arguments \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest folder upward that has one)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, linode or kind (default\: the one in the stack configuration)]:value:(aws linode kind)' \
        '--debug[log what happens inside, on stderr]' \
        '--no-color[print without colour; NO_COLOR does the same]'
      ;;
    pulumi)
      _arguments \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest folder upward that has one)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, linode or kind (default\: the one in the stack configuration)]:value:(aws linode kind)' \
        '--simulate[work on simulated clouds, kept apart under .runner/simulated]' \
        '--simulate-speed[make simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[fail simulated resources of a type, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-slow[slow simulated resources of a type down, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the engine inside]:value:_files' \
        '--debug[log what happens inside, on stderr]' \
        '--no-color[print without colour; NO_COLOR does the same]'
      ;;
    completion)
      _arguments \
        '1:argument:(bash zsh fish)'
      ;;
    version)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--debug[log what happens inside, on stderr]' \
        '--no-color[print without colour; NO_COLOR does the same]'
      ;;
  esac
}
if [[ "$funcstack[1]" == _runner ]]; then
  _runner "$@"
else
  compdef _runner runner
fi
