package render_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"flag"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"mara/runner/internal/feature/export/render"
	"mara/runner/internal/feature/mirror"
	"mara/runner/internal/testing/mirrortest"
)

var update = flag.Bool("update", false, "write the golden files")

// shelf has one chart, and fails for every other one.
type shelf struct {
	name    string
	archive []byte
}

// Fetch implements mirror.Fetcher.
func (s shelf) Fetch(_ context.Context, chart mirror.Chart) ([]byte, error) {
	if chart.Source() != s.name {
		return nil, errors.New("unexpected chart " + chart.Source())
	}
	return s.archive, nil
}

type values = map[string]any

// shop has objects with and without namespaces, a definition and an object of the
// kind, hooks, a Secret, and a value that is random.
func shop(t *testing.T) shelf {
	object := func(version, kind, more string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\n" + more
	}
	return shelf{"oci://example.com/shop:1.0.0", mirrortest.Pack(t, map[string]string{
		"shop/Chart.yaml":              "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
		"shop/crds/shops.yaml":         object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "metadata: {name: shops.example.com}\nspec: {group: example.com, scope: Namespaced, names: {kind: Shop}}\n"),
		"shop/templates/shop.yaml":     object("example.com/v1", "Shop", "metadata: {name: corner}\n"),
		"shop/templates/role.yaml":     object("rbac.authorization.k8s.io/v1", "ClusterRole", "metadata: {name: 'shop:admin', namespace: nonsense}\n"),
		"shop/templates/config.yaml":   object("v1", "ConfigMap", "metadata: {name: shop}\ndata: {size: '{{ .Values.size }}', salt: {{ randAlphaNum 20 }}}\n"),
		"shop/templates/password.yaml": object("v1", "ConfigMap", "metadata: {name: leak}\ndata: {password: '{{ .Values.password }}'}\n"),
		"shop/templates/secret.yaml":   object("v1", "Secret", "metadata: {name: shop}\ndata: {password: '{{ .Values.password | b64enc }}', key: '{{ genPrivateKey \"ed25519\" | b64enc }}'}\n"),
		"shop/templates/before.yaml":   object("batch/v1", "Job", "metadata: {name: before, annotations: {helm.sh/hook: 'pre-install,pre-upgrade', helm.sh/hook-weight: '5'}}\n"),
		"shop/templates/account.yaml":  object("v1", "ServiceAccount", "metadata: {name: before, annotations: {helm.sh/hook: pre-install, helm.sh/hook-weight: '-5'}}\n"),
		"shop/templates/after.yaml":    object("batch/v1", "Job", "metadata: {name: after, annotations: {helm.sh/hook: post-install}}\n"),
		"shop/templates/bye.yaml":      object("batch/v1", "Job", "metadata: {name: bye, annotations: {helm.sh/hook: pre-delete}}\n"),
		"shop/templates/test.yaml":     object("v1", "Pod", "metadata: {name: test, annotations: {helm.sh/hook: test}}\n"),
	})}
}

func declared() []render.Resource {
	metadata := func(name, namespace string) values { return values{"name": name, "namespace": namespace} }
	return []render.Resource{
		{Project: "cluster", Token: "cloud:index:Cluster", Name: "c", Inputs: values{"name": "my-cluster"}},
		{Project: "base", Token: "kubernetes:core/v1:Namespace", Name: "n", Inputs: values{"metadata": values{"name": "web"}}},
		{Project: "base", Token: "kubernetes:core/v1:Secret", Name: "s", Inputs: values{"metadata": metadata("login", "web"), "stringData": values{"user": render.Secret, "password": render.Secret}}},
		{Project: "base", Token: "kubernetes:core/v1:ConfigMap", Name: "p", Inputs: values{"metadata": metadata("dsn", "web"), "data": values{"dsn": render.Secret}}},
		{Project: "base", Token: "kubernetes:core/v1:NamespacePatch", Name: "patch", Inputs: values{"metadata": values{"name": "web"}}},
		{Project: "base", Token: "kubernetes:core/v1:ConfigMap", Name: "u", Inputs: values{"metadata": metadata("later", "web"), "data": values{"at": "http://" + render.Unknown}}},
		{Project: "app", Token: "kubernetes:apps/v1:Deployment", Name: "d", Inputs: values{
			"__fieldManager": "x", "metadata": values{"name": "web", "annotations": values{"pulumi.com/skipAwait": "true", "mine": "yes"}},
			"spec": values{"replicas": 2.0, "template": values{"spec": values{"containers": []any{values{"image": "123.registry.example/web:1", "args": []any{"my-cluster", "https://nb-1.simulated.invalid/", "203.0.113.9"}}}}}},
		}},
		{Project: "app", Token: "kubernetes:example.com/v1:Cluster", Name: "c", Inputs: values{"metadata": values{"name": "wide"}}},
		{Project: "shop", Token: mirror.ReleaseToken, Name: "r", Inputs: values{
			"name": "shop", "namespace": "shops", "createNamespace": true, "chart": "oci://example.com/shop", "version": "1.0.0",
			"values": values{"size": 3.0, "password": render.Secret},
		}},
		{Project: "later", Token: mirror.ReleaseToken, Name: "r", Inputs: values{"name": "x", "chart": "x", "version": render.Unknown}},
	}
}

