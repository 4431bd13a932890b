package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Bucket is a directory in a backend's bucket, accessed through mara-engine.
type Bucket struct {
	Engine         Engine
	URL, Directory string
	Dir            string // working directory of commands
	Env            []string
}

// List implements lock.Store.
func (b Bucket) List(ctx context.Context) (map[string][]byte, error) { return b.ListIn(ctx, nil) }

// ListIn implements statefiles.LockStore: it returns only the objects in these directories, if
// any. Keys are relative to the directory of the bucket.
func (b Bucket) ListIn(ctx context.Context, directories []string) (map[string][]byte, error) {
	text, err := b.do(ctx, nil, "list", append([]string{b.Directory}, directories...)...)
	if err != nil {
		return nil, err
	}
	objects := map[string][]byte{}
	err = json.Unmarshal([]byte(text), &objects)
	return objects, err
}

// Put implements lock.Store.
func (b Bucket) Put(ctx context.Context, key string, content []byte) error {
	_, err := b.do(ctx, content, "put", b.Directory+"/"+key)
	return err
}

// Delete implements lock.Store.
func (b Bucket) Delete(ctx context.Context, key string) error {
	_, err := b.do(ctx, nil, "delete", b.Directory+"/"+key)
	return err
}

// do runs an operation of the engine on objects.
func (b Bucket) do(ctx context.Context, stdin []byte, verb string, keys ...string) (string, error) {
	stdout, stderr, _, err := b.Engine.Run(ctx, b.Dir, bytes.NewReader(stdin), nil, nil, b.Env,
		append([]string{"objects", verb, b.URL}, keys...)...)
	if err != nil && ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(stderr), "error: ")); err != nil && text != "" {
		err = fmt.Errorf("%s", text)
	}
	return stdout, err
}
