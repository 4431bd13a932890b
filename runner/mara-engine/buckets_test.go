package main

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// bucket is what a stand-in for the storage of Google or Azure keeps.
type bucket struct {
	told func(key string) // of each object that is written

	mu      sync.Mutex // guards what follows
	objects map[string]object
	parts   map[string][]byte // of objects that are written in parts
	number  int64             // of the last write
}

type object struct {
	content []byte
	number  int64
	at      time.Time
}

func newBucket(told func(key string)) *bucket {
	return &bucket{told: told, objects: map[string]object{}, parts: map[string][]byte{}}
}

func (b *bucket) get(key string) (object, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.objects[key]
	return o, ok
}

func (b *bucket) put(key string, content []byte) object {
	b.told(key)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.number++
	b.objects[key] = object{content, b.number, time.Now()}
	return b.objects[key]
}

// list returns the keys that begin with a prefix, up to a delimiter after it.
func (b *bucket) list(prefix, delimiter string) (keys, directories []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if directory, _, below := strings.Cut(rest, delimiter); delimiter != "" && below {
			directories = append(directories, prefix+directory+delimiter)
		} else {
			keys = append(keys, key)
		}
	}
	return keys, slices.Compact(directories)
}

// remove removes an object, and reports whether there was one.
func (b *bucket) remove(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.objects[key]
	delete(b.objects, key)
	return ok
}

// serveGoogle serves the part of Google Cloud Storage that Pulumi's driver uses. As there, an object that is written twice
// within a second is answered with 429, which told is not told of.
func serveGoogle(t *testing.T, told func(key string)) (backend string, env []string) {
	t.Helper()
	b := newBucket(told)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		switch {
		case strings.HasPrefix(path, "/upload/storage/v1/b/states/o"):
			b.uploadGoogle(w, r)
		case strings.HasPrefix(path, "/storage/v1/b/states/o/"):
			b.objectGoogle(w, r, strings.TrimPrefix(path, "/storage/v1/b/states/o/"))
		case path == "/storage/v1/b/states/o":
			keys, directories := b.list(r.URL.Query().Get("prefix"), r.URL.Query().Get("delimiter"))
			items := []any{}
			for _, key := range keys {
				if o, ok := b.get(key); ok {
					items = append(items, google(key, o))
				}
			}
			answer(w, http.StatusOK, map[string]any{"kind": "storage#objects", "items": items, "prefixes": directories})
		case strings.HasPrefix(path, "/states/"):
			key, _ := url.PathUnescape(strings.TrimPrefix(path, "/states/"))
			if o, ok := b.get(key); ok {
				w.Header().Set("X-Goog-Generation", strconv.FormatInt(o.number, 10))
				http.ServeContent(w, r, "", o.at, bytes.NewReader(o.content))
			} else {
				http.NotFound(w, r)
			}
		default:
			t.Errorf("Google is asked for %s %s", r.Method, r.URL)
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return "gs://states/dir", []string{
		"STORAGE_EMULATOR_HOST=" + strings.TrimPrefix(server.URL, "http://"), "GOOGLE_OAUTH_ACCESS_TOKEN=x",
	}
}

func answer(w http.ResponseWriter, code int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(what)
}

func refuse(w http.ResponseWriter, code int, text string) {
	answer(w, code, map[string]any{"error": map[string]any{"code": code, "message": text}})
}

// google returns an object as Google describes it.
func google(key string, o object) map[string]any {
	sum := md5.Sum(o.content)
	crc := crc32.Checksum(o.content, crc32.MakeTable(crc32.Castagnoli))
	return map[string]any{
		"kind": "storage#object", "bucket": "states", "name": key, "generation": strconv.FormatInt(o.number, 10), "metageneration": "1",
		"size": strconv.Itoa(len(o.content)), "updated": o.at.UTC().Format(time.RFC3339Nano), "timeCreated": o.at.UTC().Format(time.RFC3339Nano),
		"md5Hash": base64.StdEncoding.EncodeToString(sum[:]), "contentType": "application/json",
		"crc32c": base64.StdEncoding.EncodeToString([]byte{byte(crc >> 24), byte(crc >> 16), byte(crc >> 8), byte(crc)}),
	}
}

func (b *bucket) uploadGoogle(w http.ResponseWriter, r *http.Request) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.URL.Query().Get("uploadType") != "multipart" {
		refuse(w, http.StatusBadRequest, "only uploads at once are served")
		return
	}
	parts := multipart.NewReader(r.Body, params["boundary"])
	var described struct{ Name string }
	for i := range 2 {
		part, err := parts.NextPart()
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		content, err := io.ReadAll(part)
		if err == nil && i == 0 {
			err = json.Unmarshal(content, &described)
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		if i == 1 {
			b.putGoogle(w, described.Name, content)
		}
	}
}

func (b *bucket) putGoogle(w http.ResponseWriter, key string, content []byte) {
	if o, ok := b.get(key); ok && time.Since(o.at) < time.Second {
		refuse(w, http.StatusTooManyRequests, "the object "+key+" exceeded the rate limit for object mutation operations")
		return
	}
	answer(w, http.StatusOK, google(key, b.put(key, content)))
}

func (b *bucket) objectGoogle(w http.ResponseWriter, r *http.Request, path string) {
	from, to, isCopy := strings.Cut(path, "/rewriteTo/b/states/o/")
	key, _ := url.PathUnescape(from)
	target, _ := url.PathUnescape(to)
	o, ok := b.get(key)
	switch {
	case !ok:
		refuse(w, http.StatusNotFound, "no such object: "+key)
	case isCopy:
		answer(w, http.StatusOK, map[string]any{"kind": "storage#rewriteResponse", "done": true, "resource": google(target, b.put(target, o.content))})
	case r.Method == http.MethodDelete:
		b.remove(key)
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Query().Get("alt") == "media":
		_, _ = w.Write(o.content)
	default:
		answer(w, http.StatusOK, google(key, o))
	}
}

// serveAzure serves the part of Azure's storage of blobs that Pulumi's driver uses.
func serveAzure(t *testing.T, told func(key string)) (backend string, env []string) {
	t.Helper()
	b := newBucket(told)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("x-ms-version", r.Header.Get("x-ms-version"))
		w.Header().Set("x-ms-request-id", "x")
		key, ok := strings.CutPrefix(r.URL.Path, "/account/states/")
		query := r.URL.Query()
		switch {
		case query.Get("comp") == "list":
			b.listAzure(w, query)
		case strings.TrimSuffix(r.URL.Path, "/") == "/account/states": // its properties
		case !ok:
			t.Errorf("Azure is asked for %s %s", r.Method, r.URL)
			http.NotFound(w, r)
		case r.Method == http.MethodPut:
			b.putAzure(w, r, key)
		case r.Method == http.MethodDelete:
			if b.remove(key) {
				w.WriteHeader(http.StatusAccepted)
			} else {
				notInAzure(w)
			}
		default:
			o, ok := b.get(key)
			if !ok {
				notInAzure(w)
				return
			}
			if bytesWanted := r.Header.Get("x-ms-range"); bytesWanted != "" {
				r.Header.Set("Range", bytesWanted)
			}
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, o.number))
			w.Header().Set("x-ms-blob-type", "BlockBlob")
			w.Header().Set("x-ms-creation-time", o.at.UTC().Format(http.TimeFormat))
			http.ServeContent(w, r, "", o.at, bytes.NewReader(o.content))
		}
	}))
	t.Cleanup(server.Close)
	return "azblob://states/dir?protocol=http&storage_account=account&domain=" + strings.TrimPrefix(server.URL, "http://"),
		[]string{"AZURE_STORAGE_ACCOUNT=account", "AZURE_STORAGE_KEY=" + base64.StdEncoding.EncodeToString([]byte("key"))}
}

