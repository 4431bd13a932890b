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

// logins are those that `docker login` keeps, itself or in a credential helper.
type logins struct{}

// Resolve implements authn.Keychain.
func (l logins) Resolve(target authn.Resource) (authn.Authenticator, error) {
	return l.ResolveContext(context.Background(), target)
}

// ResolveContext implements authn.ContextKeychain. What a credential helper that
// fails has printed is not repeated: it may be half a login.
func (logins) ResolveContext(ctx context.Context, target authn.Resource) (authn.Authenticator, error) {
	found, err := authn.Resolve(ctx, authn.DefaultKeychain, target)
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), ", out:")
		return nil, fmt.Errorf("asking for what `docker login %s` keeps: %s", hostFor(target.RegistryStr()), text)
	}
	return found, nil
}

// hostFor is a registry as `docker login` takes it.
func hostFor(registry string) string {
	if registry == name.DefaultRegistry {
		return "docker.io"
	}
	return registry
}

// LoginError says that a registry asks for a login, or does not take the one that
// is kept for it.
type LoginError struct {
	Host string
	Kept bool
}

func (e *LoginError) Error() string {
	if e.Kept {
		return fmt.Sprintf("%s refuses the login that is kept for it: use `docker login %s` again", e.Host, e.Host)
	}
	return fmt.Sprintf("%s asks for a login: use `docker login %s`", e.Host, e.Host)
}

// plain says in one short line what a registry has answered. The library's own
// text repeats the address and may quote a whole page. The answer may be that of
// another host, which gives tokens for the registry: nobody logs in there.
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
			return fmt.Errorf("%s does not allow that: use `docker login %s` as somebody who may", host, host)
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

// answeredBy reports whether an error is what the registry of a reference has
// answered itself.
func answeredBy(at name.Reference, err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.Request != nil && answer.Request.URL.Host == at.Context().RegistryStr()
}
