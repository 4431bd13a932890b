package mirror

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"helm.sh/helm/v3/pkg/chart/loader"
	"sigs.k8s.io/yaml"

	"mara/config/files"
	"mara/config/lists"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/atomicfile"
)

// The media types of a chart in a registry.
// https://helm.sh/docs/topics/registries/#helm-chart-manifest
const (
	chartConfig  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	chartContent types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// The largest chart and repository index that are read.
const (
	chartLimit = 64 << 20
	indexLimit = 128 << 20
)

// Network reads and writes registries, and reads repositories of charts. It uses the
// logins of `docker login`.
type Network struct {
	transport *http.Transport
	cache     string
}

// NewNetwork returns a Network that uses a proxy and caches charts in a directory, unless
// cache is "". Close it after use.
func NewNetwork(proxy func(*http.Request) (*url.URL, error), cache string) Network {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = proxy
	return Network{transport: transport, cache: cache}
}

// Close closes idle connections.
func (n Network) Close() error {
	n.transport.CloseIdleConnections()
	return nil
}

// options returns the options of requests to registries.
func (n Network) options(ctx context.Context) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx), remote.WithTransport(n.transport),
		remote.WithAuthFromKeychain(logins{}), remote.WithUserAgent("mara"),
	}
}

// Fetch downloads the archive of a chart, or reads it from the cache. A version of a chart
// never changes; a range of versions is resolved each time.
func (n Network) Fetch(ctx context.Context, chart Chart) ([]byte, error) {
	cached := n.cacheFile(chart)
	if cached != "" {
		if archive, err := files.Read(cached, files.Data); err == nil {
			return archive, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading a cached chart: %w", err)
		}
	}
	var archive []byte
	var err error
	if registry, ok := strings.CutPrefix(chart.Repository, "oci://"); ok {
		archive, err = n.fromRegistry(ctx, registry+"/"+chart.Name, chart)
	} else {
		archive, err = n.fromRepository(ctx, chart)
	}
	if err != nil {
		return nil, fmt.Errorf("fetching chart %s: %w", chart.Source(), err)
	}
	if cached != "" {
		err = errors.Join(os.MkdirAll(filepath.Dir(cached), 0o700), atomicfile.Write(cached, archive, 0o600))
	}
	return archive, err
}

// cacheFile returns the path of a chart in the cache, or "" if it is not cached.
func (n Network) cacheFile(chart Chart) string {
	if n.cache == "" || !isExact(chart.Version) {
		return ""
	}
	from := sha256.Sum256([]byte(chart.source()))
	return filepath.Join(n.cache, fmt.Sprintf("%s-%s-%s.tgz", chart.Name, chart.tag(), hex.EncodeToString(from[:4])))
}

// fromRegistry downloads a chart that is an OCI artifact.
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

// contentOf returns the chart's archive in an OCI artifact.
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
	return nil, errors.New("the artifact is not a Helm chart")
}

// entry is a chart in the index of a repository.
type entry struct {
	Version string   `json:"version"`
	URLs    []string `json:"urls"`
	Digest  string   `json:"digest"`
}

// fromRepository downloads a chart from a classic repository: a web server with an
// index.yaml. Helm's pkg/repo does the same, but links kubectl, ORAS and containerd,
// 165 packages, and reads registries with Helm's logins instead of Docker's.
func (n Network) fromRepository(ctx context.Context, chart Chart) ([]byte, error) {
	content, err := n.get(ctx, chart.Repository+"/index.yaml", indexLimit)
	if err != nil {
		return nil, err
	}
	var index struct {
		Entries map[string][]entry `json:"entries"`
	}
	if err := yaml.Unmarshal(content, &index); err != nil {
		return nil, errors.New("index.yaml is not the index of a chart repository")
	}
	entries := index.Entries[chart.Name]
	version := choose(chart.Version, lists.Map(entries, func(e entry) string { return e.Version }))
	found, ok := lists.Find(entries, func(e entry) bool { return e.Version == version && len(e.URLs) > 0 })
	if !ok {
		return nil, fmt.Errorf("the repository %w: no such chart or version", ErrMissing)
	}
	return n.archive(ctx, chart.Repository, found)
}

