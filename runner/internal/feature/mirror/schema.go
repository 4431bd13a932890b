package mirror

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"mara/runner/internal/machine/exactjson"
)

// schemaFile is the chart's JSON schema of its values.
const schemaFile = "values.schema.json"

// localise removes remote references from the schemas in a chart's archive and in its
// subcharts. Helm would download them whenever it validates values. Nothing else changes:
// an archive without such references is returned as it is. It is deterministic.
func localise(archive []byte) (local []byte, changed bool, err error) {
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, false, fmt.Errorf("reading the chart's archive: %w", err)
	}
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	writer := tar.NewWriter(packed)
	reader := tar.NewReader(zipped)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, fmt.Errorf("reading the chart's archive: %w", err)
		}
		content, err := readAll(reader, chartLimit)
		if err != nil {
			return nil, false, fmt.Errorf("reading the chart's archive: %w", err)
		}
		replaced, differs, err := localFile(header.Name, content)
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", header.Name, err)
		}
		changed = changed || differs
		header.Size = int64(len(replaced))
		if err = writer.WriteHeader(header); err == nil {
			_, err = writer.Write(replaced)
		}
		if err != nil {
			return nil, false, fmt.Errorf("writing the chart's archive: %w", err)
		}
	}
	if !changed {
		return archive, false, nil
	}
	if err := errors.Join(writer.Close(), packed.Close()); err != nil {
		return nil, false, fmt.Errorf("writing the chart's archive: %w", err)
	}
	return out.Bytes(), true, nil
}

// localFile returns a file of a chart without remote references.
func localFile(file string, content []byte) ([]byte, bool, error) {
	switch {
	case path.Base(file) == schemaFile:
		return localSchema(content)
	case path.Base(path.Dir(file)) == "charts" && path.Ext(file) == ".tgz":
		return localise(content)
	}
	return content, false, nil
}

// localSchema returns a JSON schema without remote references.
func localSchema(content []byte) ([]byte, bool, error) {
	var schema any
	if err := exactjson.Decode(content, &schema); err != nil {
		return nil, false, fmt.Errorf("not a JSON schema: %w", err)
	}
	schema, changed := withoutRemote(schema)
	if !changed {
		return content, false, nil
	}
	local, err := json.MarshalIndent(schema, "", "  ")
	return local, true, err
}

// withoutRemote replaces each part of a schema that is a remote reference by a schema that
// allows any value. It keeps the descriptive keys next to the reference; the drafts before
// 2019 ignore all other keys there.
func withoutRemote(schema any) (any, bool) {
	changed := false
	switch typed := schema.(type) {
	case map[string]any:
		if reference, ok := typed["$ref"].(string); ok && isRemote(reference) {
			maps.DeleteFunc(typed, func(key string, _ any) bool { return !slices.Contains(descriptive(), key) })
			return typed, true
		}
		for key, value := range typed {
			replaced, differs := withoutRemote(value)
			typed[key], changed = replaced, changed || differs
		}
	case []any:
		for i, value := range typed {
			replaced, differs := withoutRemote(value)
			typed[i], changed = replaced, changed || differs
		}
	}
	return schema, changed
}

// isRemote reports whether a reference leads out of the file. Helm has JSON Schema's own
// schemas built in.
func isRemote(reference string) bool {
	return !strings.HasPrefix(reference, "#") && !strings.Contains(reference, "://json-schema.org/")
}

// descriptive lists the keys of a schema that do not validate.
func descriptive() []string { return []string{"title", "description", "default", "examples"} }
