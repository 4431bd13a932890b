package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
	"sigs.k8s.io/yaml"

	"mara/runner/internal/atomicfile"
	"mara/runner/internal/event"
)

// The media types of a chart in a registry.
// https://helm.sh/docs/topics/registries/#helm-chart-manifest
const (
	chartConfig  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	chartContent types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// Sizes that no chart and no index of a repository has.
const (
	chartLimit = 64 << 20
	indexLimit = 128 << 20
)

// Network is the way to registries and repositories of charts. Logins are those
// of `docker login`.
type Network struct {
	transport *http.Transport
	cache     string
}

// NewNetwork is the way through a proxy. cache is a folder that keeps charts; ""
// keeps none. Close it after use.
func NewNetwork(proxy func(*http.Request) (*url.URL, error), cache string) Network {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = proxy
	return Network{transport: transport, cache: cache}
}

// Close ends connections that are kept for more requests.
func (n Network) Close() error {
	n.transport.CloseIdleConnections()
	return nil
}

// options are how registries are asked.
func (n Network) options(ctx context.Context) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx), remote.WithTransport(n.transport),
		remote.WithAuthFromKeychain(logins{}), remote.WithUserAgent("mara"),
	}
}

// Fetch gets the archive of a chart. A version of a chart never changes, so one
// that was fetched before is taken from the cache; a range of versions is asked for each time.
func (n Network) Fetch(ctx context.Context, chart Chart) ([]byte, error) {
	kept := n.kept(chart)
	if kept != "" {
		if archive, err := os.ReadFile(kept); err == nil {
			return archive, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading a chart that was kept: %w", err)
		}
	}
	archive, err := n.download(ctx, chart)
	if err != nil {
		return nil, fmt.Errorf("fetching chart %s: %w", chart.Source(), err)
	}
	if kept != "" {
		err = errors.Join(os.MkdirAll(filepath.Dir(kept), 0o700), atomicfile.Write(kept, archive, 0o600))
	}
	return archive, err
}

// kept is the file in the cache for a chart; "" without a cache.
func (n Network) kept(chart Chart) string {
	if n.cache == "" || !isExact(chart.Version) {
		return ""
	}
	from := sha256.Sum256([]byte(chart.source()))
	return filepath.Join(n.cache, fmt.Sprintf("%s-%s-%s.tgz", chart.Name, chart.tag(), hex.EncodeToString(from[:4])))
}

func (n Network) download(ctx context.Context, chart Chart) ([]byte, error) {
	if registry, ok := strings.CutPrefix(chart.Repository, "oci://"); ok {
		return n.fromRegistry(ctx, registry+"/"+chart.Name, chart)
	}
	return n.fromRepository(ctx, chart)
}

// fromRegistry gets a chart that is kept as an OCI artifact.
func (n Network) fromRegistry(ctx context.Context, at string, chart Chart) ([]byte, error) {
	if !isExact(chart.Version) {
		var err error
		if chart.Version, err = n.newest(ctx, at, chart.Version); err != nil {
			return nil, err
		}
	}
	ref, err := name.ParseReference(at + ":" + chart.tag())
	if err != nil {
		return nil, err
	}
	artifact, err := remote.Image(ref, n.options(ctx)...)
	if err != nil {
		return nil, plain(ctx, ref, err)
	}
	content, err := contentOf(artifact)
	return content, plain(ctx, ref, err)
}

// contentOf is the archive in an OCI artifact.
func contentOf(artifact v1.Image) ([]byte, error) {
	layers, err := artifact.Layers()
	if err != nil {
		return nil, err
	}
	for _, layer := range layers {
		if kind, err := layer.MediaType(); err != nil || kind != chartContent {
			continue
		}
		content, err := layer.Compressed()
		if err != nil {
			return nil, err
		}
		defer content.Close()
		return readAll(content, chartLimit)
	}
	return nil, errors.New("that is no Helm chart")
}

// entry is a chart in the index of a repository.
type entry struct {
	Version string   `json:"version"`
	URLs    []string `json:"urls"`
	Digest  string   `json:"digest"`
}

// fromRepository gets a chart from a classic repository: a web server with a
// file index.yaml.
func (n Network) fromRepository(ctx context.Context, chart Chart) ([]byte, error) {
	content, err := n.get(ctx, chart.Repository+"/index.yaml", indexLimit)
	if err != nil {
		return nil, err
	}
	var index struct {
		Entries map[string][]entry `json:"entries"`
	}
	if err := yaml.Unmarshal(content, &index); err != nil {
		return nil, errors.New("index.yaml is not that of a repository of charts")
	}
	version := choose(chart.Version, slice.Map(index.Entries[chart.Name], func(e entry) string { return e.Version }))
	for _, e := range index.Entries[chart.Name] {
		if e.Version == version && len(e.URLs) > 0 {
			return n.archive(ctx, chart.Repository, e)
		}
	}
	return nil, errors.New("the repository has no such chart or version")
}

// archive gets the archive that an index names, whose address may be relative.
func (n Network) archive(ctx context.Context, repository string, e entry) ([]byte, error) {
	base, err := url.Parse(repository + "/")
	if err != nil {
		return nil, err
	}
	address, err := base.Parse(e.URLs[0])
	if err != nil {
		return nil, err
	}
	archive, err := n.get(ctx, address.String(), chartLimit)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(archive)
	if got := hex.EncodeToString(digest[:]); e.Digest != "" && got != strings.TrimPrefix(e.Digest, "sha256:") {
		return nil, fmt.Errorf("the archive is not the one that index.yaml tells of: its digest is %s", got)
	}
	return archive, nil
}

// get reads what is at an address.
func (n Network) get(ctx context.Context, address string, limit int64) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := (&http.Client{Transport: n.transport}).Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", event.MaskURLs(address), response.Status)
	}
	return readAll(response.Body, limit)
}

// readAll reads everything. More bytes than the limit are an error, so that nothing is cut off unnoticed.
func readAll(from io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(content)) > limit {
		return nil, fmt.Errorf("it is larger than %d bytes, the most that the runner reads", limit)
	}
	return content, err
}
