// Package digitaloceancloud asks DigitalOcean, with its own SDK.
package digitaloceancloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/digitalocean/godo"

	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/cloud"
)

// Client asks DigitalOcean.
type Client struct {
	api   *godo.Client
	token string
	clock *cloud.Clock
}

// bearer adds the token to requests.
type bearer struct {
	token string
	base  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.base.RoundTrip(r)
}

// New makes a client. A missing token is reported by the first question.
func New(_ context.Context, access cloud.Access) (cloud.Client, error) {
	clock := cloud.NewClock(access.Env)
	token := access.Env["DIGITALOCEAN_TOKEN"]
	var options []godo.ClientOpt
	if url := access.Env["DIGITALOCEAN_API_URL"]; url != "" {
		options = append(options, godo.SetBaseURL(url))
	}
	// The token goes wherever a request goes, so redirections are not followed.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	api, err := godo.New(&http.Client{Transport: bearer{token, clock}, CheckRedirect: stay}, options...)
	if err != nil {
		return nil, &cloud.Error{Text: "DIGITALOCEAN_API_URL is not an address", Err: err}
	}
	return &Client{api: api, token: token, clock: clock}, nil
}

// Account implements cloud.Client.
func (c *Client) Account(ctx context.Context) (cloud.Account, error) {
	if err := c.noToken(); err != nil {
		return cloud.Account{}, err
	}
	account, _, err := c.api.Account.Get(ctx)
	if err == nil {
		return cloud.Account{ID: team(account), Name: account.Email, ClockAhead: c.clock.Ahead}, nil
	}
	if status(err) == http.StatusForbidden { // a token may be good for clusters, and not for the account
		if _, _, err = c.api.Kubernetes.List(ctx, &godo.ListOptions{PerPage: 1}); err == nil {
			return cloud.Account{Name: "a user whom the token does not name", ClockAhead: c.clock.Ahead}, nil
		}
	}
	return cloud.Account{}, explain(ctx, err)
}

// team returns the team of a token, or "" if DigitalOcean does not report it.
func team(account *godo.Account) string {
	if account.Team == nil {
		return ""
	}
	return account.Team.Name
}

func (c *Client) noToken() error {
	if c.token == "" {
		return &cloud.Error{Text: "there is no DigitalOcean token", Next: "set DIGITALOCEAN_TOKEN"}
	}
	return nil
}

// Choices implements cloud.Client.
func (c *Client) Choices(ctx context.Context, list model.List) ([]cloud.Choice, error) {
	if err := c.noToken(); err != nil {
		return nil, err
	}
	return cloud.Lists{
		model.Regions:            c.regions,
		model.KubernetesVersions: c.versions,
		model.NodeTypes:          c.sizes,
	}.Choices(ctx, list, func(err error) error { return explain(ctx, err) })
}

// Offers implements cloud.Catalogue.
func (c *Client) Offers(ctx context.Context, list model.List, places []string) ([]string, error) {
	if err := c.noToken(); err != nil {
		return nil, err
	}
	switch list {
	case model.NodeTypes:
		return c.sizesIn(ctx, places)
	case model.KubernetesVersions: // a minor version is a name for its newest patch
		options, _, err := c.api.Kubernetes.GetOptions(ctx)
		if err != nil {
			return nil, explain(ctx, err)
		}
		names := cloud.Names(minors(options))
		for _, version := range options.Versions {
			names = append(names, version.Slug)
		}
		return names, nil
	}
	choices, err := c.Choices(ctx, list)
	return cloud.Names(choices), err
}

// sizesIn lists the sizes that nodes can have in all of the regions that any size has.
func (c *Client) sizesIn(ctx context.Context, regions []string) ([]string, error) {
	sizes, err := c.nodeSizes(ctx)
	if err != nil {
		return nil, explain(ctx, err)
	}
	var known []string
	for _, size := range sizes {
		known = append(known, size.Regions...)
	}
	var names []string
	for _, size := range sizes {
		lacks := func(region string) bool {
			return slices.Contains(known, region) && !slices.Contains(size.Regions, region)
		}
		if size.Available && !slices.ContainsFunc(regions, lacks) {
			names = append(names, size.Slug)
		}
	}
	return names, nil
}

