// Package guide has what newcomers look for: the commands and flags of other tools with ours beside them, and short
// answers to common questions. Error messages, `runner help TOPIC` and pages of the documentation are made from it.
package guide

import (
	"slices"
	"strings"

	"mara/runner/internal/cli/cmd"
)

// Foreign is a command line of another tool, or a flag, and what does the same here.
type Foreign struct {
	Typed string // its words, or a flag with its hyphens; several are separated by a comma
	Here  string // the command line here, without the program; "" if there is none
	Says  string // in place of a command, or more about it
}

// Pulumi returns what users of Pulumi type.
func Pulumi() []Foreign {
	alone := func(words string) string { return "pulumi PROJECT -- " + words }
	return []Foreign{
		{"up", "up", "all projects, in the order of their references"},
		{"update", "up", ""},
		{"preview", "preview", ""},
		{"refresh", "refresh", ""},
		{"destroy", "destroy", ""},
		{"new", "init", ""},
		{"stack", "status", ""},
		{"stack ls", "stacks", ""},
		{"stack output", "outputs", ""},
		{"stack init", "up -s NAME --new", ""},
		{"stack select", "", "no stack is selected here: name it with -s NAME, or for a shell with PULUMI_STACK=NAME"},
		{"stack rm", "destroy --remove-stacks", ""},
		{"stack graph", "plan -o dot", ""},
		{"stack history", "history", ""},
		{"stack change-secrets-provider", "secrets change-provider", ""},
		{"stack export", alone("stack export"), ""},
		{"stack import", alone("stack import"), ""},
		{"stack rename", alone("stack rename"), ""},
		{"config get", "config get", ""},
		{"config set", "config set", ""},
		{"config set --secret", "secrets set", ""},
		{"state delete, state rm", alone("state delete"), ""},
		{"state move, state mv", alone("state move"), ""},
		{"state rename", alone("state rename"), ""},
		{"state unprotect", alone("state unprotect"), ""},
		{"state upgrade", alone("state upgrade"), ""},
		{"import", alone("import TYPE NAME ID"), ""},
		{"cancel", "unlock", ""},
		{"logs", "logs", "the logs of runs, not those of the cloud"},
		{"whoami", "doctor", ""},
		{"about", "version", ""},
		{"login", "login", ""},
		{"install", "", "plugins and packages are installed when a run needs them"},
		{"plugin", "", "plugins are installed when a run needs them; `" + cmd.Program + " pulumi PROJECT -- plugin` manages them"},
		{"watch", "", "no command watches the files: run `" + cmd.Program + " up` again, which skips what has not changed"},
		{"console", "web", ""},
	}
}

// PulumiFlags returns flags of Pulumi that are others here.
func PulumiFlags() []Foreign {
	const both = "`" + cmd.Program + " up` and `" + cmd.Program + " preview` take it"
	alone := func(flags string) string {
		return both + ", and Pulumi's commands for one project: `" + cmd.Program + " pulumi PROJECT -- destroy " + flags + "`"
	}
	return []Foreign{
		{"--target, -t", "", alone("--target URN")},
		{"--target-dependents", "", alone("--target URN --target-dependents")},
		{"--replace", "", both},
		{"--target-replace", "", "here that is --target URN --replace URN"},
		{"--exclude", "", "Pulumi has it for one project: `" + cmd.Program + " pulumi PROJECT -- up --exclude URN`; --skip skips projects"},
		{"--refresh", "", both + "; for others `" + cmd.Program + " refresh` comes first"},
		{"-r", "", "here that is --refresh"},
		{"--skip-preview, -f", "", "--yes runs without a preview"},
		{"--parallel", "", "the number of projects at a time; --parallel-resources is that of resources in each"},
		{"--expect-no-changes", "", "here that is --exit-code, which ends with 5"},
		{"--json, -j", "", "here that is -o json"},
		{"--cwd", "", "here that is -C DIR"},
		{"--message, -m", "", "`" + cmd.Program + " up`, `preview`, `refresh` and `destroy` take it"},
		{"--remove", "", "here that is --remove-stacks"},
	}
}

