package guide

import (
	"slices"
	"strings"
)

// Recipe is a short answer to a common question.
type Recipe struct {
	Title string
	Words []string // by which `runner help` finds it
	Says  string
	Mark  string // how the documentation's test runs the commands, or why not
	Shell string // commands, a line each
	YAML  string // lines of mara.yaml, or ""
	More  string // links to pages, in Markdown
}

// Recipes returns the answers, in the order of their page.
func Recipes() []Recipe {
	const noRun = "not run: "
	return []Recipe{
		{
			Title: "Only some projects", Words: []string{"only", "skip", "subset", "select", "selection"},
			Says:  "`--only` and `--skip` choose projects. A plus sign adds what a project reads (`+shop`) or what reads it (`shop+`).",
			Mark:  "run in: own",
			Shell: "runner up -s dev --only +shop-database --yes --generate-secrets\nrunner up -s dev --only shop --yes\nrunner preview -s dev --skip shop",
			More:  "[commands](commands.md#runner-up)",
		},
		{
			Title: "Target one resource of a project", Words: []string{"target", "targets", "resource", "replace", "taint"},
			Says: "`--target` updates only the resources that you name, and `--replace` replaces them. Both take a URN, or a name that only one resource has. " +
				"What was left out runs the next time.",
			Mark:  noRun + "needs resources; standalone.md runs it",
			Shell: "runner preview -s dev --replace bucket\nrunner up -s dev --target bucket",
			More:  "[some resources of a project](standalone.md#some-resources-of-a-project)",
		},
		{
			Title: "Read the resources from the cloud first", Words: []string{"stale", "refresh"},
			Says:  "`runner refresh` writes what really exists into the states; `up --refresh` does it for each project before it is updated.",
			Mark:  "run in: own",
			Shell: "runner up -s dev --yes --generate-secrets\nrunner refresh -s dev --yes\nrunner up -s dev --refresh --yes",
			More:  "[what differs](output.md#what-differs)",
		},
		{
			Title: "Import a resource that exists", Words: []string{"import"},
			Says:  "Pulumi's import, with the states and secrets of the project. Then write what it prints into the program.",
			Mark:  noRun + "needs a cloud",
			Shell: "runner pulumi shop -s dev -- import aws:s3/bucket:Bucket bucket my-bucket-1234",
			More:  "[one project at a time](standalone.md)",
		},
		{
			Title: "Rename a project", Words: []string{"rename"},
			Says:  "Change `name` in its Pulumi.yaml. Then this command gives the deployed resources to the new name, with the configuration; without it, `up` refuses.",
			Mark:  noRun + "needs a project that was renamed; TestUnclaimedStacks does it",
			Shell: "runner adopt --rename database db -s dev",
			More:  "[projects that are renamed](mara-yaml.md#projects-that-are-renamed-or-removed)",
		},
		{
			Title: "Move a project to another directory", Words: []string{"move", "folder", "directory"},
			Says:  "Move it, and change its `path` in mara.yaml, or let `runner adopt --update` do it. Nothing is replaced: a state belongs to the name of a project, not to its directory.",
			Mark:  "run in: own",
			Shell: "runner up -s dev --yes --generate-secrets\nmv database storage && sed -i 's|path: database|path: storage|' mara.yaml\nrunner preview -s dev",
			More:  "[mara.yaml](mara-yaml.md#projects)",
		},
		{
			Title: "Keep the states in S3", Words: []string{"s3", "backend", "bucket", "gcs", "azure", "postgres"},
			Says: "Name the bucket in mara.yaml before the first `up`; an environment that is deployed already is moved. `gs://`, `azblob://`, `postgres://` and Pulumi Cloud work in the " +
				"same way. Credentials come from the environment, as for Pulumi.",
			YAML:  "backend: s3://acme-state",
			Mark:  noRun + "needs a bucket; configuration.md moves states to a directory",
			Shell: "runner state move -s dev --to s3://acme-state",
			More:  "[state](configuration.md#state)",
		},
		{
			Title: "Another AWS account for each environment", Words: []string{"account", "accounts", "aws_profile", "profile", "aws"},
			Says: "`env` of a project sets environment variables of its programs and hooks: with the name of the environment in them, or one value for each.",
			YAML: "projects:\n  - path: network\n    env: {AWS_PROFILE: \"acme-{stack}\", AWS_REGION: {dev: eu-west-1, default: us-east-1}}",
			More: "[mara.yaml](mara-yaml.md#projects)",
		},
		{
			Title: "Behind a proxy", Words: []string{"proxy", "http_proxy", "https_proxy"},
			Says: "Set `HTTPS_PROXY` and `NO_PROXY` in the environment of the process. The runner, Pulumi's engine and its plugins use them. They are not taken from " +
				"config/pulumi/environment, a file that a stranger may have written.",
			Mark:  noRun + "needs a proxy",
			Shell: "export HTTPS_PROXY=http://proxy.example.com:3128 NO_PROXY=localhost,127.0.0.1,.internal\nrunner preview -s dev",
			More:  "[other people's repositories](strangers.md#the-environment-file)",
		},
		{
			Title: "Without the internet", Words: []string{"airgap", "air-gap", "offline", "mirror"},
			Says:  "For the built-in projects, copy their charts and images to your registry, and name it in `kubernetes:mirror`. Plugins have to be in `~/.pulumi/plugins`.",
			Mark:  noRun + "copies images to a registry",
			Shell: "runner mirror sync registry.example.com/mirror -s dev\nrunner config set kubernetes:mirror registry.example.com/mirror -s dev",
			More:  "[without the internet](mirror.md)",
		},
		{
			Title: "A message to Slack", Words: []string{"slack", "teams", "webhook", "notify", "notification", "hook", "hooks"},
			Says: "A hook of the run, with the webhook's address in the environment. It gets more as JSON on stdin.",
			YAML: "hooks:\n  - name: slack\n    on: always\n    operations: [up, destroy]\n" +
				"    run: [sh, -c, 'curl -fsS -d \"{\\\"text\\\": \\\"$MARA_OPERATION of $MARA_STACK: $MARA_RESULT\\\"}\" \"$SLACK_WEBHOOK\"']",
			Mark:  noRun + "the file above has to be there; TestHooks runs hooks",
			Shell: "runner hook list",
			More:  "[hooks](mara-yaml.md#hooks)",
		},
		{
			Title: "A look for drift every night", Words: []string{"nightly", "drift", "cron"},
			Says:  "`runner export ci` writes a pipeline with one. Elsewhere, let cron run the command below: it ends with 5 where something differs.",
			Mark:  "run in: own",
			Shell: "runner up -s dev --yes --generate-secrets\nrunner drift -s dev --exit-code",
			More:  "[in CI](ci.md)",
		},
		{
			Title: "Approve in CI what was previewed", Words: []string{"approve", "approval", "ci", "plan file", "review"},
			Says:  "Save the preview as a plan and keep the digest that it prints. The up carries out this plan and nothing else; if anything has changed since, it refuses.",
			Mark:  "run in: own",
			Shell: "runner preview -s dev --save-plan plan.json --generate-secrets\nrunner up -s dev --plan plan.json --yes",
			More:  "[a preview as a file](policies.md#what-an-up-would-do-as-a-file), [in CI](ci.md)",
		},
		{
			Title: "Only what a commit has changed", Words: []string{"affected", "changed", "commit"},
			Says:  "An `up` skips projects that have not changed. For many environments, `--affected` chooses those that have.",
			Mark:  noRun + "needs a repository with commits; TestAffected does it",
			Shell: "runner up -s dev --why\nrunner fleet plan --affected=origin/main --why",
			More:  "[fleets](fleets.md)",
		},
		{
			Title: "Rotate a secret, or the passphrase", Words: []string{"rotate", "passphrase", "secret", "secrets", "kms"},
			Says: "`rotate` makes new values for secrets that are generated, and `up` rolls them out. `change-provider` encrypts files and states anew: with another passphrase, or " +
				"with a key service such as `awskms://`.",
			Mark: "run in: own",
			Shell: "runner up -s dev --yes --generate-secrets\nrunner secrets rotate shop-database:password -s dev\nrunner up -s dev --yes\n" +
				"export NEW='a longer phrase'\nrunner secrets change-provider passphrase --new-passphrase env:NEW -s dev --yes",
			More: "[secrets](configuration.md#secrets)",
		},
		{
			Title: "Roll back", Words: []string{"rollback", "roll back", "revert", "undo"},
			Says: "Check out the earlier commit, look, and run `up`. States are not turned back: resources that were deleted or replaced come back " +
				"without their data.",
			Mark:  noRun + "needs a repository with commits",
			Shell: "git checkout v1.4.0\nrunner preview -s dev --diff\nrunner up -s dev",
			More:  "[rolling back](interruption.md#rolling-back)",
		},
		{
			Title: "After a crash or Ctrl-C", Words: []string{"crash", "resume", "interrupted", "killed", "lock", "locked", "unlock"},
			Says:  "`status` says what is done and what is left, and `--resume` continues. The lock of a process that has died on this machine is taken over.",
			Mark:  "run in: own",
			Shell: "runner up -s dev --only shop-network --yes\nrunner status -s dev\nrunner up -s dev --resume --yes --generate-secrets",
			More:  "[interrupting and resuming](interruption.md), [locks](locks.md)",
		},
		{
			Title: "Parallel projects, retries and deadlines", Words: []string{"parallel", "retry", "timeout", "slow", "throttling"},
			Says:  "`--parallel` is the number of projects at a time, `--retry` tries again after transient errors, and `--timeout` cancels a project. mara.yaml has `retry` and `timeout` for single ones.",
			Mark:  "run in: own",
			Shell: "runner up -s dev --parallel 8 --retry 2 --timeout 30m --timeout shop=5m --yes --generate-secrets",
			More:  "[mara.yaml](mara-yaml.md#projects)",
		},
		{
			Title: "Protect what must not be lost", Words: []string{"protect", "protection", "prevent"},
			Says:  "In a protected environment, an up that replaces or deletes something, and every destroy, wants the name of the stack typed.",
			Mark:  "run in: own",
			Shell: "runner config set runner:protect true -s dev",
			More:  "[guards](guards.md)",
		},
		{
			Title: "A limit for the costs", Words: []string{"cost", "costs", "price", "budget"},
			Says:  "An up that would make the environment more expensive than this, by list prices, is refused.",
			Mark:  noRun + "needs resources with prices; policies.md runs it",
			Shell: "runner up -s dev --max-monthly 500",
			More:  "[rules and costs](policies.md)",
		},
		{
			Title: "A new environment", Words: []string{"environment", "stack", "new", "init"},
			Says:  "A name that nobody knows is most likely misspelled, so that the first `up` of one wants `--new` where mara.yaml or stack files name the others.",
			Mark:  "run in: own",
			Shell: "runner up -s test --new --yes --generate-secrets\nrunner stacks",
			More:  "[configuration](configuration.md), [fleets](fleets.md)",
		},
		{
			Title: "Leave again", Words: []string{"leave", "eject", "uninstall", "pulumi"},
			Says: "Projects, stack files and states stay Pulumi's. In a repository that was adopted, delete mara.yaml and .runner, and go on with `pulumi` in each " +
				"directory. Where stack files are shared, these commands show what plain Pulumi needs.",
			Mark:  "run in: own",
			Shell: "runner up -s dev --yes --generate-secrets\nrunner env -s dev\nrunner pulumi shop -s dev -- stack export > shop.json",
			More:  "[with plain pulumi](standalone.md#with-plain-pulumi)",
		},
	}
}

