package encryption

// Verified is the result of Verify.
type Verified struct {
	// Needed is false if a key service or the backend encrypts.
	Needed bool
	// Opened lists the files that the passphrase decrypts. It is empty if nothing is encrypted
	// yet.
	Opened []string
}

// Verify returns the errors that Prepare would return, and writes nothing.
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

// verify checks every salt once. It uses the environment's own salt only if the files have
// none, as in Prepare.
func (p *preparation) verify() (opened []string, err error) {
	known := ""
	shared := []saltedFile{{path: p.Stack.File, salt: p.saltOf(p.stack)},
		{path: p.Secrets.File, salt: p.saltOf(p.secrets)}}
	for _, file := range append(shared, p.besideSalts()...) {
		if file.salt == "" {
			continue
		}
		if file.salt != known {
			if err := p.openBeside(file, len(opened) > 0); err != nil {
				return opened, err
			}
		}
		known, opened = file.salt, append(opened, file.path)
	}
	if len(opened) > 0 {
		return opened, nil
	}
	salt, found, err := p.savedSalt()
	if err != nil || !found {
		return nil, err
	}
	if _, err := p.open(salt, p.SaltFile); err != nil {
		return nil, err
	}
	return []string{p.SaltFile}, nil
}
