package cloud

import (
	"net/http"
	"time"
)

// Clock reads the date of a server's responses, which SDKs drop.
type Clock struct {
	Base  http.RoundTripper
	Ahead time.Duration // how far the clock of this machine is ahead of the server's
}

// NewClock returns a clock on the connections of an SDK, with the proxy that the environment names.
func NewClock(env map[string]string) *Clock {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = Proxy(env)
	return &Clock{Base: transport}
}

// RoundTrip implements http.RoundTripper.
func (c *Clock) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.Base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if now, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		c.Ahead = time.Since(now)
	}
	return answer, nil
}
