package vault

import (
	"fmt"
	"slices"

	"mara/config"
	"mara/projects/model"
)

// Missing is a secret without a usable value.
type Missing struct {
	Secret  model.Secret
	IsPlain bool // it has a value, which is not encrypted
	stack   string
	file    string // that should have the value
	line    int    // of a value that is not encrypted
	text    string // what is wrong
}

// Missing lists the secrets of the plan that have no usable value. A simulation
// makes all of them up.
func (v *Vault) Missing() []Missing {
	if v.Simulated {
		return nil
	}
	var missing []Missing
	for _, secret := range v.Secrets {
		entry, ok := v.Settings.Secrets.Lookup(secret.Key)
		_, encrypted := entry.Value.(config.Ciphertext)
		shared, _ := v.Settings.Config.Lookup(secret.Key)
		if _, there := shared.Value.(config.Ciphertext); there && secret.Own {
			continue
		}
		m := Missing{Secret: secret, stack: v.stack(), file: v.FileOf(secret.Key), line: entry.Line, text: "is missing"}
		_, plain := v.Elsewhere[secret.Key].File.Lookup(secret.Key)
		switch {
		case plain: // in the stack file next to its project, as its user wants it
			continue
		case v.Has(secret.Key) || (secret.Default != "" || secret.Optional && !v.demands(secret)) && !ok:
			continue
		case ok && !encrypted && entry.Value != nil && entry.Value != "":
			m.IsPlain, m.text = true, "is in plain text"
		}
		missing = append(missing, m)
	}
	return missing
}

// demands reports whether a setting makes an optional secret necessary: without it, its project fails.
func (v *Vault) demands(secret model.Secret) bool {
	return slices.Contains(secret.NeededFor, v.Settings.Config.Text(secret.NeededBy).Text) && !v.Settings.Config.Accepts(secret.NeededBy)
}

// Demanded lists the optional secrets that have no value although a setting makes them necessary, as problems of
// that setting.
func (v *Vault) Demanded() (problems []config.Problem) {
	for _, secret := range v.Secrets {
		by := v.Settings.Config.Text(secret.NeededBy)
		shared, _ := v.Settings.Config.Lookup(secret.Key)
		_, isThere := shared.Value.(config.Ciphertext)
		if v.Simulated || isThere || v.Has(secret.Key) || !v.demands(secret) {
			continue
		}
		problems = append(problems, v.Settings.Config.Problem(secret.NeededBy, fmt.Sprintf("is %s, which needs the secret %s (%s); "+
			"set it with `runner secrets set %[2]s -s %[4]s`", by.Text, secret.Key, secret.Doc, v.stack())))
	}
	return problems
}

// Problem says how to give the secret.
func (m Missing) Problem() config.Problem {
	generate := ""
	if m.Secret.Generate != model.None {
		generate = ", or have it made with --generate-secrets"
	}
	return config.Problem{
		File: m.file, Line: m.line, Key: m.Secret.Key,
		Text: fmt.Sprintf("%s: %s; set it with `runner secrets set %s -s %s`, or give it with --secret %[3]s=env:NAME%[5]s",
			m.text, m.Secret.Doc, m.Secret.Key, m.stack, generate),
	}
}

// Problems returns the secrets that the operation needs and that are missing, and
// the passphrase if it is missing. There are none if a terminal can ask for them.
func (v *Vault) Problems() []config.Problem {
	if v.Interactive {
		return nil
	}
	problems := v.passphraseProblems()
	for _, m := range v.toProvide() {
		if !v.Given.Generate || m.Secret.Generate == model.None {
			problems = append(problems, m.Problem())
		}
	}
	return problems
}

// toProvide returns the secrets that the operation needs and that the command line
// does not give.
func (v *Vault) toProvide() []Missing {
	return slices.DeleteFunc(v.Missing(), func(m Missing) bool { return !v.Needed || v.Given.has(m.Secret.Key) })
}
