package vault

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"mara/config"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/pulumicli/wire"
)

// cloud encrypts by writing the name of the stack in front.
type cloud struct{ asked int }

func (c *cloud) Seal(_ context.Context, question wire.SealValues) (sealed wire.SealedValues, err error) {
	c.asked++
	for _, value := range question.Values {
		sealed = append(sealed, []byte(question.Stack+":"+string(value)))
	}
	return sealed, nil
}

func (c *cloud) Unseal(_ context.Context, question wire.SealValues) (values wire.SealedValues, err error) {
	c.asked++
	for _, ciphertext := range question.Values {
		value, ok := bytes.CutPrefix(ciphertext, []byte(question.Stack+":"))
		if !ok {
			return nil, errors.New("the ciphertext is not of this stack")
		}
		values = append(values, value)
	}
	return values, nil
}

func TestServiceSealer(t *testing.T) {
	t.Parallel()
	s := serviceSealer{&cloud{}, "acme/secrets/dev"}
	values := map[string]string{"a:x": "secret", "a:y": "", "b:z": "line\n"}
	sealed, err := s.Seal(t.Context(), values)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Unseal(t.Context(), sealed); err != nil || !maps.Equal(got, values) {
		t.Errorf("unsealed %v, %v", got, err)
	}
	other := serviceSealer{&cloud{}, "acme/other/dev"}
	if _, err := other.Unseal(t.Context(), sealed); err == nil || !strings.Contains(err.Error(), "acme/other/dev") {
		t.Errorf("with the key of another stack: %v", err)
	}
	if _, err := s.Unseal(t.Context(), map[string]string{"a:x": "v1:passphrase"}); err == nil || !strings.Contains(err.Error(), "a:x") {
		t.Errorf("a ciphertext of a passphrase: %v", err)
	}
}

// TestSealedValues: what the shared files hold at Pulumi Cloud is decrypted once, and the masker knows it.
func TestSealedValues(t *testing.T) {
	t.Parallel()
	service, masker := &cloud{}, event.NewMasker()
	sealed, err := serviceSealer{service, "acme/secrets/dev"}.Seal(t.Context(), map[string]string{"app:token": "hunter2-hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := config.ParseStack("f", []byte("config: {'app:token': {secure: "+sealed["app:token"]+"}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	settings := config.Settings{Stack: config.Value{Text: "dev"}, Backend: config.Value{Text: "https://api.pulumi.com"}, Secrets: secrets}
	v := New(Options{Settings: &settings, Masker: masker, Backend: Backend{
		Service:      func(context.Context) (Service, error) { return service, nil },
		Organization: func(context.Context, string) (string, error) { return "acme", nil },
	}})
	for range 2 {
		got, err := Sealed(t.Context(), v)
		if err != nil || got[sealed["app:token"]] != "hunter2-hunter2" {
			t.Fatalf("sealed %v, %v", got, err)
		}
	}
	if service.asked != 2 || strings.Contains(masker.Mask("the token is hunter2-hunter2"), "hunter2") {
		t.Errorf("asked %d times; %s", service.asked, masker.Mask("the token is hunter2-hunter2"))
	}
	settings.Backend.Text = "s3://states"
	if got, err := Sealed(t.Context(), New(v.Options)); err != nil || len(got) > 0 {
		t.Errorf("elsewhere: %v, %v", got, err)
	}
}

// TestOwnFilesAtPulumiCloud: a stack file next to a project holds values that are encrypted with the key of its own stack,
// as Pulumi writes them, also where it says that it has Pulumi's default encryption.
func TestOwnFilesAtPulumiCloud(t *testing.T) {
	t.Parallel()
	service, masker := &cloud{}, event.NewMasker()
	settings := config.Settings{Stack: config.Value{Text: "dev"}, Backend: config.Value{Text: "https://api.pulumi.com"}, Root: t.TempDir()}
	v := New(Options{Settings: &settings, Masker: masker, Backend: Backend{
		StackOf:      func(string) string { return "dev" },
		Service:      func(context.Context) (Service, error) { return service, nil },
		Organization: func(context.Context, string) (string, error) { return "acme", nil },
	}})
	for _, content := range []string{"", "secretsprovider: default\nconfig: {}\n"} {
		file, err := config.ParseStack("shop/Pulumi.dev.yaml", []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		sealer, err := v.ownSealer(t.Context(), Elsewhere{Project: "shop", File: file})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := sealer.(serviceSealer); !ok || got.stack != "acme/shop/dev" {
			t.Errorf("%q is encrypted by %+v", content, sealer)
		}
		v.own = nil
	}
	salted, err := config.ParseStack("shop/Pulumi.dev.yaml", []byte("encryptionsalt: v1:a:b\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.ownSealer(t.Context(), Elsewhere{Project: "shop", File: salted}); err == nil {
		t.Error("a file with a salt needs no passphrase")
	}
}
