package vault

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/machine/failure"
)

// Source says where the value of a secret comes from. The value itself is
// never an argument: others on the machine can read those.
type Source struct {
	Secret model.Secret
	From   string // "-", "@FILE" or "env:NAME"
}

// SourceForms is how a source is written.
const SourceForms = "- (stdin), @FILE or env:NAME"

// NeverOnTheLine is why a value is refused as an argument.
const NeverOnTheLine = "a value never stands on the command line, where others can read it"

// maxSecret bounds a value: a Kubernetes Secret holds no more.
const maxSecret = 1 << 20

// ParseSources parses KEY=SOURCE texts of a flag. No message repeats what
// might be a value.
func ParseSources(known []model.Secret, command, flag string, texts []string) ([]Source, error) {
	var found []Source
	for _, text := range texts {
		key, from, _ := strings.Cut(text, "=")
		secret, err := Declared(known, command, key)
		if err != nil {
			return nil, err
		}
		if !IsSource(from) {
			return nil, failure.Usagef(command, "%s %s: %s; write %s=SOURCE, where SOURCE is %s", flag, key, NeverOnTheLine,
				key, SourceForms)
		}
		if slices.ContainsFunc(found, func(s Source) bool { return s.Secret.Key == key }) {
			return nil, failure.Usagef(command, "%s %s is given twice", flag, key)
		}
		if from == "-" && slices.ContainsFunc(found, func(s Source) bool { return s.From == "-" }) {
			return nil, failure.Usagef(command, "%s: only one secret can come from stdin", flag)
		}
		found = append(found, Source{Secret: secret, From: from})
	}
	return found, nil
}

// IsSource says whether a text is one of the forms of a source.
func IsSource(text string) bool {
	return text == "-" || strings.HasPrefix(text, "@") && len(text) > 1 || strings.HasPrefix(text, "env:") && len(text) > 4
}

// Declared finds a secret that some project declares.
func Declared(known []model.Secret, command, key string) (model.Secret, error) {
	if secret, ok := lists.Find(known, func(s model.Secret) bool { return s.Key == key }); ok {
		return secret, nil
	}
	keys := model.SecretKeys(known)
	key, _, _ = strings.Cut(key, "=")
	if !strings.Contains(key, ":") || len(key) > 100 { // it may be a value
		example := "PROJECT:NAME"
		if len(keys) > 0 {
			example = keys[0]
		}
		return model.Secret{}, failure.Usagef(command, "name the secret by its key, such as %s", example)
	}
	return model.Secret{}, &failure.Usage{
		Text: fmt.Sprintf("no project has a secret %q%s", key, config.DidYouMean(key, keys)),
		Next: "`runner secrets list` shows them",
	}
}

// Read reads the value. A line end behind a value of one line is the file's or
// the shell's, not the value's.
func (s Source) Read(c Console, sources config.Sources) (string, error) {
	text, err := s.raw(c, sources)
	if err != nil {
		return "", err
	}
	line := strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if s.Secret.Generate != model.RSAKey && !(s.Secret.Own && strings.Contains(line, "\n")) {
		text = line
	}
	if err := s.Secret.Check(text); err != nil {
		return "", s.problem("the value %w", err)
	}
	return text, nil
}

func (s Source) raw(c Console, sources config.Sources) (string, error) {
	if variable, ok := strings.CutPrefix(s.From, "env:"); ok {
		value := sources.Lookup(variable)
		if !value.IsSet() {
			return "", s.problem("the variable is not set, or empty")
		}
		return value.Text, nil
	}
	input := c.Stdin
	if name, ok := strings.CutPrefix(s.From, "@"); ok {
		file, err := os.Open(c.Absolute(name))
		if err != nil {
			return "", s.problem("%w", err)
		}
		defer file.Close()
		input = file
	} else if c.StdinIsTerminal {
		return "", s.problem("stdin is a terminal, which would show what is typed; leave the - out to be asked")
	}
	content, err := io.ReadAll(io.LimitReader(input, maxSecret+1))
	if err != nil {
		return "", s.problem("%w", err)
	}
	if len(content) > maxSecret {
		return "", s.problem("it is larger than a Kubernetes Secret can hold (1 MiB)")
	}
	return string(content), nil
}

// problem returns the error for a source.
func (s Source) problem(format string, args ...any) error {
	text := fmt.Errorf(format, args...).Error()
	return &config.Error{Problems: []config.Problem{{Key: s.Secret.Key, Text: fmt.Sprintf("from %s: %s", s.From, text)}}}
}