func build(t *testing.T, resources []render.Resource) render.Manifests {
	t.Helper()
	m, err := render.Build(t.Context(), render.Options{Charts: shop(t), Order: []string{"cluster", "base", "app", "shop", "later"}}, resources)
	if err != nil {
		t.Fatal(err)
	}
	m.TracePlaceholders(resources, func(project string) map[string]any {
		if project != "cluster" {
			t.Errorf("asked for the outputs of %s", project)
		}
		return values{"registry": values{"host": "123.registry.example"}, "name": "my-cluster", "token": render.Secret, "short": "web"}
	})
	return m
}

// TestBuild holds all files against golden ones. What is random in a chart is cut
// out.
func TestBuild(t *testing.T) {
	t.Parallel()
	m := build(t, declared())
	files, err := m.Files(render.About{Provider: "cloud", Stack: "dev", Simulated: true})
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range files {
			if !yield(name) {
				return
			}
		}
	}) {
		all.WriteString("== " + name + "\n" + string(files[name]))
	}
	got := all.String()
	if i := strings.Index(got, "salt: "); i < 0 {
		t.Error("there is no salt")
	} else {
		got = got[:i] + "salt: RANDOM" + got[i+len("salt: ")+20:]
	}
	const golden = "testdata/files.txt"
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOrderOfResourcesDoesNotMatter: programs declare several at the same time.
func TestOrderOfResourcesDoesNotMatter(t *testing.T) {
	t.Parallel()
	without := slices.DeleteFunc(declared(), func(r render.Resource) bool { return r.Project == "shop" }) // which is random
	backwards := slices.Clone(without)
	slices.Reverse(backwards)
	one, err := build(t, without).Stream()
	if err != nil {
		t.Fatal(err)
	}
	two, err := build(t, backwards).Stream()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(one), string(two)); diff != "" {
		t.Error(diff)
	}
}

func TestFailureNamesTheProject(t *testing.T) {
	t.Parallel()
	_, err := render.Build(t.Context(), render.Options{Charts: shelf{}, Order: []string{"a"}}, []render.Resource{{Project: "a", Token: mirror.ReleaseToken, Inputs: values{"chart": "oci://x/y", "version": "1"}}})
	if err == nil || err.Error() != "project a: unexpected chart oci://x/y:1" {
		t.Errorf("error %v", err)
	}
}

// TestExternalSecrets: Secrets of programs come from a store, those of charts do not.
func TestExternalSecrets(t *testing.T) {
	t.Parallel()
	resources := append(declared(), render.Resource{
		Project: "base", Token: "kubernetes:core/v1:Secret", Name: "r", Inputs: values{
			"metadata": values{"name": "registry", "namespace": "web", "labels": values{"a": "b"}}, "type": "kubernetes.io/dockerconfigjson", "data": values{".dockerconfigjson": render.Secret},
		},
	})
	m, err := render.Build(t.Context(), render.Options{
		Charts: shop(t), Order: []string{"base", "shop"}, Store: &render.Store{Kind: "ClusterSecretStore", Name: "vault", Prefix: "dev"},
	}, resources)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, o := range m.Projects[0].Objects {
		content, err := yaml.Marshal(o.Content)
		if err != nil {
			t.Fatal(err)
		}
		found[o.File] = string(content)
	}
	want := `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  labels:
    a: b
  name: registry
  namespace: web
spec:
  data:
  - remoteRef:
      key: dev/web/registry
      property: .dockerconfigjson
    secretKey: .dockerconfigjson
  secretStoreRef:
    kind: ClusterSecretStore
    name: vault
  target:
    name: registry
    template:
      metadata:
        labels:
          a: b
      type: kubernetes.io/dockerconfigjson
`
	if diff := cmp.Diff(want, found["16-externalsecret-web-registry.yaml"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if login := found["16-externalsecret-web-login.yaml"]; !strings.Contains(login, "property: password") || !strings.Contains(login, "property: user") || strings.Contains(login, render.Secret) {
		t.Errorf("login: %s", login)
	}
	if left := m.Projects[1].Skipped; !slices.ContainsFunc(left, func(l render.Skipped) bool { return l.What == "Secret shops/shop" }) {
		t.Errorf("skipped: %v", left)
	}
}

// controller makes the key of a controller of SealedSecrets, and its certificate.
func controller(t *testing.T, until time.Time) (*rsa.PrivateKey, []byte) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-time.Hour), NotAfter: until}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
}