// Help returns the recipe that has a word, and whether there is one.
func Help(words []string) (Recipe, bool) {
	asked := strings.ToLower(strings.Join(words, " "))
	all := Recipes()
	i := slices.IndexFunc(all, func(r Recipe) bool { return slices.Contains(r.Words, asked) })
	if i < 0 {
		return Recipe{}, false
	}
	return all[i], true
}

// Topics returns the first word of each recipe, in order.
func Topics() []string {
	var topics []string
	for _, r := range Recipes() {
		topics = append(topics, r.Words[0])
	}
	return topics
}

// Text returns the recipe for a terminal.
func (r Recipe) Text() string {
	text := r.Title + ".\n\n" + r.Says + "\n"
	if r.YAML != "" {
		text += "\nIn mara.yaml:\n  " + strings.ReplaceAll(r.YAML, "\n", "\n  ") + "\n"
	}
	if r.Shell != "" {
		text += "\nCommands:\n  " + strings.ReplaceAll(r.Shell, "\n", "\n  ") + "\n"
	}
	return text
}

// Markdown returns the recipe as a section of its page.
func (r Recipe) Markdown() string {
	text := "## " + r.Title + "\n\n" + r.Says + "\n"
	if r.YAML != "" {
		text += "\n```yaml\n" + r.YAML + "\n```\n"
	}
	if r.Shell != "" {
		text += "\n<!-- " + r.Mark + " -->\n```sh\n" + r.Shell + "\n```\n"
	}
	return text + "\nMore: " + r.More + "\n"
}

// RecipesPage returns the page of the documentation.
func RecipesPage() string {
	page := "# Recipes\n\nShort answers to common questions. `runner help WORD` shows each on a terminal: `runner help slack`, `runner help rollback`.\n"
	for _, r := range Recipes() {
		page += "\n" + r.Markdown()
	}
	return page
}

// CommandTable returns commands of another tool and ours as a table of Markdown.
func CommandTable(rows []Foreign) string {
	text := "| typed there | here | |\n|---|---|---|\n"
	for _, f := range rows {
		here := ""
		if f.Here != "" {
			here = "`runner " + f.Here + "`"
		}
		text += "| " + code(f.Typed) + " | " + here + " | " + f.Says + " |\n"
	}
	return text
}

// FlagTable returns flags of another tool as a table of Markdown.
func FlagTable(rows []Foreign) string {
	text := "| typed there | here |\n|---|---|\n"
	for _, f := range rows {
		text += "| " + code(f.Typed) + " | " + f.Says + " |\n"
	}
	return text
}

func code(typed string) string { return "`" + strings.ReplaceAll(typed, ", ", "`, `") + "`" }
