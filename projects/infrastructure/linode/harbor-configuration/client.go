package harborconfiguration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// requestTimeout bounds one question; Harbor answers in much less.
const requestTimeout = 20 * time.Second

// client talks to Harbor's API, version 2.0:
// github.com/goharbor/harbor/blob/main/api/v2.0/swagger.yaml.
type client struct {
	base           string // URL of Harbor
	user, password string
	http           *http.Client
}

// connect makes a client for the Harbor on a host.
func connect(host, user, password string) *client {
	return &client{base: "https://" + host, user: user, password: password, http: &http.Client{Timeout: requestTimeout}}
}

// wait asks until Harbor says that all of it is healthy.
func (c *client) wait(ctx context.Context, timeout, interval time.Duration, say func(string)) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	said := ""
	for {
		// Until its machine is set up, Harbor may fail to answer in any way.
		reason := c.unhealthy(limited)
		if reason == "" {
			return nil
		}
		if said == "" || (reason != said && limited.Err() == nil) {
			say(fmt.Sprintf("waiting up to %s for Harbor at %s: %s", timeout, c.base, reason))
			said = reason
		}
		select {
		case <-ticker.C:
		case <-limited.Done():
			if err := context.Cause(ctx); err != nil {
				return fmt.Errorf("waiting for Harbor at %s: %w", c.base, err)
			}
			return fmt.Errorf("registry %s was not healthy within %s (%s): run again, or raise harbor:ready_timeout; "+
				"its machine logs to /var/log/install-harbor.log", c.base, timeout, said)
		}
	}
}

// unhealthy asks once, and says what is wrong; "" means that Harbor is healthy.
// Everyone may ask this, so the password is not sent.
func (c *client) unhealthy(ctx context.Context) string {
	anyone := client{base: c.base, http: c.http}
	var health struct {
		Status     string
		Components []struct{ Name, Status string }
	}
	status, err := anyone.call(ctx, http.MethodGet, "health", nil, &health)
	switch {
	case err != nil:
		return err.Error()
	case status != http.StatusOK:
		return "it answers " + describe(status)
	case health.Status == "healthy":
		return ""
	}
	var ill []string
	for _, component := range health.Components {
		if component.Status != "healthy" {
			ill = append(ill, component.Name)
		}
	}
	return "not healthy yet: " + strings.Join(ill, ", ")
}

// makePrivate sees to it that the project exists and is private.
func (c *client) makePrivate(ctx context.Context, name string, say func(string)) error {
	var project struct {
		Metadata struct{ Public string }
	}
	path := "projects/" + url.PathEscape(name)
	status, err := c.call(ctx, http.MethodGet, path, nil, &project)
	switch {
	case err != nil:
		return fmt.Errorf("asking Harbor for the project %q: %w", name, err)
	case status == http.StatusNotFound:
		say(fmt.Sprintf("making the private project %q in Harbor", name))
		return c.change(ctx, http.MethodPost, "projects", map[string]any{
			"project_name": name, "metadata": map[string]string{"public": "false"},
		})
	case status != http.StatusOK:
		return c.refused(http.MethodGet, path, status)
	case project.Metadata.Public == "false":
		return nil
	}
	say(fmt.Sprintf("making the project %q in Harbor private", name))
	return c.change(ctx, http.MethodPut, path+"/metadatas/public", map[string]string{"public": "false"})
}

// change asks Harbor for a change.
func (c *client) change(ctx context.Context, method, path string, body any) error {
	status, err := c.call(ctx, method, path, body, nil)
	switch {
	case err != nil:
		return fmt.Errorf("asking Harbor for a change: %w", err)
	case status != http.StatusOK && status != http.StatusCreated:
		return c.refused(method, path, status)
	}
	return nil
}

// refused says what an answer other than success means.
func (c *client) refused(method, path string, status int) error {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return fmt.Errorf("registry %s refuses the login of %q: its password was set when the machine first started, "+
			"and does not follow a later change of the secret harbor:admin_password", c.base, c.user)
	}
	return fmt.Errorf("registry %s answers %s to %s %s", c.base, describe(status), method, path)
}

// call asks one question and decodes the answer to a successful one. The path
// is relative to the API, which names projects by themselves, not by number.
func (c *client) call(ctx context.Context, method, path string, body, answer any) (int, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+"/api/v2.0/"+path, content)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Is-Resource-Name", "true")
	if c.user != "" {
		request.SetBasicAuth(c.user, c.password)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if answer == nil || response.StatusCode != http.StatusOK {
		return response.StatusCode, nil
	}
	return response.StatusCode, json.NewDecoder(response.Body).Decode(answer)
}

// describe names a status the way people know it.
func describe(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