// regions lists the regions that offer Kubernetes.
func (c *Client) regions(ctx context.Context) ([]cloud.Choice, error) {
	options, _, err := c.api.Kubernetes.GetOptions(ctx)
	if err != nil {
		return nil, err
	}
	return cloud.ByValue(lists.Map(options.Regions, func(r *godo.KubernetesRegion) cloud.Choice {
		return cloud.Choice{Value: r.Slug, Note: r.Name}
	})), nil
}

// versions lists the minor versions of Kubernetes, the newest first, each with
// its newest patch.
func (c *Client) versions(ctx context.Context) ([]cloud.Choice, error) {
	options, _, err := c.api.Kubernetes.GetOptions(ctx)
	if err != nil {
		return nil, err
	}
	return minors(options), nil
}

func minors(options *godo.KubernetesOptions) (choices []cloud.Choice) {
	slices.SortFunc(options.Versions, func(a, b *godo.KubernetesVersion) int {
		return slices.Compare(numbers(b.Slug), numbers(a.Slug))
	})
	for _, version := range options.Versions {
		parts := strings.SplitN(version.Slug, ".", 3)
		if len(parts) < 3 {
			continue
		}
		minor := parts[0] + "." + parts[1]
		if !slices.ContainsFunc(choices, func(c cloud.Choice) bool { return c.Value == minor }) {
			choices = append(choices, cloud.Choice{Value: minor, Note: "now " + version.Slug})
		}
	}
	return choices
}

// numbers returns the numbers of a version such as 1.36.2-do.0.
func numbers(version string) []int {
	var found []int
	for _, digits := range strings.FieldsFunc(version, func(r rune) bool { return r < '0' || r > '9' }) {
		number, _ := strconv.Atoi(digits) // these are digits
		found = append(found, number)
	}
	return found
}

// Limits of the listed nodes: at least that many MB, and at most that many CPUs.
const (
	least    = 4096
	mostCPUs = 16
)

// sizes lists the sizes that nodes of a cluster can have and that fit the
// platform, the cheapest first.
func (c *Client) sizes(ctx context.Context) ([]cloud.Choice, error) {
	sizes, err := c.nodeSizes(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(sizes, func(a, b godo.Size) int { return cmp.Compare(a.PriceMonthly, b.PriceMonthly) })
	var choices []cloud.Choice
	for _, size := range sizes {
		if !size.Available || size.GPUInfo != nil || size.Memory < least || size.Vcpus > mostCPUs {
			continue
		}
		note := fmt.Sprintf("%d CPUs, %d GB, $%g a month", size.Vcpus, size.Memory/1024, size.PriceMonthly)
		choices = append(choices, cloud.Choice{Value: size.Slug, Note: note})
	}
	return choices, nil
}

// nodeSizes lists the sizes that nodes of a cluster can have.
func (c *Client) nodeSizes(ctx context.Context) ([]godo.Size, error) {
	options, _, err := c.api.Kubernetes.GetOptions(ctx)
	if err != nil {
		return nil, err
	}
	sizes, _, err := c.api.Sizes.List(ctx, &godo.ListOptions{PerPage: 200})
	return slices.DeleteFunc(sizes, func(size godo.Size) bool {
		return !slices.ContainsFunc(options.Sizes, func(s *godo.KubernetesNodeSize) bool { return s.Slug == size.Slug })
	}), err
}

// status returns the HTTP status of DigitalOcean's answer, or 0 without one.
func status(err error) int {
	var answer *godo.ErrorResponse
	if !errors.As(err, &answer) || answer.Response == nil {
		return 0
	}
	return answer.Response.StatusCode
}

// explain returns an error that says in a sentence why DigitalOcean gave no answer.
func explain(ctx context.Context, err error) error {
	if late := cloud.Late("DigitalOcean", cmp.Or(ctx.Err(), err)); late != nil {
		return late
	}
	code := status(err)
	if code == 0 {
		return cloud.Garbled("DigitalOcean", err, err.Error())
	}
	var answer *godo.ErrorResponse
	errors.As(err, &answer)
	explained := cloud.Answer{Cloud: "DigitalOcean", Status: code, Reason: answer.Message,
		Header: answer.Response.Header}.Error(err)
	switch code {
	case http.StatusUnauthorized:
		explained.Next = "check DIGITALOCEAN_TOKEN"
	case http.StatusForbidden:
		explained.Next = "give the token the scopes of Kubernetes, registries and domains, or make a new one"
	}
	explained.Unsure = code != http.StatusUnauthorized && code != http.StatusForbidden
	return explained
}
