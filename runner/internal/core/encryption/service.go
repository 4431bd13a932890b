package encryption

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/config/files"
	"mara/projects/model"
	"mara/runner/internal/machine/process"
)

// Command runs Pulumi's commands.
type Command interface {
	Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer, env []string,
		args ...string) (string, string, int, error)
}

// Service is a Sealer that encrypts with Pulumi, in a separate stack: with a cloud's key
// service, or with the encryption of Pulumi Cloud. Values go through pipes, never through
// arguments or files.
type Service struct {
	command Command
	env     []string
	dir     string
	stack   string // fully qualified name
	file    string // stack file
	scheme  Scheme
}

// ServiceOptions are the inputs of NewService.
type ServiceOptions struct {
	Command Command
	Env     map[string]string
	Dir     string // an empty private directory; the caller removes it
	Stack   string
	Scheme  Scheme
	// Organization selects the encryption of Pulumi Cloud, in the stack of the secrets project.
	// If it is "", Service does not use the backend.
	Organization string
}

// NewService opens the key service; an unreachable service or missing permissions are errors.
// It generates a data key for a scheme without one.
func NewService(ctx context.Context, o ServiceOptions) (*Service, error) {
	env, organization := maps.Clone(o.Env), o.Organization
	if organization == "" {
		organization = "organization"
		env["PULUMI_BACKEND_URL"] = "file://" + filepath.ToSlash(o.Dir)
	}
	s := &Service{
		command: o.Command, env: process.Environ(env), dir: o.Dir, scheme: o.Scheme,
		stack: organization + "/" + model.SecretsProject + "/" + o.Stack,
		file:  filepath.Join(o.Dir, "Pulumi."+o.Stack+".yaml"),
	}
	manifest := []byte("name: " + model.SecretsProject + "\nruntime: go\n")
	if err := os.WriteFile(filepath.Join(o.Dir, "Pulumi.yaml"), manifest, 0o600); err != nil {
		return nil, err
	}
	if err := s.writeStack(nil); err != nil {
		return nil, err
	}
	return s, s.open(ctx, o.Organization != "")
}

// open creates the stack. On a backend it may already exist; then its first use reports
// whether it works.
func (s *Service) open(ctx context.Context, mayExist bool) error {
	args := []string{"stack", "init", s.stack, "--no-select"}
	if s.scheme.Provider != "" {
		args = append(args, "--secrets-provider", s.scheme.Provider)
	}
	if _, err := s.run(ctx, "", args...); err != nil && (!mayExist || !strings.Contains(err.Error(), "already exists")) {
		return err
	}
	file, err := s.read()
	if err != nil {
		return err
	}
	if key := file.text(dataKey); key != "" {
		s.scheme.DataKey = key
	}
	return nil
}

// Scheme implements Sealer.
func (s *Service) Scheme() Scheme { return s.scheme }

// Seal implements Sealer.
func (s *Service) Seal(ctx context.Context, values map[string]string) (map[string]string, error) {
	if err := s.writeStack(nil); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		// --raw keeps a line end at the end of a value, as in PEM files.
		if _, err := s.run(ctx, values[key], "config", "set", "--secret", "--raw", "--stack", s.stack, key); err != nil {
			return nil, fmt.Errorf("encrypting %s: %w", key, err)
		}
	}
	file, err := s.read()
	if err != nil {
		return nil, err
	}
	ciphertexts := map[string]string{}
	for key := range values {
		ciphertexts[key] = file.ciphertext(key)
		if ciphertexts[key] == "" {
			return nil, fmt.Errorf("encrypting %s: pulumi stored no encrypted value", key)
		}
	}
	return ciphertexts, nil
}

// Unseal implements Sealer.
func (s *Service) Unseal(ctx context.Context, ciphertexts map[string]string) (map[string]string, error) {
	if len(ciphertexts) == 0 {
		return map[string]string{}, nil
	}
	if err := s.writeStack(ciphertexts); err != nil {
		return nil, err
	}
	output, err := s.run(ctx, "", "config", "--show-secrets", "--json", "--stack", s.stack)
	if err != nil {
		return nil, fmt.Errorf("decrypting: %w", err)
	}
	var shown map[string]struct {
		Value *string `json:"value"`
	}
	if err := json.Unmarshal([]byte(output), &shown); err != nil {
		return nil, errors.New("decrypting: the answer of pulumi is not JSON")
	}
	values := map[string]string{}
	for key := range ciphertexts {
		if shown[key].Value == nil {
			return nil, fmt.Errorf("decrypting %s: pulumi did not decrypt it", key)
		}
		values[key] = *shown[key].Value
	}
	return values, nil
}

// writeStack writes a stack file that only has ciphertexts.
func (s *Service) writeStack(ciphertexts map[string]string) error {
	file := stackFile{config.NewDocument()}
	file.setScheme(s.scheme)
	for key, ciphertext := range ciphertexts {
		config.SetChild(file.Config(), key, secure(ciphertext))
	}
	content, err := file.Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(s.file, content, 0o600)
}

func (s *Service) read() (stackFile, error) {
	content, err := files.Read(s.file, files.Text)
	if err != nil {
		return stackFile{}, err
	}
	return parse(config.StackFile{File: s.file, Content: content})
}

// run runs a command with input on stdin. Its error is Pulumi's message.
func (s *Service) run(ctx context.Context, input string, args ...string) (string, error) {
	stdout, stderr, _, err := s.command.Run(ctx, s.dir, bytes.NewReader([]byte(input)), nil, nil, s.env, args...)
	if err == nil {
		return stdout, nil
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return "", &ServiceError{Provider: s.scheme.Provider, Text: message(stderr, err)}
}

// ServiceError is an error of a key service.
type ServiceError struct{ Provider, Text string }

// Error names the key service.
func (e *ServiceError) Error() string {
	if e.Provider == "" {
		return e.Text
	}
	return fmt.Sprintf("the key service %s: %s", e.Provider, e.Text)
}

// message returns Pulumi's error message.
func message(stderr string, err error) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, strings.TrimPrefix(line, "error: "))
		}
	}
	if len(lines) == 0 {
		return err.Error()
	}
	return strings.Join(lines, " ")
}
