// Program shop is an application for tests on real clusters: it answers with its version and with what it was given,
// and ends as it should.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// kept is a file in the volume.
const kept = "/data/kept"

func main() {
	if len(os.Args) > 1 { // the Job before a rollout
		fmt.Println(strings.Join(os.Args[1:], " "), "done")
		return
	}
	version := read("/version")
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "version %s, level %s, secret %x, file %s\n", version, os.Getenv("LOG_LEVEL"),
			sha256.Sum256([]byte(os.Getenv("DATABASE_URL"))), read("/etc/shop.conf"))
	})
	http.HandleFunc("GET /kept", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, read(kept)) })
	http.HandleFunc("PUT /kept", func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err == nil {
			err = os.WriteFile(kept, content, 0o600)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	server := &http.Server{Addr: ":" + os.Getenv("PORT"), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.ListenAndServe(); err != http.ErrServerClosed {
			log.Fatal(err)
		}
	}()
	<-ctx.Done()
	if err := server.Shutdown(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// read returns the text of a file, which is empty where there is none.
func read(file string) string {
	content, _ := os.ReadFile(file)
	return strings.TrimSpace(string(content))
}
