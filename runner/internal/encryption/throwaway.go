package encryption

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"slices"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/atomicfile"
)

// ThrowAway is what a simulation may make up.
type ThrowAway struct {
	Keys    []config.Key      // configuration keys of the plan's projects
	Secrets []projects.Secret // secret keys of the plan's projects
	File    string            // where made-up secrets are kept, encrypted, for the next run
}

// The key of a simulation that reads none of the user's secrets. It protects
// nothing but throw-away values, and is written down since each command would
// take 0.2 s to derive it.
const (
	simulatedPassphrase = "SIMULATED-throw-away-passphrase"
	simulatedSalt       = "SIMULATE"
	simulatedKey        = "9a0f34b761e417633c29900e79f99c2db0d360db8707728316ccd3928fbf0a84" // in hexadecimal
)

// keyBits is the size of a made-up RSA key: quick to make, and long enough for
// every reader.
const keyBits = 2048

// makeUp adds the configuration and secrets that a simulation lacks.
func (p *preparation) makeUp() error {
	if p.Simulate == nil {
		return nil
	}
	if err := p.makeUpConfig(); err != nil {
		return err
	}
	return p.makeUpSecrets()
}

func (p *preparation) makeUpConfig() error {
	values := p.stack.config()
	for _, key := range p.Simulate.Keys {
		if key.Simulated == nil || get(values, key.Name) != nil {
			continue
		}
		node := &yaml.Node{}
		if err := node.Encode(key.Simulated); err != nil {
			return fmt.Errorf("making up %s: %w", key.Name, err)
		}
		set(values, key.Name, node)
		p.result.MadeUp = append(p.result.MadeUp, key.Name)
	}
	return nil
}

// makeUpSecrets adds the secrets that are missing: those of an earlier
// simulation where they fit, so that a second run changes nothing.
func (p *preparation) makeUpSecrets() error {
	values := p.secrets.config()
	earlier := p.earlierSecrets()
	added := false
	for _, secret := range p.Simulate.Secrets {
		if secret.Optional || get(values, secret.Key) != nil || secret.Own && get(p.stack.config(), secret.Key) != nil {
			continue
		}
		p.result.MadeUp = append(p.result.MadeUp, secret.Key)
		node := get(earlier.config(), secret.Key)
		if node == nil {
			value, err := invent(secret)
			if err != nil {
				return fmt.Errorf("making up %s: %w", secret.Key, err)
			}
			ciphertext, err := p.secretsKey.Encrypt(value)
			if err != nil {
				return fmt.Errorf("making up %s: %w", secret.Key, err)
			}
			node, added = secure(ciphertext), true
			p.result.Known = append(p.result.Known, value)
			set(earlier.config(), secret.Key, node)
		}
		set(values, secret.Key, node)
	}
	if !added {
		return nil
	}
	earlier.setText(saltKey, p.secretsKey.Salt())
	content, err := earlier.bytes()
	if err != nil {
		return err
	}
	content = append([]byte("# SIMULATED: throw-away values that a simulation has made up.\n"), content...)
	return atomicfile.WriteDeep(p.Simulate.File, content, 0o600, 0o700)
}

// makeUp replaces the encrypted values of a stack file, which nobody can read in a
// simulation, and has the file encrypted like the others.
func (f stackFile) makeUp(key *Key) error {
	values := f.config()
	for i := 0; i+1 < len(values.Content); i += 2 {
		if err := makeUpIn(values.Content[i+1], key, "SIMULATED-"+alphanumeric(values.Content[i].Value)); err != nil {
			return fmt.Errorf("making up %s: %w", values.Content[i].Value, err)
		}
	}
	f.setScheme(Scheme{})
	return nil
}

// makeUpIn replaces the encrypted values anywhere in a value.
func makeUpIn(node *yaml.Node, key *Key, value string) error {
	if node.Kind == yaml.MappingNode && get(node, "secure") != nil {
		ciphertext, err := key.Encrypt(value)
		set(node, "secure", scalar(ciphertext))
		return err
	}
	for _, child := range node.Content {
		if err := makeUpIn(child, key, value); err != nil {
			return err
		}
	}
	return nil
}

// earlierSecrets are the secrets an earlier simulation has made up, if they
// were encrypted with the same key.
func (p *preparation) earlierSecrets() stackFile {
	none := stackFile{root: mapping()}
	content, err := os.ReadFile(p.Simulate.File)
	if err != nil {
		return none
	}
	file, err := parse(config.StackFile{Content: content})
	if err != nil || file.text(saltKey) != p.secretsKey.Salt() {
		return none
	}
	return file
}

// invent makes a value that shows what it is and passes the rules for secrets.
func invent(secret projects.Secret) (string, error) {
	switch secret.Generate {
	case projects.RSAKey:
		return rsaKey(keyBits)
	case projects.AlphanumericPassword:
		return padded("SIMULATED0"+alphanumeric(secret.Key), secret.MinLength), nil
	}
	return padded("SIMULATED-0!"+alphanumeric(secret.Key), secret.MinLength), nil
}

func padded(text string, length int) string {
	for len(text) < length {
		text += "0"
	}
	return text
}

func alphanumeric(text string) string {
	kept := slices.DeleteFunc([]rune(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return string(kept)
}

func rsaKey(bits int) (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), nil
}
