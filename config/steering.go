package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The environment file is a part of the repository, which a stranger may have written. Its variables are for programs
// and hooks of operations, which run what the repository says anyway. What the runner itself starts, and what commands
// start that only look, is chosen by the process and by flags.

// refused are variables of the runner that the environment file may not set, with what to do instead.
var refused = map[string]string{
	"RUNNER_PULUMI": "chooses a program that the runner starts: use --pulumi, or set it for the process",
	"RUNNER_YES":    "consents for everybody who has the repository: use --yes, or set it for the process",
	"RUNNER_ALLOW":  "consents for everybody who has the repository: use --allow, or set it for the process",
	"RUNNER_LINKS":  "lets links of the repository lead to files of the user: set it for the process",
	TokenVariable:   "is a token that everybody who has the repository would have: set it for the process, or use `runner login`",
}

// steering are variables that choose programs, or the configuration and the way to others of programs: their names, in
// capitals, and beginnings of names that end in *.
var steering = []string{
	"PATH", "PATHEXT", "LD_*", "DYLD_*", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_*", "SHELL", "BASH_ENV", "ENV",
	"EDITOR", "VISUAL", "BROWSER", "PAGER", "TMPDIR", "TMP", "TEMP", "GIT_*", "SSH_*", "SSL_CERT_*", "GODEBUG", "GOCOVERDIR",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY", "KUBECONFIG", "DOCKER_CONFIG",
	"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CA_BUNDLE", "AZURE_CONFIG_DIR", "CLOUDSDK_*",
	"GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES", "PULUMI_HOME", "PULUMI_DEBUG_*", "PULUMI_AUTOMATION_*", "NODE_OPTIONS",
	"PYTHON*", "PERL5*", "RUBY*", "JAVA_TOOL_OPTIONS",
}

// Steers reports whether a variable of the environment file counts for programs and hooks of operations alone.
func Steers(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(steering, func(pattern string) bool {
		beginning, isPrefix := strings.CutSuffix(pattern, "*")
		return name == pattern || isPrefix && strings.HasPrefix(name, beginning)
	})
}

// refusedIn returns a problem for each line that the file may not have.
func refusedIn(file string, statements []statement) []Problem {
	var problems []Problem
	for _, s := range statements {
		if why, isRefused := refused[strings.ToUpper(s.name)]; isRefused {
			problems = append(problems, Problem{File: file, Line: s.line, Key: s.name, Text: why})
		}
	}
	return problems
}

// Steering returns a problem for each line of the environment file that counts for programs and hooks of operations alone.
func (e Environment) Steering() []Problem {
	var problems []Problem
	for _, v := range e.variables {
		if Steers(v.Name) {
			const text = "counts for programs and hooks of operations; what the runner itself starts takes %s from the process"
			problems = append(problems, Problem{
				File: EnvironmentFile, Line: v.Line, Key: v.Name, Text: fmt.Sprintf(text, v.Name),
			})
		}
	}
	return problems
}

// Looking returns the environment for what the runner itself starts and asks: the process environment, overridden by the
// variables of the file that choose no programs.
func (s Sources) Looking() map[string]string {
	harmless := Environment{slices.DeleteFunc(s.File.Variables(), func(v Variable) bool { return Steers(v.Name) })}
	return harmless.Merge(s.Process)
}

// EnvironToLook returns a copy of the environment for commands that run no program of the repository.
func (s Settings) EnvironToLook() map[string]string {
	looking := maps.Clone(s.looking)
	for _, name := range []string{BackendVariable, StackVariable} {
		if value, ok := s.environ[name]; ok {
			looking[name] = value
		}
	}
	return looking
}
