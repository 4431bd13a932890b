package secrets

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/internal/programtest"
	"mara/projects/model"
)

const secretType = "kubernetes:core/v1:Secret"

// keyPEM makes a private key in PEM form.
func keyPEM(t *testing.T, bits int, pkcs8 bool) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	if pkcs8 {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		block = &pem.Block{Type: "PRIVATE KEY", Bytes: der}
	}
	return string(pem.EncodeToMemory(block))
}

// values gives every secret of a provider's plan some value.
func values(t *testing.T, infraType string) map[string]string {
	t.Helper()
	config := map[string]string{"kubernetes:infra_type": infraType}
	for _, consumer := range consumers(infraType, nil) {
		for _, secret := range consumer.Secrets {
			config[secret.Key] = "value of " + secret.Key
		}
	}
	config["bank-of-anthos:accounts_db_password"] = "p@ss/word:1"
	config["bank-of-anthos:jwt_private_key"] = keyPEM(t, 2048, true)
	return config
}

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.Secrets(), Program: Program, Config: config,
		Stacks: map[string]resource.PropertyMap{
			"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("k"))},
		},
	})
}

func TestProgram(t *testing.T) {
	t.Parallel()
	tests := []struct {
		infraType  string
		namespaces []string
	}{
		{"aws", []string{"bank-of-anthos", "prometheus"}},
		{"kind", []string{"bank-of-anthos", "prometheus"}},
		{"linode", []string{"bank-of-anthos", "harbor", "prometheus"}},
	}
	for _, tt := range tests {
		t.Run(tt.infraType, func(t *testing.T) {
			t.Parallel()
			result := run(t, values(t, tt.infraType))
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			names := map[string]string{}
			for _, namespace := range tt.namespaces {
				result.One(t, "kubernetes:core/v1:Namespace", namespace)
				secret := result.One(t, secretType, namespace+"-credentials")
				if got := secret.Value("metadata", "namespace"); got != namespace {
					t.Errorf("%s is in namespace %v, want %s", secret.Name, got, namespace)
				}
				names[namespace] = namespace + "-credentials"
			}
			if got := len(result.All(secretType)); got != len(tt.namespaces) {
				t.Errorf("%d Secrets, want %d", got, len(tt.namespaces))
			}
			if diff := cmp.Diff(names, result.Export(t, "secrets").Value); diff != "" {
				t.Errorf("output differs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"kubeconfig"}, result.References()); diff != "" {
				t.Errorf("references differ (-want +got):\n%s", diff)
			}
			result.CheckOutputs(t, projects.Secrets())
		})
	}
}

func TestData(t *testing.T) {
	t.Parallel()
	config := values(t, "kind")
	result := run(t, config)
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	grafana := result.One(t, secretType, "prometheus-credentials")
	want := map[string]any{"admin-user": "admin", "admin-password": config["prometheus:admin_password"]}
	for key, value := range want {
		if got := grafana.Value("stringData", key); got != value {
			t.Errorf("%s is %v, want %v", key, got, value)
		}
	}
	bank := result.One(t, secretType, "bank-of-anthos-credentials")
	keys := slices.Sorted(maps.Keys(bank.Inputs["stringData"].SecretValue().Element.ObjectValue()))
	wantKeys := []resource.PropertyKey{
		"accounts-db-password", "accounts-db-uri", "jwtRS256.key", "jwtRS256.key.pub", "ledger-db-password",
	}
	if diff := cmp.Diff(wantKeys, keys); diff != "" {
		t.Errorf("data keys differ (-want +got):\n%s", diff)
	}
	if got, want := bank.Value("stringData", "accounts-db-uri"),
		"postgresql://accounts-admin:p%40ss%2Fword%3A1@accounts-db:5432/accounts-db"; got != want {
		t.Errorf("URI %v, want %v", got, want)
	}
	public, _ := bank.Value("stringData", "jwtRS256.key.pub").(string)
	if !strings.HasPrefix(public, "-----BEGIN PUBLIC KEY-----\n") {
		t.Errorf("public key has the form %q", public)
	}
	for _, secret := range result.All(secretType) {
		if !secret.IsSecret("stringData") {
			t.Errorf("the data of %s is not secret", secret.Name)
		}
	}
}

func TestEveryMissingValueIsReported(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"kubernetes:infra_type": "kind", "prometheus:admin_password": "short"})
	if result.Err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`secret "prometheus:admin_password" is shorter than 8 characters`,
		"secret \"bank-of-anthos:ledger_db_password\" (password of the ledger database; it takes effect when the database " +
			"starts for the first time) has no value in config/pulumi/secrets/Pulumi.dev.yaml: " +
			"set it with `runner secrets set bank-of-anthos:ledger_db_password -s dev`",
		`secret "bank-of-anthos:accounts_db_password"`,
		`secret "bank-of-anthos:jwt_private_key"`,
	} {
		if !strings.Contains(result.Err.Error(), want) {
			t.Errorf("error %v\nwant it to contain %q", result.Err, want)
		}
	}
	if strings.Contains(result.Err.Error(), "harbor") {
		t.Errorf("asks for what only linode needs: %v", result.Err)
	}
	if len(result.Resources) != 0 {
		t.Errorf("declared %v before the values were there", result.Names())
	}
}

func TestPublicKey(t *testing.T) {
	t.Parallel()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ecDER, err := x509.MarshalPKCS8PrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, in, want string }{
		{"PKCS #1", keyPEM(t, 2048, false), ""},
		{"PKCS #8", keyPEM(t, 2048, true), ""},
		{"too small", keyPEM(t, 1024, true), "is an RSA key of 1024 bits"},
		{"not PEM", "key", "is not in PEM form"},
		{"not a key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})), "is not an RSA private key"},
		{"another kind", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: ecDER})), "is a *ecdsa.PrivateKey"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data := map[string]string{"jwtRS256.key": tt.in}
			err := deriveBank(data)
			if tt.want == "" {
				checkPair(t, data)
			} else if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want it to contain %q", err, tt.want)
			}
		})
	}
}

// checkPair holds that the public key belongs to the private one.
func checkPair(t *testing.T, data map[string]string) {
	t.Helper()
	publicBlock, _ := pem.Decode([]byte(data["jwtRS256.key.pub"]))
	if publicBlock == nil {
		t.Fatal("no public key")
	}
	private, err := model.ParseRSAKey([]byte(data["jwtRS256.key"]))
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.ParsePKIXPublicKey(publicBlock.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if !private.PublicKey.Equal(public) {
		t.Error("the public key belongs to another private key")
	}
}
