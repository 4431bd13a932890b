// Package reach waits until a web address answers.
package reach

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Options say how to wait.
type Options struct {
	Ask   func(ctx context.Context, address string) error // such as Through
	Every time.Duration                                   // between two questions
	Limit time.Duration                                   // for all of them
}

// Until waits until the address answers. The error is that of the last question;
// when ctx ends before the limit, it is the cause of that.
func Until(ctx context.Context, address string, o Options) error {
	limited, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	tick := time.NewTicker(o.Every)
	defer tick.Stop()
	last := errors.New("there was no time to ask")
	for {
		err := o.Ask(limited, address)
		if err == nil {
			return nil
		}
		if limited.Err() == nil {
			last = err
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

// Through asks through the proxy that is named for a request, if any. An ingress
// controller says 404 as long as it has not heard of the application, and 502 to
// 504 as long as that does not run; any other answer comes from the application.
// Who it is does not matter, and nothing is told to it, so that any certificate
// will do: at home it is self-signed.
func Through(proxy func(*http.Request) (*url.URL, error)) func(ctx context.Context, address string) error {
	client := http.Client{
		Timeout: askTime,
		Transport: &http.Transport{
			Proxy: proxy, DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, address string) error { return ask(ctx, &client, address) }
}

func ask(ctx context.Context, client *http.Client, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return bare(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 1<<16) // whether it can be read does not matter
	if response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusNotFound {
		return fmt.Errorf("it says %s", response.Status)
	}
	return nil
}

// bare is what went wrong, without the address: that is told anyway.
func bare(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