// archive downloads the archive of an index entry, whose URL may be relative.
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
		return nil, fmt.Errorf("the digest of the archive is %s, not the one in index.yaml", got)
	}
	return archive, nil
}

// get downloads a URL.
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

// readAll reads everything. More bytes than the limit are an error.
func readAll(from io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(content)) > limit {
		return nil, fmt.Errorf("larger than the limit of %d bytes", limit)
	}
	return content, err
}

// artifact is a chart as Helm pushes it to a registry. The same archive always has the
// same digest.
type artifact struct {
	config  []byte
	archive v1.Layer
}

// newArtifact makes the artifact of a chart's archive.
func newArtifact(archive []byte) (v1.Image, error) {
	loaded, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("reading the chart's archive: %w", err)
	}
	config, err := json.Marshal(loaded.Metadata)
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(artifact{config: config, archive: static.NewLayer(archive, chartContent)})
}

// MediaType returns the type of the manifest.
func (a artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// RawConfigFile returns the chart's metadata.
func (a artifact) RawConfigFile() ([]byte, error) { return a.config, nil }

// RawManifest returns the manifest, with the single layer of a chart.
func (a artifact) RawManifest() ([]byte, error) {
	config, size, err := v1.SHA256(bytes.NewReader(a.config))
	if err != nil {
		return nil, err
	}
	layer, err := partial.Descriptor(a.archive)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1,
		Config: v1.Descriptor{MediaType: chartConfig, Digest: config, Size: size},
		Layers: []v1.Descriptor{*layer},
	})
}

// LayerByDigest returns the layer.
func (a artifact) LayerByDigest(digest v1.Hash) (partial.CompressedLayer, error) {
	own, err := a.archive.Digest()
	if err == nil && own == digest {
		return a.archive, nil
	}
	return nil, fmt.Errorf("the chart has no layer %s", digest)
}

// isExact reports whether a string is a version and not a range of versions, as Helm defines them. "" is the range of
// all versions except pre-releases. A string that is neither, such as an unusual tag, is a version.
func isExact(version string) bool {
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v")); err == nil {
		return true
	}
	if version == "" {
		return false
	}
	_, err := semver.NewConstraint(version)
	return err != nil
}

// choose returns the version that Helm would install: the wanted version if it is available, else the newest version
// in the wanted range, or "" if there is none.
func choose(wanted string, available []string) string {
	if slices.Contains(available, wanted) || isExact(wanted) {
		return wanted
	}
	allowed, err := semver.NewConstraint(cmp.Or(wanted, "*"))
	if err != nil {
		return ""
	}
	var newest *semver.Version
	for _, text := range available {
		v, err := semver.NewVersion(text)
		if err == nil && allowed.Check(v) && (newest == nil || v.GreaterThan(newest)) {
			newest = v
		}
	}
	if newest == nil {
		return ""
	}
	return newest.Original()
}

// newest lists the tags of a chart in its registry, and returns the version that Helm would install.
func (n Network) newest(ctx context.Context, at, wanted string) (string, error) {
	repository, err := name.NewRepository(at)
	if err != nil {
		return "", err
	}
	tags, err := remote.List(repository, n.options(ctx)...)
	if err != nil {
		return "", fmt.Errorf("listing the versions: %w", err)
	}
	// A tag cannot have the + of a version.
	versions := lists.Map(tags, func(tag string) string { return strings.ReplaceAll(tag, "_", "+") })
	version := choose(wanted, versions)
	if version == "" {
		return "", fmt.Errorf("the registry %w: no version of the chart is in the range %q", ErrMissing, wanted)
	}
	return version, nil
}
