package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
)

// emulator starts a program, which a variable names if it is not on the PATH, and waits until it answers at an address. It
// returns what the variable with the version says.
func emulator(t *testing.T, variable, name, address string, args ...string) (version string) {
	t.Helper()
	path := os.Getenv(variable)
	if found, err := exec.LookPath(name); path == "" && err == nil {
		path = found
	}
	if path == "" {
		t.Skipf("%s is not on the PATH, and %s names none", name, variable)
	}
	command := exec.Command(path, args...)
	var log bytes.Buffer
	command.Stdout, command.Stderr, command.Dir = &log, &log, t.TempDir()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	for range 300 {
		if response, err := http.Get(address); err == nil {
			_ = response.Body.Close()
			return os.Getenv(variable + "_VERSION")
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s does not start: %s", name, log.String())
	return ""
}

// TestStatesInGCS takes a fleet with its states in fake-gcs-server, an emulator of Google Cloud Storage, through its life.
func TestStatesInGCS(t *testing.T) {
	t.Parallel()
	host := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	_, port, _ := strings.Cut(host, ":")
	version := emulator(t, "E2E_GCS", "fake-gcs-server", "http://"+host+"/storage/v1/b",
		"-scheme", "http", "-host", "127.0.0.1", "-port", port, "-public-host", host, "-backend", "memory")
	response, err := http.Post("http://"+host+"/storage/v1/b?project=test", "application/json", strings.NewReader(`{"name": "states"}`))
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("making the bucket: %v, %v", response, err)
	}
	_ = response.Body.Close()
	at := place{backend: "gs://states/some/directory", env: []string{"STORAGE_EMULATOR_HOST=" + host, "GOOGLE_OAUTH_ACCESS_TOKEN=needle-of-google"}}
	life{place: at, again: "gs://states/again", needle: "needle-of-google"}.test(t)
	recordBackend(t, "E2E_GCS=PROGRAM go test -run TestStatesInGCS", map[string]string{"fake-gcs-server, an emulator of Google Cloud Storage,": version}, lifeParts(12)...)
}

// TestStatesInAzure takes a fleet with its states in Azurite, an emulator of Azure's storage, through its life.
func TestStatesInAzure(t *testing.T) {
	t.Parallel()
	const account = "devstoreaccount1"
	const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==" // of all emulators
	host := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	_, port, _ := strings.Cut(host, ":")
	version := emulator(t, "E2E_AZURITE", "azurite-blob", "http://"+host+"/",
		"--blobHost", "127.0.0.1", "--blobPort", port, "--location", t.TempDir(), "--skipApiVersionCheck", "--silent")
	credential, err := azblob.NewSharedKeyCredential(account, key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := azblob.NewClientWithSharedKeyCredential("http://"+host+"/"+account, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateContainer(t.Context(), "states", nil); err != nil {
		t.Fatal(err)
	}
	query := "?domain=" + host + "&protocol=http&localemu=true"
	at := place{backend: "azblob://states/some/directory" + query, env: []string{"AZURE_STORAGE_ACCOUNT=" + account, "AZURE_STORAGE_KEY=" + key}}
	life{place: at, again: "azblob://states/again" + query, needle: key}.test(t)
	recordBackend(t, "E2E_AZURITE=PROGRAM go test -run TestStatesInAzure", map[string]string{"Azurite, an emulator of Azure's storage,": version}, lifeParts(12)...)
}
