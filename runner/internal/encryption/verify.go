package encryption

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
	p, ok, err := prepare(o)
	if err != nil {
		return Verified{}, err
	}
	p.inherit()
	if !p.needsPassphrase() {
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
	shared := []saltedFile{{path: p.Stack.File, salt: p.saltOf(p.stack)}, {path: p.Secrets.File, salt: p.saltOf(p.secrets)}}
	for _, file := range append(shared, p.besideSalts()...) {
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
	salt, found, err := p.savedSalt()
	if err != nil || !found {
		return nil, err
	}
	if _, err := p.open(salt, p.SaltFile); err != nil {
		return nil, err
	}
	return []string{p.SaltFile}, nil
}