func notInAzure(w http.ResponseWriter) {
	w.Header().Set("x-ms-error-code", "BlobNotFound")
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprint(w, "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>BlobNotFound</Code><Message>no such blob</Message></Error>")
}

func (b *bucket) putAzure(w http.ResponseWriter, r *http.Request, key string) {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	query := r.URL.Query()
	switch source := r.Header.Get("x-ms-copy-source"); {
	case source != "":
		address, err := url.Parse(source)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		o, ok := b.get(strings.TrimPrefix(address.Path, "/account/states/"))
		if !ok {
			notInAzure(w)
			return
		}
		b.put(key, o.content)
		w.Header().Set("x-ms-copy-id", "x")
		w.Header().Set("x-ms-copy-status", "success")
		w.WriteHeader(http.StatusAccepted)
		return
	case query.Get("comp") == "block":
		b.mu.Lock()
		b.parts[key+" "+query.Get("blockid")] = content
		b.mu.Unlock()
	case query.Get("comp") == "blocklist":
		var list struct{ Latest []string }
		_ = xml.Unmarshal(content, &list)
		var whole []byte
		b.mu.Lock()
		for _, id := range list.Latest {
			whole = append(whole, b.parts[key+" "+id]...)
		}
		b.mu.Unlock()
		b.put(key, whole)
	default:
		b.put(key, content)
	}
	w.Header().Set("ETag", `"1"`)
	w.WriteHeader(http.StatusCreated)
}

func (b *bucket) listAzure(w http.ResponseWriter, query url.Values) {
	keys, directories := b.list(query.Get("prefix"), query.Get("delimiter"))
	var text bytes.Buffer
	escaped := func(s string) string {
		var e bytes.Buffer
		_ = xml.EscapeText(&e, []byte(s))
		return e.String()
	}
	fmt.Fprint(&text, `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ContainerName="states"><Blobs>`)
	for _, key := range keys {
		if o, ok := b.get(key); ok {
			fmt.Fprintf(&text, `<Blob><Name>%s</Name><Properties><Last-Modified>%s</Last-Modified><Etag>%d</Etag><Content-Length>%d</Content-Length>`+
				`<Content-Type>application/json</Content-Type><BlobType>BlockBlob</BlobType></Properties></Blob>`,
				escaped(key), o.at.UTC().Format(http.TimeFormat), o.number, len(o.content))
		}
	}
	for _, directory := range directories {
		fmt.Fprintf(&text, `<BlobPrefix><Name>%s</Name></BlobPrefix>`, escaped(directory))
	}
	fmt.Fprint(&text, `</Blobs><NextMarker/></EnumerationResults>`)
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write(text.Bytes())
}
