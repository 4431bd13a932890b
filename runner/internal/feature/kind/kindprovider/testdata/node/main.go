// Command node is all programs of a make-believe node image: enough for kind to
// make a cluster of it in a real container runtime, where nothing can be pulled.
// It is called by the names of the programs it stands for.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	name, args := filepath.Base(os.Args[0]), os.Args[1:]
	programs := map[string]func([]string) error{
		"init": boot, "mkdir": mkdir, "cp": copyFile, "cat": cat, "rm": remove,
		"registry": registry, "kubeadm": kubeadm, "kubectl": kubectl, "containerd": containerd, "ctr": load,
	}
	program, ok := programs[name]
	if !ok {
		program = func([]string) error { return fmt.Errorf("there is no such program") }
	}
	if err := program(args); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// boot says what kind waits for, and stays.
func boot([]string) error {
	fmt.Println("Reached target Multi-User System.")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.Signal(0x25)) // SIGRTMIN+3, as systemd
	<-stop
	return nil
}

// registry answers as a registry does when asked whether it is one.
func registry([]string) error {
	return http.ListenAndServe(":5000", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
}

func mkdir(args []string) error { return os.MkdirAll(args[len(args)-1], 0o755) }

func copyFile(args []string) error {
	content, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], content, 0o644)
}

func cat(args []string) error {
	content, err := os.ReadFile(args[0])
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: No such file or directory", args[0])
	}
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(content)
	return err
}

func remove(args []string) error { return os.RemoveAll(args[len(args)-1]) }

const adminConf = `apiVersion: v1
kind: Config
clusters:
- name: x
  cluster: {server: "https://node:6443", certificate-authority-data: QQ==}
contexts:
- name: x
  context: {cluster: x, user: x}
current-context: x
users:
- name: x
  user: {client-certificate-data: QQ==, client-key-data: QQ==}
`

func kubeadm(args []string) error {
	if args[0] != "init" {
		return nil
	}
	if _, err := os.Stat("/kind/fails"); err == nil { // as the real one does, with its log
		fmt.Fprintln(os.Stderr, "error execution phase preflight: this cluster is meant to fail")
		fmt.Fprintln(os.Stderr, `I1126 12:00:00.000001     142 round_trippers.go:632] "Response" status=""`)
		os.Exit(1)
	}
	if _, err := os.Stat("/kind/slow"); err == nil { // an image that never comes up
		return boot(nil)
	}
	if err := os.MkdirAll("/etc/kubernetes", 0o755); err != nil {
		return err
	}
	return os.WriteFile("/etc/kubernetes/admin.conf", []byte(adminConf), 0o600)
}

// kubectl keeps what is applied in a file.
func kubectl(args []string) error {
	const applied = "/kind/applied"
	line := strings.Join(args, " ")
	switch {
	case strings.Contains(line, "jsonpath"):
		fmt.Println("'True'")
	case strings.Contains(line, " apply "):
		content, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		return os.WriteFile(applied, content, 0o644)
	case strings.Contains(line, " delete "):
		return os.RemoveAll(applied)
	case strings.Contains(line, " get configmap"):
		if content, err := os.ReadFile(applied); err == nil && strings.Contains(string(content), args[len(args)-1]) {
			fmt.Println("configmap/" + args[len(args)-1])
		}
	default:
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	return nil
}

func containerd([]string) error {
	fmt.Println("version = 3\n[plugins.'io.containerd.cri.v1.images']\nsnapshotter = 'overlayfs'")
	return nil
}

// load counts the bytes of an archive of images.
func load([]string) error {
	n, err := io.Copy(io.Discard, os.Stdin)
	if err != nil || n == 0 {
		return fmt.Errorf("an empty archive: %v", err)
	}
	return os.WriteFile("/kind/loaded", []byte(fmt.Sprint(n)), 0o644)
}
