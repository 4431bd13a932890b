package servicetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/pulumi/esc"
	"github.com/pulumi/esc/eval"
)

// openEnvironment is an environment of Pulumi ESC that someone has opened.
type openEnvironment struct {
	organization string
	evaluated    *esc.Environment
}

// AddEnvironment adds an environment of Pulumi ESC: its name, such as project/name, and its definition in YAML. Its
// fn::secret values are in plain text.
func (s *Server) AddEnvironment(organization, name, definition string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.environments[organization+"/"+environmentName(name)] = definition
}

// environmentName returns the name with the project, and without a version.
func environmentName(name string) string {
	name, _, _ = strings.Cut(name, "@")
	if !strings.Contains(name, "/") {
		name = "default/" + name
	}
	return name
}

// checkEnvironment evaluates the definition in the body, and leaves secrets out.
func (s *Server) checkEnvironment(r request) (any, error) {
	organization := r.PathValue("org")
	if !r.user.isMember(organization) {
		return nil, refuse(http.StatusNotFound, "Not Found: Organization '%s' not found", organization)
	}
	definition, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	evaluated, err := s.evaluate(organization, definition)
	if err != nil {
		return nil, err
	}
	for name, value := range evaluated.Properties {
		evaluated.Properties[name] = withoutSecrets(value)
	}
	return evaluated, nil
}

func withoutSecrets(value esc.Value) esc.Value {
	if value.Secret {
		value.Value = "[secret]"
	}
	if inner, ok := value.Value.(map[string]esc.Value); ok {
		for name, v := range inner {
			inner[name] = withoutSecrets(v)
		}
	}
	return value
}

// openEnvironment evaluates the definition in the body, which imports environments.
func (s *Server) openEnvironment(r request) (any, error) {
	organization := r.PathValue("org")
	if !r.user.isMember(organization) {
		return nil, refuse(http.StatusNotFound, "Not Found: Organization '%s' not found", organization)
	}
	definition, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	evaluated, err := s.evaluate(organization, definition)
	if err != nil {
		return nil, err
	}
	id := s.newID("session")
	s.sessions[id] = openEnvironment{organization, evaluated}
	return map[string]string{"id": id}, nil
}

func (s *Server) readEnvironment(r request) (any, error) {
	opened, ok := s.sessions[r.PathValue("session")]
	if !ok || opened.organization != r.PathValue("org") {
		return nil, refuse(http.StatusNotFound, "Not Found: session %s", r.PathValue("session"))
	}
	return opened.evaluated, nil
}

func (s *Server) evaluate(organization string, definition []byte) (*esc.Environment, error) {
	about, err := esc.NewExecContext(nil)
	if err != nil {
		return nil, err
	}
	declared, diagnostics, err := eval.LoadYAMLBytes("<yaml>", definition)
	if err != nil {
		return nil, err
	}
	if !diagnostics.HasErrors() {
		evaluated, found := eval.EvalEnvironment(context.Background(), "<yaml>", declared, plain{}, nothing{},
			imports{s, organization}, about)
		if !found.HasErrors() {
			return evaluated, nil
		}
		diagnostics = found
	}
	return nil, refuse(http.StatusBadRequest, "Bad Request: %v", diagnostics)
}

// imports finds the environments that a definition imports. It is asked while the server is locked.
type imports struct {
	server       *Server
	organization string
}

// LoadEnvironment implements eval.EnvironmentLoader.
func (i imports) LoadEnvironment(_ context.Context, name string) ([]byte, eval.Decrypter, error) {
	definition, ok := i.server.environments[i.organization+"/"+environmentName(name)]
	if !ok {
		return nil, nil, fmt.Errorf("environment %q not found", name)
	}
	return []byte(definition), plain{}, nil
}

// plain decrypts nothing: secrets are in plain text.
type plain struct{}

// Decrypt implements eval.Decrypter.
func (plain) Decrypt(context.Context, []byte) ([]byte, error) {
	return nil, errors.New("secrets of this server are in plain text")
}

// nothing has no providers.
type nothing struct{}

// LoadProvider implements eval.ProviderLoader.
func (nothing) LoadProvider(_ context.Context, name string) (esc.Provider, error) {
	return nil, fmt.Errorf("unknown provider %q", name)
}

// LoadRotator implements eval.ProviderLoader.
func (nothing) LoadRotator(_ context.Context, name string) (esc.Rotator, error) {
	return nil, fmt.Errorf("unknown rotator %q", name)
}