// unseal opens a sealed value as the controller does.
func unseal(t *testing.T, key *rsa.PrivateKey, text, label string) string {
	t.Helper()
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(sealed) < 2 {
		t.Fatalf("%q: %v", text, err)
	}
	size := int(binary.BigEndian.Uint16(sealed))
	session, err := rsa.DecryptOAEP(sha256.New(), nil, key, sealed[2:2+size], []byte(label))
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(session)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	value, err := gcm.Open(nil, make([]byte, gcm.NonceSize()), sealed[2+size:], nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(value)
}

// TestSealed: Secrets whose values are known are sealed, the others are skipped.
func TestSealed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	key, certificate := controller(t, now.Add(time.Hour))
	sealer, err := render.NewSealer(certificate, now)
	if err != nil {
		t.Fatal(err)
	}
	secret := func(name string, data, known values) render.Resource {
		r := render.Resource{Project: "base", Token: "kubernetes:core/v1:Secret", Name: name, Namespace: "web", Inputs: values{
			"metadata": values{"name": name, "labels": values{"a": "b"}}, "type": "kubernetes.io/basic-auth", "stringData": data,
		}}
		if known != nil {
			r.Values = values{"metadata": values{"name": name, "labels": values{"a": "b"}}, "type": "kubernetes.io/basic-auth", "stringData": known, "data": values{"plain": "aGVsbG8="}}
		}
		return r
	}
	m, err := render.Build(t.Context(), render.Options{Charts: shelf{}, Order: []string{"base"}, Sealer: sealer}, []render.Resource{
		secret("login", values{"password": render.Secret}, values{"password": "hunter2"}),
		secret("cloud", values{"address": render.Secret}, values{"address": "db.simulated.invalid"}),
		secret("other", values{"token": render.Secret}, nil),
	})
	if err != nil || len(m.Projects[0].Objects) != 1 {
		t.Fatalf("%+v, error %v", m, err)
	}
	made := m.Projects[0].Objects[0]
	content, err := yaml.Marshal(made.Content)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Spec struct {
			EncryptedData map[string]string
			Template      struct {
				Type     string
				Metadata struct{ Name, Namespace string }
			}
		}
	}
	if err := yaml.Unmarshal(content, &read); err != nil || made.File != "16-sealedsecret-web-login.yaml" || read.Spec.Template.Type != "kubernetes.io/basic-auth" || read.Spec.Template.Metadata.Namespace != "web" {
		t.Errorf("%s, %v:\n%s", made.File, err, content)
	}
	if strings.Contains(string(content), "hunter2") || strings.Contains(string(content), "aGVsbG8") {
		t.Errorf("it is not sealed:\n%s", content)
	}
	got := map[string]string{}
	for name, value := range read.Spec.EncryptedData {
		got[name] = unseal(t, key, value, "web/login")
	}
	if diff := cmp.Diff(map[string]string{"password": "hunter2", "plain": "hello"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var left []string
	for _, l := range m.Projects[0].Skipped {
		left = append(left, l.What+" "+l.Why)
	}
	want := []string{"Secret web/cloud is a Secret, and the value of address is a placeholder of a simulated cloud", "Secret web/other is a Secret, and its values are outputs of other resources, which the simulation generates"}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

func TestNoSealer(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	_, old := controller(t, now.Add(-time.Hour))
	for want, content := range map[string][]byte{"expired on 2026-11-22": old, "contains no certificate; `kubeseal": []byte("x"), "contains no certificate: ": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})} {
		if _, err := render.NewSealer(content, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
}
