#!/bin/bash
# run.sh runs an operation for the action: COMMAND are its words, of which quotes keep some together. It writes what
# action.yml has as outputs, and the comment if COMMENT is true and PULL the number of a pull request.
set -euo pipefail

command -v jq >/dev/null || { echo "::error::the action needs jq" && exit 1; }
words=()
while IFS= read -r word; do words+=("$word"); done < <(xargs -n 1 printf '%s\n' <<<"$COMMAND")
reports=$(mktemp -d "$RUNNER_TEMP/runner-XXXXXX")
summary=$reports/summary.json

code=0
runner "${words[@]}" --non-interactive --report "$summary" || code=$?
echo "exit-code=$code" >>"$GITHUB_OUTPUT"

# Without a summary nothing has run, and the messages above have the reason.
if [ -s "$summary" ]; then
  jq -r '
    ([.warnings[]?, .steps[].diagnostics[]?] | map(select(.finding)) | length) as $findings |
    "result=\(.result // "interrupted")",
    "changes=\(.changes | .create + .update + .replace + .delete + (.outputs // 0))",
    "costs=\(if .costs then .costs.change else "" end)",
    "currency=\(.costs.currency // "")",
    "findings=\($findings)"' "$summary" >>"$GITHUB_OUTPUT"
  simulated=()
  if [ "$(jq .simulated "$summary")" = true ]; then simulated=(--simulate); fi
  run=$(jq -r .run "$summary")
  runner report "$run" ${simulated[@]+"${simulated[@]}"} -o html >"$reports/report.html"
  runner report "$run" ${simulated[@]+"${simulated[@]}"} -o md >"$reports/report.md"
  {
    echo "summary=$summary"
    echo "report=$reports/report.html"
  } >>"$GITHUB_OUTPUT"
fi

# comment writes the report into the pull request, in place of the one before.
comment() {
  local mark id comments=repos/$GITHUB_REPOSITORY/issues/$PULL/comments
  mark="<!-- runner: $(printf '%s' "$COMMAND in $DIRECTORY" | tr -c 'A-Za-z0-9 ./=-' _) -->"
  {
    echo "$mark"
    cat "$reports/report.md" 2>/dev/null || printf '**`runner %s` ended with %s before anything ran.** The log of the job has the reason.\n' "$COMMAND" "$code"
  } | head -c 65000 >"$reports/comment.md"
  id=$(gh api --paginate "$comments" --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$mark\"))) | .id" | head -n 1)
  if [ -n "$id" ]; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" -F "body=@$reports/comment.md" --silent
  else
    gh api --method POST "$comments" -F "body=@$reports/comment.md" --silent
  fi
}

if [ "$COMMENT" = true ] && [ -n "$PULL" ]; then
  comment || echo "::warning::the comment was not written: does the token have the permission pull-requests: write?"
fi
if [ "$code" != 0 ] && [ "$code" != 5 ]; then exit "$code"; fi
