package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"mara/runner/internal/core/session"
)

// addresses matches a registry's host, which Docker's rules distinguish from a path, and a path.
var addresses = regexp.MustCompile(`^(?:localhost|[\w-]+(?:\.[\w-]+)+|[\w.-]+:\d+)(?:/[a-z0-9][a-z0-9._-]*)*$`)

// hostOnly matches the first part of an address.
var hostOnly = regexp.MustCompile(`^[\w.:-]*`)

// CheckAddress validates the address of a mirror.
func CheckAddress(address string) error {
	if i := strings.LastIndex(address, "@"); i >= 0 && strings.Contains(address[:i], ":") {
		return fmt.Errorf("the address of a registry must not contain a login: use `docker login %s`, and remove it here",
			hostOnly.FindString(address[i+1:]))
	}
	if !addresses.MatchString(address) {
		return fmt.Errorf("%q is not a registry host with an optional path, such as registry.example.com/mirror", address)
	}
	return nil
}

// Copied is the result of copying one chart or image.
type Copied struct {
	There  bool   // the mirror had it already
	Digest string // in the mirror
	Local  bool   // remote references were removed from the chart's schema
}

// Copier copies charts and images into a mirror. With DryRun it only checks what is missing.
type Copier struct {
	Network
	Address  string // of the mirror: a registry's host and an optional path
	DryRun   bool
	Progress func(complete, total int64) // gets the bytes of one chart or image that are copied; may be nil
}

// Chart copies a chart. A chart from a registry keeps its digest, unless its schema has
// remote references.
func (c Copier) Chart(ctx context.Context, chart Chart) (Copied, error) {
	archive, err := c.Fetch(ctx, chart)
	if err != nil {
		return Copied{}, err
	}
	local, changed, err := localise(archive)
	if err != nil {
		return Copied{}, err
	}
	made, err := newArtifact(local)
	if err != nil {
		return Copied{}, err
	}
	digest, err := made.Digest()
	if err != nil {
		return Copied{}, err
	}
	target, err := name.NewTag(c.Address + "/" + chart.Target)
	if err != nil {
		return Copied{}, err
	}
	there, err := c.put(ctx, target, digest, func(options []remote.Option) error {
		return remote.Write(target, made, options...)
	})
	return Copied{There: there, Digest: digest.String(), Local: changed}, err
}

// Image copies an image for all its platforms, so that it keeps its digest.
func (c Copier) Image(ctx context.Context, image Image) (Copied, error) {
	source, err := name.ParseReference(image.Name)
	if err != nil {
		return Copied{}, err
	}
	target, err := c.target(image)
	if err != nil {
		return Copied{}, err
	}
	found, err := remote.Get(source, c.options(ctx)...)
	if err != nil {
		return Copied{}, plain(ctx, source, err)
	}
	there, err := c.put(ctx, target, found.Digest, func(options []remote.Option) error {
		err := transfer(target, found, options)
		if answeredBy(source, err) {
			return plain(ctx, source, err)
		}
		return err
	})
	return Copied{There: there, Digest: found.Digest.String()}, err
}

// target returns the reference of an image in the mirror. An image with a tag and a digest
// is pushed by tag, because registries delete untagged images.
func (c Copier) target(image Image) (name.Reference, error) {
	named := c.Address + "/" + image.Target
	both, err := name.ParseReference(named)
	if err != nil {
		return nil, err
	}
	if pinned, ok := both.(name.Digest); ok {
		without := named[:len(named)-len("@"+pinned.DigestStr())]
		if without != repositoryOf(named) {
			return name.NewTag(without)
		}
	}
	return both, nil
}

// transfer copies an image or an index of images.
func transfer(target name.Reference, found *remote.Descriptor, options []remote.Option) error {
	if found.MediaType.IsIndex() {
		index, err := found.ImageIndex()
		if err != nil {
			return err
		}
		return remote.WriteIndex(target, index, options...)
	}
	image, err := found.Image()
	if err != nil {
		return err
	}
	return remote.Write(target, image, options...)
}

// put writes a target that the mirror does not have yet. The manifest is written last, so
// that a partial copy cannot be pulled; existing layers are not sent again.
func (c Copier) put(ctx context.Context, target name.Reference, digest v1.Hash,
	write func([]remote.Option) error) (there bool, err error) {
	options := c.options(ctx)
	found, err := remote.Head(target, options...)
	var answer *transport.Error
	switch {
	case err == nil && found.Digest == digest:
		return true, nil
	case err != nil && (!errors.As(err, &answer) || answer.StatusCode != http.StatusNotFound):
		return false, fmt.Errorf("reading the mirror: %w", plain(ctx, target, err))
	case c.DryRun:
		return false, nil
	}
	wait := c.report(&options)
	err = write(options)
	wait()
	if err != nil {
		return false, fmt.Errorf("copying into the mirror: %w", plain(ctx, target, err))
	}
	return false, nil
}

// report streams the library's progress to c.Progress. Call the returned function when the library's function has returned. It
// does not wait for the library to close the channel: an error before its first request leaves that open.
func (c Copier) report(options *[]remote.Option) (wait func()) {
	if c.Progress == nil {
		return func() {}
	}
	updates, stop, done := make(chan v1.Update, 16), make(chan struct{}), make(chan struct{})
	*options = append(*options, remote.WithProgress(updates))
	tell := func(update v1.Update) {
		if update.Error == nil {
			c.Progress(update.Complete, update.Total)
		}
	}
	go func() {
		defer close(done)
		for {
			select {
			case update, open := <-updates:
				if !open {
					return
				}
				tell(update)
			case <-stop:
				for len(updates) > 0 {
					if update, open := <-updates; open {
						tell(update)
					}
				}
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-done
	}
}

// Digest asks the registry of an image for its digest.
func (n Network) Digest(ctx context.Context, image string) (string, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return "", err
	}
	found, err := remote.Head(ref, n.options(ctx)...)
	if err != nil {
		return "", plain(ctx, ref, err)
	}
	return found.Digest.String(), nil
}

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

// ErrMissing says that a registry or a repository does not have a chart or an image, or not in that version.
var ErrMissing = session.ErrNoChart

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
		return fmt.Errorf("%s %w", host, ErrMissing)
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
