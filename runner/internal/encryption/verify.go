package encryption

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Verified is what Verify has found.
type Verified struct {
	// Needed is false where a key service or the backend encrypts.
	Needed bool
	// Opened are the files that the passphrase opens; none when nothing has been
	// encrypted yet.
	Opened []string
}

// Verify finds what would keep Prepare from working, and writes nothing.
func Verify(o Options) (Verified, error) {
	p := preparation{Options: o}
	var err error
	if p.stack, err = parse(o.Stack.Content); err != nil {
		return Verified{}, fmt.Errorf("reading %s: %w", o.Stack.Path, err)
	}
	if p.secrets, err = parse(o.Secrets.Content); err != nil {
		return Verified{}, fmt.Errorf("reading %s: %w", o.Secrets.Path, err)
	}
	passphrase, ok, err := Passphrase(o.Env)
	if err != nil {
		return Verified{}, err
	}
	p.passphrase = passphrase
	p.inherit()
	if !p.usesPassphrase(p.stack) && !p.usesPassphrase(p.secrets) {
		return Verified{}, nil
	}
	if !ok {
		return Verified{Needed: true}, ErrNoPassphrase
	}
	opened, err := p.verify()
	return Verified{Needed: true, Opened: opened}, err
}

// verify opens every salt there is once; the environment's own counts only
// where the files have none, as in Prepare.
func (p *preparation) verify() (opened []string, err error) {
	known := ""
	for _, file := range []struct{ salt, path string }{
		{p.saltOf(p.stack), p.Stack.Path}, {p.saltOf(p.secrets), p.Secrets.Path},
	} {
		if file.salt == "" {
			continue
		}
		if file.salt != known {
			if _, err := p.open(file.salt, file.path); err != nil {
				return opened, err
			}
		}
		known, opened = file.salt, append(opened, file.path)
	}
	if len(opened) > 0 {
		return opened, nil
	}
	return p.verifyOwn()
}

// verifyOwn opens the environment's own salt, if one has been made.
func (p *preparation) verifyOwn() ([]string, error) {
	content, err := os.ReadFile(p.SaltFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the environment's salt: %w", err)
	}
	file, err := parse(content)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", p.SaltFile, err)
	}
	if _, err := p.open(file.text(saltKey), p.SaltFile); err != nil {
		return nil, err
	}
	return []string{p.SaltFile}, nil
}
