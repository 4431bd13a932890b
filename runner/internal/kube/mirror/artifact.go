package mirror

import (
	"bytes"
	"encoding/json"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"helm.sh/helm/v3/pkg/chart/loader"
)

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
