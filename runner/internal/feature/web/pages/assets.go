package pages

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"strings"

	"mara/runner/internal/core/graph"
	"mara/runner/internal/core/report"
)

//go:embed assets
var files embed.FS

// assets are the style sheet and the scripts. Their addresses have their digests, so that browsers may keep them.
type assets map[string]asset

type asset struct {
	content []byte
	kind    string
	hash    string
}

func loadAssets() assets {
	all := assets{}
	for name, kind := range map[string]string{
		"style.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8",
		"idiomorph.min.js": "text/javascript; charset=utf-8",
	} {
		content, err := files.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		if name == "style.css" {
			content = append([]byte(graph.Style+report.BoardStyle()), content...)
		}
		sum := sha256.Sum256(content)
		all[name] = asset{content, kind, hex.EncodeToString(sum[:8])}
	}
	return all
}

func (a assets) address(name string) string { return "/a/" + a[name].hash + "/" + name }

// serve serves an asset by its digest.
func (a assets) serve(w http.ResponseWriter, r *http.Request) {
	asset, ok := a[r.PathValue("name")]
	if !ok || asset.hash != r.PathValue("hash") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", asset.kind)
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	if !strings.EqualFold(r.Method, http.MethodHead) {
		_, _ = w.Write(asset.content)
	}
}
