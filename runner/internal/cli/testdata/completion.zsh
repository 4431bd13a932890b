#compdef runner
# Completion of runner for zsh.
_runner() {
  local -a commands
  commands=(
    'init:create a directory for the configuration of environments'
    'adopt:write a mara.yaml for existing Pulumi projects'
    'fetch:fetch the git projects of mara.yaml'
    'providers:list the providers'
    'plan:show the projects of a provider in order, with their dependencies'
    'config:show and change the configuration of an environment'
    'doctor:check the requirements of an operation'
    'preview:show what up would change'
    'up:create or update everything in the environment'
    'refresh:bring the state in line with what really exists'
    'drift:show where what really exists differs from the state'
    'destroy:destroy everything in the environment'
    'stacks:list the environments, with provider and state'
    'status:show what is deployed'
    'outputs:show the outputs of the projects'
    'query:query everything that is deployed, in jq'
    'policy:check deployed resources against rules in jq'
    'fleet:work on many environments at once'
    'hook:list hooks, or run one again'
    'secrets:manage the encrypted values of an environment'
    'mirror:list or copy all charts and images of an environment, for clusters without internet'
    'render:write what the projects would create in the cluster as plain manifests'
    'export:have other machines run an environment'
    'operator:watch, hand over and delete what the Pulumi Kubernetes Operator runs'
    'unlock:remove the locks that a run has left behind'
    'repair:repair a state after a run was cut off while it created something'
    'state:move the states of environments to another backend'
    'history:list past runs'
    'show:show a past run'
    'logs:print the logs of the projects of a run'
    'report:write a report of a past run'
    'support:create a support bundle'
    'try:deploy the cheapest complete environment on a cloud, check it, and destroy it'
    'demo:deploy and destroy a demo environment on simulated clouds'
    'env:print environment variables for plain pulumi'
    'pulumi:run any Pulumi command on one project'
    'schema:print the JSON Schema of a format that the runner prints or reads'
    'completion:print the completion script for bash, zsh or fish'
    'version:print the versions of the runner and of its embedded Pulumi'
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
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:directory:_files -/'
      ;;
    adopt)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--print[print mara.yaml instead of writing it]' \
        '--rename[let project NEW take over the stack of project OLD, its former name]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:([DIR   NEW])'
      ;;
    fetch)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    providers|list-providers)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    plan|show-execution)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: tree, table, json, dot, mermaid, svg, html, yaml (default\: tree)]:value:(tree table json dot mermaid svg html yaml)' \
        '--destroy[show the order of destroy]' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    config)
      _arguments \
        '--all[also show keys at their defaults]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '--exit-code[exit with code 5 if there are differences]' \
        '--simulate[compare the simulated environments]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: json (default\: json)]:value:(json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:(list get set unset explain diff schema reference)'
      ;;
    doctor|validate)
      _arguments \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    preview)
      _arguments \
        '--exit-code[exit with code 5 if there are changes]' \
        '--save-plan[write what up would do to FILE, for `runner up --plan`]:value:' \
        '--on-missing-output[if a program reads an output that does not exist, which Pulumi takes for null, DO\: error, warn (default\: error)]:value:(error warn)' \
        '--max-monthly[forbid what costs more than AMOUNT a month, or what has no known price\: see --unknown-costs (default\: no limit)]:value:' \
        '--unknown-costs[with --max-monthly\: WHAT to do where a price is not known\: deny, or allow, which counts what has a price (default\: deny)]:value:(deny allow)' \
        '--policy-pack[have Pulumi run the policy pack in DIR; may be repeated]:value:_files' \
        '--diff[list the resources that the preview would change, with their properties]' \
        '--secret[store this secret first, KEY=SOURCE; the source is - (stdin), @FILE or env\:NAME; may be repeated]:value:' \
        '--generate-secrets[generate the secrets that are missing, and store them encrypted]' \
        '--simulate-cluster[have the cluster of a KUBECONFIG check simulated Kubernetes objects, as server-side dry runs]:value:' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--config[use this configuration value for this run only, KEY=VALUE; may be repeated; `runner config set` stores it]:value:' \
        '--failed[run only what failed in the last run]' \
        '--resume[resume the last run\: what failed in it, never ran, or has changed since]' \
        '--resume-changed[like --resume, even if the configuration has changed since; what that changes runs again]' \
        '--new-backend[work in the configured backend, although the environment was deployed to another; see runner state move]' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--parallel-resources[work on up to N resources of a project at once (default\: as Pulumi does)]:value:' \
        '--on-error[when a project fails, follow POLICY\: stop starts nothing new, continue runs what does not depend on it (default\: stop)]:value:(stop continue)' \
        '--retry[retry a project up to N times if its error is known to be transient\: throttling, timeout, conflict, connection, server error (default\: 0)]:value:' \
        '--timeout[cancel a project after DURATION; PROJECT=DURATION for one of them; may be repeated]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit), .sarif or .csv]:value:' \
        '--profile[print to stderr where the time went]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    up)
      _arguments \
        '--auto-approve-if[preview first, and do not ask if the preview follows RULE\: no-deletes, no-replaces]:value:(no-deletes no-replaces)' \
        '--force[run all projects, also unchanged ones]' \
        '--allow[in a protected environment, allow the loss of NAME\: the stack for everything, else the name or type of a resource; may be repeated]:value:' \
        '--plan[carry out FILE, a plan of `runner preview --save-plan`, and nothing else]:value:' \
        '--plan-digest[with --plan\: refuse a plan whose digest is not DIGEST, which --save-plan prints]:value:' \
        '--unknown-programs[with --plan\: WHAT to do with a program that cannot be compared with the planned one\: deny, or allow (default\: deny)]:value:(deny allow)' \
        '--on-missing-output[if a program reads an output that does not exist, which Pulumi takes for null, DO\: error, warn (default\: error)]:value:(error warn)' \
        '--max-monthly[forbid what costs more than AMOUNT a month, or what has no known price\: see --unknown-costs (default\: no limit)]:value:' \
        '--unknown-costs[with --max-monthly\: WHAT to do where a price is not known\: deny, or allow, which counts what has a price (default\: deny)]:value:(deny allow)' \
        '--policy-pack[have Pulumi run the policy pack in DIR; may be repeated]:value:_files' \
        '--diff[list the resources that the preview would change, with their properties]' \
        '--secret[store this secret first, KEY=SOURCE; the source is - (stdin), @FILE or env\:NAME; may be repeated]:value:' \
        '--generate-secrets[generate the secrets that are missing, and store them encrypted]' \
        '--simulate-cluster[have the cluster of a KUBECONFIG check simulated Kubernetes objects, as server-side dry runs]:value:' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--config[use this configuration value for this run only, KEY=VALUE; may be repeated; `runner config set` stores it]:value:' \
        '--failed[run only what failed in the last run]' \
        '--resume[resume the last run\: what failed in it, never ran, or has changed since]' \
        '--resume-changed[like --resume, even if the configuration has changed since; what that changes runs again]' \
        '--new-backend[work in the configured backend, although the environment was deployed to another; see runner state move]' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--parallel-resources[work on up to N resources of a project at once (default\: as Pulumi does)]:value:' \
        '--on-error[when a project fails, follow POLICY\: stop starts nothing new, continue runs what does not depend on it (default\: stop)]:value:(stop continue)' \
        '--retry[retry a project up to N times if its error is known to be transient\: throttling, timeout, conflict, connection, server error (default\: 0)]:value:' \
        '--timeout[cancel a project after DURATION; PROJECT=DURATION for one of them; may be repeated]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit), .sarif or .csv]:value:' \
        '--profile[print to stderr where the time went]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    refresh)
      _arguments \
        '--exit-code[exit with code 5 if there are changes]' \
        '--preview-only[show what differs and leave the state as it is]' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--config[use this configuration value for this run only, KEY=VALUE; may be repeated; `runner config set` stores it]:value:' \
        '--failed[run only what failed in the last run]' \
        '--resume[resume the last run\: what failed in it, never ran, or has changed since]' \
        '--resume-changed[like --resume, even if the configuration has changed since; what that changes runs again]' \
        '--new-backend[work in the configured backend, although the environment was deployed to another; see runner state move]' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--parallel-resources[work on up to N resources of a project at once (default\: as Pulumi does)]:value:' \
        '--on-error[when a project fails, follow POLICY\: stop starts nothing new, continue runs what does not depend on it (default\: stop)]:value:(stop continue)' \
        '--retry[retry a project up to N times if its error is known to be transient\: throttling, timeout, conflict, connection, server error (default\: 0)]:value:' \
        '--timeout[cancel a project after DURATION; PROJECT=DURATION for one of them; may be repeated]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit), .sarif or .csv]:value:' \
        '--profile[print to stderr where the time went]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    drift)
      _arguments \
        '--exit-code[exit with code 5 if there are changes]' \
        '--deep[look inside Helm releases, too]' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--config[use this configuration value for this run only, KEY=VALUE; may be repeated; `runner config set` stores it]:value:' \
        '--failed[run only what failed in the last run]' \
        '--resume[resume the last run\: what failed in it, never ran, or has changed since]' \
        '--resume-changed[like --resume, even if the configuration has changed since; what that changes runs again]' \
        '--new-backend[work in the configured backend, although the environment was deployed to another; see runner state move]' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--parallel-resources[work on up to N resources of a project at once (default\: as Pulumi does)]:value:' \
        '--on-error[when a project fails, follow POLICY\: stop starts nothing new, continue runs what does not depend on it (default\: stop)]:value:(stop continue)' \
        '--retry[retry a project up to N times if its error is known to be transient\: throttling, timeout, conflict, connection, server error (default\: 0)]:value:' \
        '--timeout[cancel a project after DURATION; PROJECT=DURATION for one of them; may be repeated]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit), .sarif or .csv]:value:' \
        '--profile[print to stderr where the time went]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    destroy|down)
      _arguments \
        '--allow[in a protected environment, allow the loss of NAME\: the stack for everything, else the name or type of a resource; may be repeated]:value:' \
        '--remove-stacks[also remove the stacks once they are empty]' \
        '--force-forget[if the cluster is gone or cannot be reached, drop what was in it from the state]' \
        '--leave-behind[destroy a cluster also if it may leave load balancers and volumes behind in its cloud]' \
        '--orphans[destroy the stacks of this environment that no project claims any more, and nothing else]' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--config[use this configuration value for this run only, KEY=VALUE; may be repeated; `runner config set` stores it]:value:' \
        '--failed[run only what failed in the last run]' \
        '--resume[resume the last run\: what failed in it, never ran, or has changed since]' \
        '--resume-changed[like --resume, even if the configuration has changed since; what that changes runs again]' \
        '--new-backend[work in the configured backend, although the environment was deployed to another; see runner state move]' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--parallel-resources[work on up to N resources of a project at once (default\: as Pulumi does)]:value:' \
        '--on-error[when a project fails, follow POLICY\: stop starts nothing new, continue runs what does not depend on it (default\: stop)]:value:(stop continue)' \
        '--retry[retry a project up to N times if its error is known to be transient\: throttling, timeout, conflict, connection, server error (default\: 0)]:value:' \
        '--timeout[cancel a project after DURATION; PROJECT=DURATION for one of them; may be repeated]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit), .sarif or .csv]:value:' \
        '--profile[print to stderr where the time went]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    stacks)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--simulate[list the simulated environments]' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    status)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--watch[update the status until Ctrl-C]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    outputs)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--show-secrets[print secret values in plain text]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:{compadd -- $(runner completion projects 2>/dev/null)}'
      ;;
    query)
      _arguments \
        '--list[list the named queries]' \
        '--live[read the clusters instead of the states]' \
        '--watch[print the results, and then new (+) and removed (-) ones, until Ctrl-C; needs -s]' \
        '(--namespace -n)'{--namespace,-n}'[read only objects in the namespace NAME from the clusters]:value:' \
        '(--selector -l)'{--selector,-l}'[read only objects with these LABELS from the clusters]:value:' \
        '--timeout[wait up to DURATION for each cluster (default\: 30s)]:value:' \
        '--max-time[stop the program after DURATION of computing (default\: 1m0s)]:value:' \
        '--exit-code[exit with code 5 if there are results]' \
        '(--stack -s)'{--stack,-s}'[query only the stack NAME (default\: all)]:value:' \
        '--simulate[query the simulated environments]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json, ndjson, csv (default\: table)]:value:(table json ndjson csv)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:(EXPR NAME)'
      ;;
    policy)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '--live[check the objects in the clusters instead of the states]' \
        '--timeout[wait up to DURATION for each cluster (default\: 30s)]:value:' \
        '(--stack -s)'{--stack,-s}'[check only the stack NAME (default\: all)]:value:' \
        '--simulate[check the simulated environments]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json, sarif (default\: table)]:value:(table json sarif)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:(list check)'
      ;;
    fleet)
      _arguments \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '--simulate[show the last runs of the simulated environments]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '--simulate[check the needs of simulated environments]' \
        '--secrets[treat a missing passphrase or missing secrets as errors]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '--from[copy the environment OTHER]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '--simulate[show the outputs of the simulated environments]' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '--affected[choose environments whose values, programs or read outputs have changed since their last success; --affected=REF\: since a commit of git]' \
        '--why[with --affected\: print why each environment is affected]' \
        '--destroy[show the order of destroy]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--simulate[look at the simulated environments]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--simulate[look at the simulated environments]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '--environments[work on up to N environments at once; waves may allow fewer (default\: 4)]:value:' \
        '--total[run up to N projects at once in all environments; --parallel is the limit in one (default\: 8)]:value:' \
        '--exit-code[exit with code 5 if there are changes]' \
        '--affected[choose environments whose values, programs or read outputs have changed since their last success; --affected=REF\: since a commit of git]' \
        '--why[with --affected\: print why each environment is affected]' \
        '--on-missing-output[if a program reads an output that does not exist, which Pulumi takes for null, DO\: error, warn (default\: error)]:value:(error warn)' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--config[use this configuration value for this run only, KEY=VALUE; may be repeated; `runner config set` stores it]:value:' \
        '--resume[resume the last run\: what failed in it, never ran, or has changed since]' \
        '--new-backend[work in the configured backend, although the environment was deployed to another; see runner state move]' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--parallel-resources[work on up to N resources of a project at once (default\: as Pulumi does)]:value:' \
        '--on-error[when a project fails, follow POLICY\: stop starts nothing new, continue runs what does not depend on it (default\: stop)]:value:(stop continue)' \
        '--retry[retry a project up to N times if its error is known to be transient\: throttling, timeout, conflict, connection, server error (default\: 0)]:value:' \
        '--timeout[cancel a project after DURATION; PROJECT=DURATION for one of them; may be repeated]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit), .sarif or .csv]:value:' \
        '--profile[print to stderr where the time went]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '--environments[work on up to N environments at once; waves may allow fewer (default\: 4)]:value:' \
        '--total[run up to N projects at once in all environments; --parallel is the limit in one (default\: 8)]:value:' \
        '--affected[choose environments whose values, programs or read outputs have changed since their last success; --affected=REF\: since a commit of git]' \
        '--why[with --affected\: print why each environment is affected]' \
        '--on-missing-output[if a program reads an output that does not exist, which Pulumi takes for null, DO\: error, warn (default\: error)]:value:(error warn)' \
        '--secret[store this secret first, KEY=SOURCE; the source is - (stdin), @FILE or env\:NAME; may be repeated]:value:' \
        '--generate-secrets[generate the secrets that are missing, and store them encrypted]' \
        '--force[run all projects, also unchanged ones]' \
        '--allow[in a protected environment, allow the loss of NAME\: the stack for everything, else the name or type of a resource; may be repeated]:value:' \
        '--out-of-order[do not ask whether earlier waves have succeeded]' \
        '--skip-gate[do not wait for gates of this KIND\: drift, answers, run, ask; may be repeated]:value:' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--config[use this configuration value for this run only, KEY=VALUE; may be repeated; `runner config set` stores it]:value:' \
        '--resume[resume the last run\: what failed in it, never ran, or has changed since]' \
        '--new-backend[work in the configured backend, although the environment was deployed to another; see runner state move]' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--parallel-resources[work on up to N resources of a project at once (default\: as Pulumi does)]:value:' \
        '--on-error[when a project fails, follow POLICY\: stop starts nothing new, continue runs what does not depend on it (default\: stop)]:value:(stop continue)' \
        '--retry[retry a project up to N times if its error is known to be transient\: throttling, timeout, conflict, connection, server error (default\: 0)]:value:' \
        '--timeout[cancel a project after DURATION; PROJECT=DURATION for one of them; may be repeated]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit), .sarif or .csv]:value:' \
        '--profile[print to stderr where the time went]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '--environments[work on up to N environments at once; waves may allow fewer (default\: 4)]:value:' \
        '--total[run up to N projects at once in all environments; --parallel is the limit in one (default\: 8)]:value:' \
        '--exit-code[exit with code 5 if there are changes]' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--config[use this configuration value for this run only, KEY=VALUE; may be repeated; `runner config set` stores it]:value:' \
        '--resume[resume the last run\: what failed in it, never ran, or has changed since]' \
        '--new-backend[work in the configured backend, although the environment was deployed to another; see runner state move]' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--parallel-resources[work on up to N resources of a project at once (default\: as Pulumi does)]:value:' \
        '--on-error[when a project fails, follow POLICY\: stop starts nothing new, continue runs what does not depend on it (default\: stop)]:value:(stop continue)' \
        '--retry[retry a project up to N times if its error is known to be transient\: throttling, timeout, conflict, connection, server error (default\: 0)]:value:' \
        '--timeout[cancel a project after DURATION; PROJECT=DURATION for one of them; may be repeated]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit), .sarif or .csv]:value:' \
        '--profile[print to stderr where the time went]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '--environments[work on up to N environments at once; waves may allow fewer (default\: 4)]:value:' \
        '--total[run up to N projects at once in all environments; --parallel is the limit in one (default\: 8)]:value:' \
        '--exit-code[exit with code 5 if there are changes]' \
        '--deep[look inside Helm releases, too]' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--config[use this configuration value for this run only, KEY=VALUE; may be repeated; `runner config set` stores it]:value:' \
        '--resume[resume the last run\: what failed in it, never ran, or has changed since]' \
        '--new-backend[work in the configured backend, although the environment was deployed to another; see runner state move]' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--parallel-resources[work on up to N resources of a project at once (default\: as Pulumi does)]:value:' \
        '--on-error[when a project fails, follow POLICY\: stop starts nothing new, continue runs what does not depend on it (default\: stop)]:value:(stop continue)' \
        '--retry[retry a project up to N times if its error is known to be transient\: throttling, timeout, conflict, connection, server error (default\: 0)]:value:' \
        '--timeout[cancel a project after DURATION; PROJECT=DURATION for one of them; may be repeated]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit), .sarif or .csv]:value:' \
        '--profile[print to stderr where the time went]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '--environments[work on up to N environments at once; waves may allow fewer (default\: 4)]:value:' \
        '--total[run up to N projects at once in all environments; --parallel is the limit in one (default\: 8)]:value:' \
        '--allow[in a protected environment, allow the loss of NAME\: the stack for everything, else the name or type of a resource; may be repeated]:value:' \
        '--remove-stacks[also remove the stacks once they are empty]' \
        '--force-forget[if the cluster is gone or cannot be reached, drop what was in it from the state]' \
        '--leave-behind[destroy a cluster also if it may leave load balancers and volumes behind in its cloud]' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--config[use this configuration value for this run only, KEY=VALUE; may be repeated; `runner config set` stores it]:value:' \
        '--resume[resume the last run\: what failed in it, never ran, or has changed since]' \
        '--new-backend[work in the configured backend, although the environment was deployed to another; see runner state move]' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--parallel-resources[work on up to N resources of a project at once (default\: as Pulumi does)]:value:' \
        '--on-error[when a project fails, follow POLICY\: stop starts nothing new, continue runs what does not depend on it (default\: stop)]:value:(stop continue)' \
        '--retry[retry a project up to N times if its error is known to be transient\: throttling, timeout, conflict, connection, server error (default\: 0)]:value:' \
        '--timeout[cancel a project after DURATION; PROJECT=DURATION for one of them; may be repeated]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit), .sarif or .csv]:value:' \
        '--profile[print to stderr where the time went]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '--environments[work on up to N environments at once; waves may allow fewer (default\: 4)]:value:' \
        '--total[run up to N projects at once in all environments; --parallel is the limit in one (default\: 8)]:value:' \
        '--remove-stacks[also remove the stacks once they are empty]' \
        '--force-forget[if the cluster is gone or cannot be reached, drop what was in it from the state]' \
        '--leave-behind[destroy a cluster also if it may leave load balancers and volumes behind in its cloud]' \
        '--unknown-age[WHAT to do with environments whose states have no dates\: refuse (a failure), keep, destroy (default\: refuse)]:value:(refuse keep destroy)' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--config[use this configuration value for this run only, KEY=VALUE; may be repeated; `runner config set` stores it]:value:' \
        '--resume[resume the last run\: what failed in it, never ran, or has changed since]' \
        '--new-backend[work in the configured backend, although the environment was deployed to another; see runner state move]' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--parallel-resources[work on up to N resources of a project at once (default\: as Pulumi does)]:value:' \
        '--on-error[when a project fails, follow POLICY\: stop starts nothing new, continue runs what does not depend on it (default\: stop)]:value:(stop continue)' \
        '--retry[retry a project up to N times if its error is known to be transient\: throttling, timeout, conflict, connection, server error (default\: 0)]:value:' \
        '--timeout[cancel a project after DURATION; PROJECT=DURATION for one of them; may be repeated]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit), .sarif or .csv]:value:' \
        '--profile[print to stderr where the time went]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:(list check new get plan status preview up refresh drift destroy reap)'
      ;;
    hook)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:(list run)'
      ;;
    secrets)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '--to-file[write to FILE]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '--new-passphrase[take the new passphrase from SOURCE\: - (stdin), @FILE or env\:NAME]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:(list set generate rotate remove export change-provider)'
      ;;
    mirror)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--resolve[ask the registries for the digests of all images]' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--dry-run[only show what would be copied]' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:(list sync check)'
      ;;
    render)
      _arguments \
        '--out[write to DIR instead of stdout]:value:_files' \
        '--secret-store[make ExternalSecrets of the store KIND/NAME, such as ClusterSecretStore/vault]:value:' \
        '--sealed-cert[seal Secrets with the certificate in FILE, which kubeseal --fetch-cert prints]:value:' \
        '--plan[render what the plan in FILE would create]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    export)
      _arguments \
        '--wave[bring these ENVIRONMENTS up after the previous wave; may be repeated (default\: the stack alone)]:value:' \
        '--image[take the runner from this IMAGE]:value:' \
        '--aws-role[log in on AWS as the role ARN]:value:' \
        '--branch[bring environments up when BRANCH changes (default\: main)]:value:' \
        '--nightly[check for drift at the cron SCHEDULE (default\: 17 3 * * *)]:value:' \
        '--out[write to FILE (default\: the CI system'\''s path in the repository)]:value:' \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '--image[run the programs in this IMAGE]:value:' \
        '--out[write to DIR (default\: operator/STACK below the root, or operator for several)]:value:_files' \
        '(--namespace -n)'{--namespace,-n}'[create the objects in the namespace NAME; {stack} in it is replaced by the environment (default\: pulumi)]:value:' \
        '--backend[store the state at URL, as the cluster reaches it (default\: the configured one)]:value:' \
        '--claim[mount the volume claim NAME where --backend file\://... is]:value:' \
        '--repo[take own projects from the git repository at URL]:value:' \
        '--branch[follow BRANCH of the repository (default\: main)]:value:' \
        '--commit[use this COMMIT of the repository]:value:' \
        '--repo-secret[log in to repositories with the Secret NAME; its key is accessToken, or sshPrivateKey for ssh]:value:' \
        '--flux[take own projects from Flux'\''s source KIND/NAME, such as GitRepository/infra]:value:' \
        '--within[run a prerequisite again if its last success is older than DURATION (default\: twice what the chain of projects takes)]:value:' \
        '--resync[run every project each DURATION, also without a new commit (default\: never)]:value:' \
        '--refresh[refresh before each update]' \
        '--destroy[destroy a Stack'\''s resources when the Stack is deleted]' \
        '--preview[only preview, and fail if there are changes; runner operator adopt continues from there]' \
        '--retain[keep a pod for each Stack]' \
        '--retry-on-conflict[set retryOnUpdateConflict, which the operator 2.9 ignores]' \
        '--variable[set the environment variable NAME, from the Secret; may be repeated]:value:' \
        '--account-annotation[annotate the service account, KEY=VALUE; may be repeated]:value:' \
        '(--selector -l)'{--selector,-l}'[choose the environments whose labels match SELECTOR, in kubectl'\''s syntax\: stage=prod,region!=us-1]:value:' \
        '--all[choose all environments]' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:(ci operator)'
      ;;
    operator)
      _arguments \
        '(--namespace -n)'{--namespace,-n}'[look into the namespace NAME (default\: pulumi)]:value:' \
        '--kubeconfig[use the cluster of this FILE (default\: kubectl'\''s)]:value:' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '--timeout[give up after DURATION (default\: none)]:value:' \
        '--commit[wait until Stacks that follow a branch or Flux have tried this COMMIT]:value:' \
        '(--namespace -n)'{--namespace,-n}'[look into the namespace NAME (default\: pulumi)]:value:' \
        '--kubeconfig[use the cluster of this FILE (default\: kubectl'\''s)]:value:' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--timeout[give up after DURATION (default\: none)]:value:' \
        '(--namespace -n)'{--namespace,-n}'[look into the namespace NAME (default\: pulumi)]:value:' \
        '--kubeconfig[use the cluster of this FILE (default\: kubectl'\''s)]:value:' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--timeout[give up after DURATION (default\: none)]:value:' \
        '--back[take the environment back\: delete the Stacks, and destroy nothing]' \
        '(--namespace -n)'{--namespace,-n}'[look into the namespace NAME (default\: pulumi)]:value:' \
        '--kubeconfig[use the cluster of this FILE (default\: kubectl'\''s)]:value:' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:(status wait delete adopt)'
      ;;
    unlock)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--force[also remove the locks whose holders may still work]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    repair)
      _arguments \
        '--import[import the existing resource with this id into the state, NAME=ID; may be repeated]:value:' \
        '--forget[forget the creation of the resource NAME without asking the cloud; may be repeated]:value:' \
        '--only[run only these PROJECTS\: names, titles or patterns, separated by commas; +NAME adds its dependencies, NAME+ its dependents]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--skip[skip these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--from[skip everything listed before the first of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--until[skip everything listed after the last of these PROJECTS]:value:{compadd -- $(runner completion projects 2>/dev/null)}' \
        '--parallel[run up to N projects at once; 1 follows the listed order exactly (default\: 4)]:value:' \
        '--parallel-resources[work on up to N resources of a project at once (default\: as Pulumi does)]:value:' \
        '--on-error[when a project fails, follow POLICY\: stop starts nothing new, continue runs what does not depend on it (default\: stop)]:value:(stop continue)' \
        '--retry[retry a project up to N times if its error is known to be transient\: throttling, timeout, conflict, connection, server error (default\: 0)]:value:' \
        '--timeout[cancel a project after DURATION; PROJECT=DURATION for one of them; may be repeated]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--ui[show the run as MODE\: auto, live, plain (default\: auto)]:value:(auto live plain)' \
        '--log-order[print diagnostics in ORDER\: auto, stream, grouped (default\: auto)]:value:(auto stream grouped)' \
        '--report[write a report of the run to FILE\: .html, .md, .json, .xml (JUnit), .sarif or .csv]:value:' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    state)
      _arguments \
        '--to[move the states to the backend at URL (default\: the configured one, where the environment was deployed to another)]:value:' \
        '--all[move all environments of the root, one after the other]' \
        '--from[move them from the backend at URL (default\: the one that the environment was deployed to)]:value:' \
        '--lock-timeout[wait up to DURATION for other runs and for Pulumi'\''s locks (default\: 0s)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:(move)'
      ;;
    history)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: table, json (default\: table)]:value:(table json)' \
        '--limit[list at most N runs; 0 lists all (default\: 20)]:value:' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    show)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    logs)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--errors[print only the projects that failed]' \
        '(--follow -f)'{--follow,-f}'[keep printing until the run has finished]' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    report)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: html, md, json, junit, sarif, csv (default\: html)]:value:(html md json junit sarif csv)' \
        '--format[the same as --output FORMAT]:value:(html md json junit sarif csv)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    support)
      _arguments \
        '--file[write the archive to FILE (default\: runner-support-TIME.tar.gz)]:value:' \
        '--runs[include the last N runs (default\: 3)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    try)
      _arguments \
        '--directory[write the configuration and the report to DIR (default\: mara-try-PROVIDER)]:value:_files' \
        '(--yes -y)'{--yes,-y}'[skip the confirmation]' \
        '--non-interactive[never prompt; anything missing is an error]' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:(aws digitalocean linode)'
      ;;
    demo)
      _arguments \
        '--keep[keep the directory]' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    env)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: shell, json (default\: shell)]:value:(shell json)' \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
    pulumi)
      _arguments \
        '--root[use the configuration in DIR/config/pulumi (default\: the nearest one, from the working directory upwards)]:value:_files' \
        '(--stack -s)'{--stack,-s}'[use the stack NAME (default\: PULUMI_STACK)]:value:' \
        '(--provider -p)'{--provider,-p}'[use the provider NAME\: aws, digitalocean, linode or kind (default\: the one in the stack configuration)]:value:{compadd -- $(runner completion providers 2>/dev/null)}' \
        '--simulate[use simulated clouds, whose state is stored in .runner/simulated]' \
        '--simulate-speed[run simulated clouds N times as fast (default\: 30)]:value:' \
        '--simulate-fail[let simulated resources of a type fail, TYPE\[=MESSAGE\]; may be repeated]:value:' \
        '--simulate-schema[simulate a Pulumi package from the schema in FILE; may be repeated]:value:' \
        '--simulate-slow[add a delay to every simulated resource of a type, TYPE=DURATION; may be repeated]:value:' \
        '--pulumi[use the installed Pulumi at PATH instead of the embedded engine]:value:_files' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:{compadd -- $(runner completion projects 2>/dev/null)}'
      ;;
    schema)
      _arguments \
        '(--output -o)'{--output,-o}'[print as FORMAT\: json (default\: json)]:value:(json)' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]' \
        '1:argument:(events summary plan status history doctor project mirror saved-plan query policy config)'
      ;;
    completion)
      _arguments \
        '1:argument:(bash zsh fish)'
      ;;
    version)
      _arguments \
        '--check[look for a newer release]' \
        '--releases[look at ADDRESS, which is laid out like a GitHub repository'\''s releases (default\: where this release was published)]:value:' \
        '(--output -o)'{--output,-o}'[print as FORMAT\: text, json (default\: text)]:value:(text json)' \
        '--debug[log internals, such as each Pulumi command, to stderr]' \
        '--no-color[disable colour; NO_COLOR does the same]'
      ;;
  esac
}
if [[ "$funcstack[1]" == _runner ]]; then
  _runner "$@"
else
  compdef _runner runner
fi
