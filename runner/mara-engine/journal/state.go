package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/resource/stack"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// content is a state as a backend has it.
type content struct {
	versioned  *apitype.VersionedCheckpoint
	checkpoint *apitype.CheckpointV3
	digest     string
}

// decodeContent decodes a state, which may be compressed.
func decodeContent(stored []byte) (c content, err error) {
	m := encoding.Compress(encoding.JSON, encoding.DetectCompression(stored))
	c.versioned = &apitype.VersionedCheckpoint{}
	if err := m.Unmarshal(stored, c.versioned); err != nil {
		return c, fmt.Errorf("reading the state: %w", err)
	}
	var version int
	var features []string
	c.checkpoint, version, features, err = stack.UnmarshalVersionedCheckpointToLatestCheckpoint(m, stored)
	if err != nil {
		return c, fmt.Errorf("reading the state: %w", err)
	}
	if c.checkpoint == nil {
		return c, errors.New("reading the state: it is empty")
	}
	if c.versioned.Version < 3 { // of a Pulumi of years ago; it was converted
		text, err := compact(c.checkpoint)
		if err != nil {
			return c, fmt.Errorf("reading the state: %w", err)
		}
		c.versioned = &apitype.VersionedCheckpoint{Version: version, Features: features, Checkpoint: text}
	}
	c.digest = digest(c.versioned.Checkpoint)
	return c, nil
}

// encodeDeployment returns a deployment as the state of a stack.
func encodeDeployment(name tokens.QName, d apitype.TypedDeployment) (content, error) {
	checkpoint := &apitype.CheckpointV3{Stack: name, Latest: d.Deployment}
	text, err := compact(checkpoint)
	if err != nil {
		return content{}, fmt.Errorf("encoding the state: %w", err)
	}
	return content{
		versioned:  &apitype.VersionedCheckpoint{Version: d.Version, Features: d.Features, Checkpoint: json.RawMessage(text)},
		checkpoint: checkpoint,
		digest:     digest(text),
	}, nil
}

// asBase returns a state as the base of a journal, and its digest there.
func (c content) asBase() (text []byte, sum string, err error) {
	checkpoint, err := compact(c.versioned.Checkpoint)
	if err == nil {
		text, err = compact(apitype.VersionedCheckpoint{
			Version: c.versioned.Version, Features: c.versioned.Features, Checkpoint: checkpoint,
		})
	}
	if err != nil {
		return nil, "", fmt.Errorf("encoding the state: %w", err)
	}
	return text, digest(checkpoint), nil
}

// deployment returns a copy of the deployment in a state, which shares nothing with it.
func (c content) deployment() (*apitype.DeploymentV3, error) {
	var checkpoint apitype.CheckpointV3
	if err := json.Unmarshal(c.versioned.Checkpoint, &checkpoint); err != nil {
		return nil, fmt.Errorf("reading the state: %w", err)
	}
	if checkpoint.Latest == nil {
		return &apitype.DeploymentV3{}, nil
	}
	return checkpoint.Latest, nil
}

// fenceMark begins the magic of a state that lags behind a journal. Pulumi computes the magic from the rest of the
// manifest, and works on no state with another one; it lists, exports and reads the outputs of such a state all the
// same.
const fenceMark = "mara-journal "

// FenceText is what Pulumi says of a state that lags.
const FenceText = "this state is in the middle of an operation of `runner`, which keeps the newest changes in a journal " +
	"beside it. If that operation was cut off, `runner repair` or any other operation of `runner` takes them over; " +
	"no Pulumi should work on this state before"

// keeperType is the type of a resource that is in a state with a fence alone.
const keeperType = tokens.Type("mara:index:Journal")

// fence marks a deployment as one that lags behind a journal. Pulumi looks at no mark before it removes a stack, but
// removes none that has more than its root: such a state gets another resource.
func fence(name tokens.QName, d *apitype.DeploymentV3, epoch string) {
	d.Manifest.Magic = fenceMark + epoch
	d.Metadata.IntegrityErrorMetadata = &apitype.SnapshotIntegrityErrorMetadataV1{
		Version: d.Manifest.Version, Command: "runner", Error: FenceText,
	}
	if len(d.Resources) == 0 || len(d.Resources) == 1 && d.Resources[0].Type == tokens.RootStackType {
		project := tokens.PackageName("unknown") // in the layout without projects
		if parts := strings.Split(string(name), "/"); len(parts) == 3 {
			project = tokens.PackageName(parts[1])
		}
		d.Resources = append(slices.Clip(d.Resources), apitype.ResourceV3{
			URN: resource.NewURN(tokens.QName(name.Name()), project, "", keeperType, epoch), Type: keeperType,
		})
	}
}

// unfence takes the fence from a deployment.
func unfence(d *apitype.DeploymentV3) {
	d.Manifest.Magic, d.Metadata.IntegrityErrorMetadata = d.Manifest.NewMagic(), nil
	d.Resources = slices.DeleteFunc(d.Resources, func(r apitype.ResourceV3) bool { return r.Type == keeperType })
}

// Lags reports whether a state lags behind a journal.
func Lags(c *apitype.CheckpointV3) bool {
	return c != nil && c.Latest != nil && isFence(c.Latest.Manifest.Magic)
}

// fencedBy returns the journal that a state lags behind, "" for a state that does not.
func (c content) fencedBy() string {
	if !Lags(c.checkpoint) {
		return ""
	}
	return strings.TrimPrefix(c.checkpoint.Latest.Manifest.Magic, fenceMark)
}

func isFence(magic string) bool { return strings.HasPrefix(magic, fenceMark) }
