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
		return errors.Join(do(c.Context(), bucket, args[1:]), bucket.Close())
	}}
}

// listObjects lists a directory by one question, and reads only what is asked for.
func listObjects(ctx context.Context, bucket *blob.Bucket, directories []string) error {
	directory, in := strings.TrimSuffix(directories[0], "/")+"/", directories[1:]
	objects := map[string][]byte{}
	list := bucket.List(&blob.ListOptions{Prefix: directory})
	for {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return json.NewEncoder(os.Stdout).Encode(objects)
		}
		if err != nil {
			return err
		}
		key := strings.TrimPrefix(object.Key, directory)
		if len(in) > 0 && !slices.Contains(in, path.Dir(key)) {
			continue
		}
		content, err := bucket.ReadAll(ctx, object.Key)
		if gcerrors.Code(err) == gcerrors.NotFound { // removed meanwhile
			continue
		}
		if err != nil {
			return err
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
	err := bucket.Delete(ctx, keys[0])
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}

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
	bucket, err := mux.OpenBucketURL(ctx, parsed)
	if isMadeMeanwhile(err) {
		bucket, err = mux.OpenBucketURL(ctx, parsed)
	}
	if err != nil {
		return nil, err
	}
	if directory := strings.Trim(parsed.Path, "/"); directory != "" && parsed.Scheme != "file" {
		bucket = blob.PrefixedBucket(bucket, directory+"/")
	}
	return bucket, nil
}

// isMadeMeanwhile reports whether another process has made the table of a new
// PostgreSQL database at the same moment. "if not exists" is no help against that.
func isMadeMeanwhile(err error) bool {
	return err != nil && strings.Contains(err.Error(), "pg_type_typname_nsp_index")
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