// Terragrunt returns what users of Terragrunt, Terraform and OpenTofu type.
func Terragrunt() []Foreign {
	return []Foreign{
		{"apply", "up", ""},
		{"run-all, run --all", "up", ""},
		{"run-all apply, run --all apply", "up", ""},
		{"run-all plan, run --all plan", "preview", ""},
		{"run-all destroy, run --all destroy", "destroy", ""},
		{"run-all output, run --all output", "outputs", ""},
		{"run-all refresh, run --all refresh", "refresh", ""},
		{"plan", "preview", "`" + cmd.Program + " plan` shows the order of the projects"},
		{"output", "outputs", ""},
		{"list, find", "plan", ""},
		{"graph, dag graph, graph-dependencies", "plan -o dot", ""},
		{"workspace", "stacks", ""},
		{"workspace list", "stacks", ""},
		{"workspace new", "up -s NAME --new", ""},
		{"workspace select", "", "no stack is selected here: name it with -s NAME, or for a shell with PULUMI_STACK=NAME"},
		{"taint", "pulumi PROJECT -- up --replace URN", ""},
		{"force-unlock", "unlock", ""},
		{"validate", "check", ""},
		{"hclvalidate", "check", ""},
		{"state list", "query", ""},
		{"show", "show", "a past run; `" + cmd.Program + " status` shows what is deployed"},
	}
}

// TerragruntFlags returns flags of Terragrunt, Terraform and OpenTofu that are others here.
func TerragruntFlags() []Foreign {
	return []Foreign{
		{"--auto-approve, --terragrunt-non-interactive", "", "here that is --yes"},
		{"--parallelism, --terragrunt-parallelism", "", "here that is --parallel N"},
		{"--detailed-exitcode", "", "here that is --exit-code"},
		{"--queue-include-dir, --terragrunt-include-dir", "", "here that is --only PROJECTS"},
		{"--queue-exclude-dir, --terragrunt-exclude-dir", "", "here that is --skip PROJECTS"},
		{"--queue-ignore-errors, --terragrunt-ignore-dependency-errors", "", "here that is --on-error continue"},
		{"--working-dir, --terragrunt-working-dir, --chdir", "", "here that is -C DIR"},
		{"--var", "", "here that is --config KEY=VALUE"},
		{"--out", "", "here that is --save-plan FILE"},
		{"--var-file", "", "values are in config/pulumi/Pulumi.STACK.yaml, and in layers: docs/configuration.md"},
	}
}

// others returns what users of helmfile, CDK, SST and plain shells type.
func others() []Foreign {
	return []Foreign{
		{"deploy, sync, run", "up", ""},
		{"diff", "preview", ""},
		{"delete, remove, rm, teardown", "destroy", ""},
		{"ls", "stacks", ""},
		{"lint", "check", ""},
		{"bootstrap", "init", ""},
		{"ui, dashboard", "web", ""},
		{"dev", "demo", ""},
		{"template, synth", "render", ""},
		{"rollback", "history", ""},
		{"describe", "status", ""},
		{"get", "outputs", ""},
	}
}

// Command returns the hint for a command of another tool: that of the longest beginning that is known, or "". It advises
// no command that this program does not have: names are those that it has.
func Command(names, arguments []string) string {
	tables := slices.DeleteFunc(slices.Concat(Pulumi(), Terragrunt(), others()), func(f Foreign) bool {
		name, _, _ := strings.Cut(f.Here, " ")
		return name != "" && !slices.Contains(names, name)
	})
	for n := len(arguments); n > 0; n-- {
		if f, ok := find(tables, strings.Join(arguments[:n], " ")); ok {
			if f.Here == "" {
				return f.Says
			}
			return "here that is `" + cmd.Program + " " + f.Here + "`"
		}
	}
	return ""
}

// Flag returns the hint for a flag of another tool, or "".
func Flag(typed string) string {
	if f, ok := find(slices.Concat(PulumiFlags(), TerragruntFlags()), typed); ok {
		return f.Says
	}
	return ""
}

// find returns the first line of tables with these words.
func find(tables []Foreign, typed string) (Foreign, bool) {
	for _, f := range tables {
		for form := range strings.SplitSeq(f.Typed, ", ") {
			if strings.ReplaceAll(form, " --all", "") == typed { // flags are not among the words of a command
				return f, true
			}
		}
	}
	return Foreign{}, false
}
