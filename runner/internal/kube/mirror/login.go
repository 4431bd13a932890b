package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// logins is the keychain of `docker login` and its credential helpers.
type logins struct{}

// Resolve implements authn.Keychain.
func (l logins) Resolve(target authn.Resource) (authn.Authenticator, error) {
	return l.ResolveContext(context.Background(), target)
}

// ResolveContext implements authn.ContextKeychain. It drops the output of a failed
// credential helper, which may contain a part of a login.
func (logins) ResolveContext(ctx context.Context, target authn.Resource) (authn.Authenticator, error) {
	found, err := authn.Resolve(ctx, authn.DefaultKeychain, target)
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), ", out:")
		return nil, fmt.Errorf("reading the login of `docker login %s`: %s", hostFor(target.RegistryStr()), text)
	}
	return found, nil
}

// hostFor returns a registry's host, as `docker login` takes it.
func hostFor(registry string) string {
	if registry == name.DefaultRegistry {
		return "docker.io"
	}
	return registry
}

// LoginError says that a registry requires a login, or refuses the stored one.
type LoginError struct {
	Host string
	Kept bool
}

func (e *LoginError) Error() string {
	if e.Kept {
		return fmt.Sprintf("%s refuses the stored login: use `docker login %s` again", e.Host, e.Host)
	}
	return fmt.Sprintf("%s requires a login: use `docker login %s`", e.Host, e.Host)
}

// plain turns a registry's response into a one-line error. The library's own text repeats
// the address and may quote a whole page. The response may come from the registry's token
// server; the message names the registry, where users log in.
func plain(ctx context.Context, at name.Reference, err error) error {
	var answer *transport.Error
	if !errors.As(err, &answer) {
		return err
	}
	registry := at.Context().Registry
	host := hostFor(registry.RegistryStr())
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		found, err := logins{}.ResolveContext(ctx, registry)
		kept := err == nil && found != authn.Anonymous
		if kept && answer.StatusCode == http.StatusForbidden {
			return fmt.Errorf("%s denies access: use `docker login %s` with an account that has it", host, host)
		}
		return &LoginError{Host: host, Kept: kept}
	case http.StatusNotFound:
		return fmt.Errorf("%s does not have it", host)
	}
	for _, diagnostic := range answer.Errors {
		return fmt.Errorf("%s: %s", host, diagnostic.Message)
	}
	return fmt.Errorf("%s: %s", host, http.StatusText(answer.StatusCode))
}

// answeredBy reports whether an error is a response of the reference's registry itself.
func answeredBy(at name.Reference, err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.Request != nil && answer.Request.URL.Host == at.Context().RegistryStr()
}
