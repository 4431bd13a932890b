// Package reach waits until a web address answers.
package reach

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Options say how to wait.
type Options struct {
	Ask   func(ctx context.Context, address string) error // such as Through
	Every time.Duration                                   // between two requests
	Limit time.Duration                                   // for all of them
	// Unknown bounds how long a host may be missing in the DNS; 0 for Limit.
	Unknown time.Duration
}

// Until waits until the address answers. It returns the error of the last request,
// or the cause of ctx if that ends before the limit.
func Until(ctx context.Context, address string, o Options) error {
	limited, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	tick := time.NewTicker(o.Every)
	defer tick.Stop()
	last := errors.New("timed out before the first request")
	var missing time.Time // when the host was first missing in the DNS
	for {
		err := o.Ask(limited, address)
		if err == nil {
			return nil
		}
		if limited.Err() == nil {
			last = err
		}
		var lookup *net.DNSError // its host does not exist, or the DNS server does not answer
		switch {
		case !errors.As(err, &lookup) || !lookup.IsNotFound:
			missing = time.Time{}
		case missing.IsZero():
			missing = time.Now()
		case o.Unknown > 0 && time.Since(missing) >= o.Unknown:
			return fmt.Errorf("%s: host %s not found in the DNS after %s", address, lookup.Name, o.Unknown)
		}
		select {
		case <-tick.C:
		case <-limited.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("%s has not answered within %s: %w", address, o.Limit, last)
		}
	}
}

// askTime is how long one answer may take.
const askTime = 10 * time.Second

// Through returns a function that requests an address once, through proxy. An
// ingress controller answers 404 until it knows the application, and 502 to 504
// until the application runs; any other response comes from the application. It
// accepts every certificate, because it sends no data and certificates on this
// machine are self-signed.
func Through(proxy func(*http.Request) (*url.URL, error)) func(ctx context.Context, address string) error {
	return through(proxy, &tls.Config{InsecureSkipVerify: true})
}

// Verified returns a function like Through does, which checks certificates.
func Verified(proxy func(*http.Request) (*url.URL, error)) func(ctx context.Context, address string) error {
	return through(proxy, &tls.Config{MinVersion: tls.VersionTLS12})
}

// IsCertificate reports whether an error is about a certificate.
func IsCertificate(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}

func through(proxy func(*http.Request) (*url.URL, error),
	config *tls.Config) func(ctx context.Context, address string) error {
	client := http.Client{
		Timeout:       askTime,
		Transport:     &http.Transport{Proxy: proxy, DisableKeepAlives: true, TLSClientConfig: config},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, address string) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return Bare(err)
		}
		defer response.Body.Close()
		_, _ = io.CopyN(io.Discard, response.Body, 1<<16) // whether it can be read does not matter
		if response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusNotFound {
			return fmt.Errorf("HTTP %s", response.Status)
		}
		return nil
	}
}

// Bare strips the address from the error of a request.
func Bare(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}
