package preflight

import (
	"net/http"
	"time"

	"mara/providers/cloud"
)

// askTime bounds a request over the network. It leaves a check the time to report
// what has not been answered.
const askTime = DefaultLimit - time.Second

// httpClient returns a client that uses the same proxy as Pulumi and its plugins: the
// environment file may name one.
func httpClient(env map[string]string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:             cloud.Proxy(env),
		DisableKeepAlives: true, // each host gets one request
	}}
}
