package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MaxSize is the largest file, in bytes, that the tools load: the whole content is held in memory.
const MaxSize = 50 << 20

// File is a regular file as it was at one moment.
type File struct {
	Path string // links resolved
	Data []byte
	Info fs.FileInfo
}

// Load reads a regular file of at most limit bytes. path is absolute and has its links resolved; a link that was put
// on it since is an error that wraps ErrMoved. An absent file is an error that wraps fs.ErrNotExist.
func Load(path string, limit int64) (*File, error) {
	p, err := At(path)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Load(limit)
}

// Load reads the file, which must be a regular one of at most limit bytes. An absent file is an error that wraps
// fs.ErrNotExist.
func (p *Place) Load(limit int64) (*File, error) {
	f, info, err := p.open(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, tooLarge(p.path, info.Size(), limit)
	}
	data, err := readAll(f, info.Size(), limit)
	if err != nil {
		return nil, explain(p.path, err)
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(p.path, int64(len(data)), limit)
	}
	return &File{Path: p.path, Data: data, Info: info}, nil
}

// readAll reads at most one byte more than limit: files below /proc say that their size is 0, and a log may grow.
func readAll(r io.Reader, size, limit int64) ([]byte, error) {
	buf := make([]byte, 0, size+512)
	lim := io.LimitReader(r, limit+1)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := lim.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func regular(path string, info fs.FileInfo) error {
	m := info.Mode()
	what := "a special file"
	switch {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return fmt.Errorf("%s is a directory, not a file", path)
	case m&fs.ModeSymlink != 0:
		return fmt.Errorf("%s has become a link, so it was left alone; call again: %w", path, ErrMoved)
	case m&fs.ModeNamedPipe != 0:
		what = "a named pipe (FIFO)"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	case m&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("%s is %s; only regular files can be read or changed", path, what)
}

func tooLarge(path string, size, limit int64) error {
	return fmt.Errorf("%s is too large: %s, the limit is %s; look at parts of it with grep, head or sed", path, Size(size), Size(limit))
}

// Size writes a number of bytes for people.
func Size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n == 1:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// explain says in words what the system refused.
func explain(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &missing{path + " does not exist" + near(path)}
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w", path, fs.ErrPermission)
	}
	return fmt.Errorf("open %s: %w", path, err)
}

// missing is fs.ErrNotExist in words that do not say it twice.
type missing struct{ text string }

func (e *missing) Error() string { return e.text }
func (e *missing) Unwrap() error { return fs.ErrNotExist }

// near names what a wrong path may have meant.
func near(path string) string {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return " (nor does its directory)"
	}
	stem := func(s string) string { return strings.ToLower(strings.TrimSuffix(s, filepath.Ext(s))) }
	var like []string
	for _, e := range entries {
		if stem(e.Name()) == stem(base) && len(like) < 3 {
			like = append(like, e.Name())
		}
	}
	if len(like) == 0 {
		return ""
	}
	return " (beside it: " + strings.Join(like, ", ") + ")"
}

// Resolve follows all links of an absolute path. Of a path that does not exist, the part that does is resolved;
// a link that points nowhere is resolved to where it points, so that a write makes the target.
func Resolve(path string) (string, error) {
	if path == "" {
		return "", errors.New("the path is empty")
	}
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("the path %q has a NUL byte in it", path)
	}
	return resolve(filepath.Clean(path), 0)
}

func resolve(path string, depth int) (string, error) {
	if depth > 40 {
		return "", fmt.Errorf("%s: too many links, one after the other", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("resolve %s: %w", path, err)
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path, nil
	}
	if target, err := os.Readlink(path); err == nil {
		if !filepath.IsAbs(target) {
			target = filepath.Join(parent, target)
		}
		return resolve(target, depth+1)
	}
	if parent, err = resolve(parent, depth+1); err != nil {
		return "", err
	}
	return filepath.Join(parent, filepath.Base(path)), nil
}
