package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/authhelpers"
	"github.com/pulumi/pulumi/pkg/v3/backend/diy/postgres"
	"github.com/spf13/cobra"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcerrors"
)

// objectsCommand reads and writes small objects in the bucket of a backend, for
// the lock that the runner keeps there, and for those of Pulumi. The libraries for that are here because
// Pulumi's backends need them, and are too large for the runner.
func objectsCommand() *cobra.Command {
	command := &cobra.Command{Use: "objects", Short: "objects of the runner in the bucket of a backend", Hidden: true}
	command.AddCommand(
		objectCommand("list URL DIR [IN...]", "write the objects of the directory, or of directories in it, as a JSON object",
			cobra.MinimumNArgs(2), listObjects),
		objectCommand("put URL KEY", "write what comes by the standard input", cobra.ExactArgs(2), putObject),
		objectCommand("delete URL KEY", "remove an object, if it is there", cobra.ExactArgs(2), deleteObject),
	)
	return command
}

func objectCommand(use, short string, args cobra.PositionalArgs,
	do func(ctx context.Context, bucket *blob.Bucket, keys []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(c *cobra.Command, args []string) error {
		bucket, err := openBucket(c.Context(), args[0])
		if err != nil {
			return err
		}
		if err := errors.Join(do(c.Context(), bucket, args[1:]), closeBucket(bucket)); err != nil {
			return errors.New(err.Error()) // in one line: Pulumi writes a list of what an error wraps
		}
		return nil
	}}
}

// closeBucket closes a bucket. That of a database leaves its connections open otherwise.
func closeBucket(bucket *blob.Bucket) error {
	var database *postgres.Bucket
	if bucket.As(&database) {
		_ = database.Close() // its bucket counts as closed since it got a prefix, which is an error
		return nil
	}
	return bucket.Close()
}

// mostLists is how often a directory is listed in which objects come and go.
const mostLists = 20

// listObjects writes the objects in a directory. The driver for PostgreSQL fails where one of them goes meanwhile.
func listObjects(ctx context.Context, bucket *blob.Bucket, directories []string) error {
	var objects map[string][]byte
	var err error
	for range mostLists {
		if objects, err = readObjects(ctx, bucket, directories); !isMissing(err) {
			break
		}
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(objects)
}

// readObjects lists a directory by one question, and reads only what is asked for.
func readObjects(ctx context.Context, bucket *blob.Bucket, directories []string) (map[string][]byte, error) {
	directory, in := strings.TrimSuffix(directories[0], "/")+"/", directories[1:]
	objects := map[string][]byte{}
	list := bucket.List(&blob.ListOptions{Prefix: directory})
	for {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		key := strings.TrimPrefix(object.Key, directory)
		if len(in) > 0 && !slices.Contains(in, path.Dir(key)) {
			continue
		}
		content, err := bucket.ReadAll(ctx, object.Key)
		if isMissing(err) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		objects[key] = content
	}
}

func putObject(ctx context.Context, bucket *blob.Bucket, keys []string) error {
	content, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	return bucket.WriteAll(ctx, keys[0], content, nil)
}

func deleteObject(ctx context.Context, bucket *blob.Bucket, keys []string) error {
	if err := bucket.Delete(ctx, keys[0]); !isMissing(err) {
		return err
	}
	return nil
}

// isMissing reports whether an object is not there.
func isMissing(err error) bool { return gcerrors.Code(err) == gcerrors.NotFound }

// openBucket opens the bucket of a backend as Pulumi does.
func openBucket(ctx context.Context, address string) (*blob.Bucket, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the address of the backend: %w", err)
	}
	mux := blob.DefaultURLMux()
	switch parsed.Scheme {
	case gcsblob.Scheme:
		if mux, err = authhelpers.GoogleCredentialsMux(ctx); err != nil {
			return nil, err
		}
	case "s3":
		modernise(parsed)
	}
	bucket, err := openPool(func() (*blob.Bucket, error) { return mux.OpenBucketURL(ctx, parsed) })
	if err != nil {
		return nil, err
	}
	if directory := strings.Trim(parsed.Path, "/"); directory != "" && parsed.Scheme != "file" {
		bucket = blob.PrefixedBucket(bucket, directory+"/")
	}
	return bucket, nil
}

// modernise rewrites parameters of S3 that Pulumi still takes.
func modernise(address *url.URL) {
	query := address.Query()
	plain, _ := strconv.ParseBool(query.Get("disableSSL"))
	if query.Has("disableSSL") {
		query.Del("disableSSL")
		query.Set("disable_https", strconv.FormatBool(plain))
	}
	if endpoint := query.Get("endpoint"); endpoint != "" && !strings.Contains(endpoint, "://") {
		scheme := "https://"
		if plain {
			scheme = "http://"
		}
		query.Set("endpoint", scheme+endpoint)
	}
	address.RawQuery = query.Encode()
}
