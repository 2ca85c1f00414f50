// Package static serves the storefront's assets from a directory.
package static

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

type asset struct {
	tag  string
	size int64
}

// Files serves a directory. Names with a hash in them never change and may be kept for
// ever; everything else is asked for again.
type Files struct {
	dir string

	mu   sync.RWMutex
	tags map[string]asset
}

func New(dir string) *Files {
	return &Files{dir: dir, tags: map[string]asset{}}
}

func (f *Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/static/")
	file, err := os.Open(f.dir + "/" + name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	info, err := file.Stat()
	if err != nil || info.IsDir() {
		http.NotFound(w, r)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", contentType(name))
	w.Header().Set("Cache-Control", cacheControl(name))
	if tag, err := f.tagOf(name, file, info.Size()); err == nil {
		w.Header().Set("ETag", tag)
	}
	http.ServeContent(w, r, name, info.ModTime(), file)
}

func contentType(name string) string {
	if t := mime.TypeByExtension(filepath.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}

// cacheControl looks for the hash that the bundler puts into names: main.3f2a91bc.js.
func cacheControl(name string) string {
	parts := strings.Split(filepath.Base(name), ".")
	if len(parts) >= 3 && len(parts[len(parts)-2]) == 8 {
		if _, err := hex.DecodeString(parts[len(parts)-2]); err == nil {
			return "public, max-age=31536000, immutable"
		}
	}
	return "no-cache"
}

func (f *Files) tagOf(name string, file *os.File, size int64) (string, error) {
	f.mu.RLock()
	a, found := f.tags[name]
	f.mu.RUnlock()
	if found && a.size == size {
		return a.tag, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	tag := `"` + hex.EncodeToString(h.Sum(nil)[:10]) + `"`
	f.mu.Lock()
	f.tags[name] = asset{tag, size}
	f.mu.Unlock()
	return tag, nil
}
