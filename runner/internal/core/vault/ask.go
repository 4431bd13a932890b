package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
)

// Ask asks for the value of a secret, or makes it when nothing is
// answered and it can be made.
func (v *Vault) Ask(ctx context.Context, secret model.Secret) (string, error) {
	terminal, ok := prompt.NewTerminal(v.Stdin, v.Stderr)
	if !v.Interactive || !ok {
		return "", &failure.Usage{
			Text: fmt.Sprintf("the value of %s is missing, and there is no terminal to ask on", secret.Key),
			Next: "say where it comes from: " + SourceForms,
		}
	}
	if secret.Generate == model.RSAKey {
		return askKeyFile(ctx, v.Console, terminal, secret)
	}
	value, err := askTwice(ctx, v.Console, terminal, secretQuestion(secret), func(text string) error {
		if text == "" && secret.Generate != model.None {
			return nil
		}
		return secret.Check(text)
	})
	if err != nil || value != "" {
		return value, err
	}
	return generateFor(v.Console, secret)
}

// secretQuestion returns the question for a secret, with the rules.
func secretQuestion(secret model.Secret) string {
	text := cmp.Or(secret.Prompt, secret.Key)
	var hints []string
	if secret.MinLength > 0 {
		hints = append(hints, fmt.Sprintf("at least %d characters", secret.MinLength))
	}
	if secret.Generate != model.None {
		hints = append(hints, "empty to have one made")
	}
	if len(hints) > 0 {
		text += " (" + strings.Join(hints, ", ") + ")"
	}
	return text + ":"
}

// askKeyFile asks for the file of a key, because a key is too long to type.
func askKeyFile(ctx context.Context, c Console, terminal prompt.Terminal, secret model.Secret) (string, error) {
	for {
		name, err := terminal.Text(ctx, secret.Prompt+", name of its file (empty to have one made):")
		if err != nil {
			return "", err
		}
		if name = strings.TrimPrefix(strings.TrimSpace(name), "@"); name == "" {
			return generateFor(c, secret)
		}
		source := Source{Secret: secret, From: "@" + name}
		value, err := source.Read(c, config.Sources{})
		if err == nil {
			return value, nil
		}
		fmt.Fprintln(c.Stderr, err)
	}
}

func generateFor(c Console, secret model.Secret) (string, error) {
	value, err := encryption.Generate(secret)
	if errors.Is(err, encryption.ErrNoGenerator) {
		return "", &failure.Usage{Text: fmt.Sprintf("%s: %v", secret.Key, err), Next: "`runner secrets set " +
			secret.Key + "`"}
	}
	if err == nil {
		fmt.Fprintf(c.Stderr, "made %s\n", secret.Key)
	}
	return value, err
}
