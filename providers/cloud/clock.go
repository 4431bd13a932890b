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
