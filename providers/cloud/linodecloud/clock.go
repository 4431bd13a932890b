package linodecloud

import (
	"net/http"
	"time"
)

// clock reads the time that a server tells with its answers; the SDK drops it.
type clock struct {
	base  http.RoundTripper
	ahead time.Duration // of this machine
}

// RoundTrip implements http.RoundTripper.
func (c *clock) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if now, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		c.ahead = time.Since(now)
	}
	return answer, nil
}
