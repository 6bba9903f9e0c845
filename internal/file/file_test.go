package file

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDecode(t *testing.T) {
	tests := []struct {
		name, data string
		want       Text
		err        error
	}{
		{"empty", "", Text{}, nil},
		{"plain", "a\r\nb", Text{"a\r\nb", UTF8}, nil},
		{"bom", "\xef\xbb\xbfé\n", Text{"é\n", UTF8BOM}, nil},
		{"utf-16le", "\xff\xfea\x00\r\x00\n\x00=\xd8\x00\xde", Text{"a\r\n😀", UTF16LE}, nil},
		{"utf-16be", "\xfe\xff\x00a", Text{"a", UTF16BE}, nil},
		{"utf-16 with half a pair", "\xff\xfe=\xd8a\x00", Text{}, ErrBinary},
		{"utf-16 cut", "\xff\xfea\x00b", Text{}, ErrBinary},
		{"utf-32", "\xff\xfe\x00\x00a\x00\x00\x00", Text{}, ErrBinary},
		{"latin-1", "caf\xe9\n", Text{"caf\ufffd\n", Other}, nil},
		{"NUL late", strings.Repeat("a", 20000) + "\x00", Text{}, ErrBinary},
		{"control characters", "\x01\x02\x03\x04abc", Text{}, ErrBinary},
		{"terminal colours", "\x1b[31mred\x1b[0m\n", Text{"\x1b[31mred\x1b[0m\n", UTF8}, nil},
	}
	for _, tc := range tests {
		got, err := Decode([]byte(tc.data))
		if d := cmp.Diff(tc.want, got); d != "" || !errors.Is(err, tc.err) {
			t.Errorf("%s: %v\n%s", tc.name, err, d)
		}
	}
}

// A letter of several bytes may stand anywhere, also across the end of what is sampled.
func TestSampleEdge(t *testing.T) {
	for _, around := range []int{512, 1024, 4096, 8192} {
		for at := around - 4; at <= around+4; at++ {
			for _, letter := range []string{"é", "€", "😀"} {
				text := strings.Repeat("x", at) + letter + strings.Repeat("y", 9000)
				if got, err := Decode([]byte(text)); err != nil || got.Enc != UTF8 || got.Body != text {
					t.Fatalf("%q at %d: %v %v", letter, at, got.Enc, err)
				}
			}
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.StringOfN(rapid.RuneFrom([]rune("ab \t\n\r\u00e9\u20ac\U0001f600\u00a0")), 0, 200, -1).Draw(rt, "body")
		enc := Encoding(rapid.IntRange(0, 3).Draw(rt, "enc"))
		data, err := enc.Encode(body)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := Decode(data)
		if want := (Text{body, enc}); err != nil || got != want {
			rt.Fatalf("%v: got %v, want %v", err, got, want)
		}
	})
	if _, err := Other.Encode("a"); !errors.Is(err, ErrEncoding) {
		t.Error(err)
	}
}

// FuzzDecode: whatever decodes as a known encoding gives the same bytes again.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "\xef\xbb\xbf", "\xff\xfea\x00", "\xfe\xff", "\xef\xbb\xbf\xff", "caf\xe9", "\xff\xfe=\xd8\x00\xde"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := Decode(data)
		if err != nil || text.Enc == Other {
			return
		}
		if back, err := text.Enc.Encode(text.Body); err != nil || !bytes.Equal(back, data) {
			t.Fatalf("%q became %q (%v, %v)", data, back, text.Enc, err)
		}
	})
}

func TestLossy(t *testing.T) {
	tests := []struct {
		raw, decoded string
		want         bool
	}{
		{`{"a":"b"}`, "b", false},
		{`{"a":"\ud83d"}`, "\ufffd", true},
		{`{"a":"\uFFFD"}`, "\ufffd", false},
		{"{\"a\":\"\ufffd\"}", "\ufffd", false},
	}
	for _, tc := range tests {
		if got := Lossy([]byte(tc.raw), tc.decoded); got != tc.want {
			t.Errorf("%s: %v", tc.raw, got)
		}
	}
}

func tempDir(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t *testing.T, path, data string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestLoad(t *testing.T) {
	dir := tempDir(t)
	put(t, filepath.Join(dir, "Readme.md"), "hello", 0o644)
	got, err := Load(filepath.Join(dir, "Readme.md"), 5)
	if err != nil || string(got.Data) != "hello" {
		t.Fatal(got, err)
	}
	for path, want := range map[string]string{
		dir:                               "is a directory",
		filepath.Join(dir, "Readme.txt"):  "beside it: Readme.md",
		filepath.Join(dir, "no", "where"): "nor does its directory",
	} {
		if _, err := Load(path, 5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Load(filepath.Join(dir, "Readme.md"), 4); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Error(err)
	}
}

func TestResolve(t *testing.T) {
	dir := tempDir(t)
	put(t, filepath.Join(dir, "real"), "x", 0o644)
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skipf("SKIPPED: %v", err)
		}
	}
	link("real", "link")
	link("gone/file", "dangling")
	link("loop", "loop")
	for in, want := range map[string]string{"real": "real", "link": "real", "dangling": "gone/file", "no/such/file": "no/such/file", "real/../link": "real"} {
		got, err := Resolve(filepath.Join(dir, in))
		if err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%s: %s %v", in, got, err)
		}
	}
	for _, bad := range []string{"", "/a\x00b", filepath.Join(dir, "loop")} {
		if _, err := Resolve(bad); err == nil {
			t.Errorf("%q resolved", bad)
		}
	}
}

func TestReplace(t *testing.T) {
	dir := tempDir(t)
	path := filepath.Join(dir, "f")
	put(t, path, "old", 0o751)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("new"), info, nil); err != nil {
		t.Fatal(err)
	}
	now, err := os.Stat(path)
	data, _ := os.ReadFile(path)
	if err != nil || now.Mode() != info.Mode() || string(data) != "new" {
		t.Fatalf("%v %v %q", err, now.Mode(), data)
	}
	if err := Replace(path, []byte("x"), info, nil); !errors.Is(err, ErrMoved) {
		t.Errorf("a file that is not the one that was looked at: %v", err)
	}
	info = now
	stop := errors.New("stop")
	if err := Replace(path, []byte("x"), info, func() error { return stop }); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(dir, "a/b/c"), []byte("x"), nil, func() error { return stop }); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(dir, "f", "g"), []byte("x"), nil, nil); err == nil {
		t.Fatal("a file took the place of a directory")
	}
	if d := cmp.Diff([]string{"f"}, names(t, dir)); d != "" {
		t.Error(d)
	}
	if data, _ = os.ReadFile(path); string(data) != "new" {
		t.Errorf("content %q", data)
	}
	made := filepath.Join(dir, "p/q/r")
	if err := Replace(made, []byte("x"), nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := Replace(made, []byte("y"), nil, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a new file took the place of another: %v", err)
	}
	if err := os.Chmod(made, 0o444); err != nil {
		t.Fatal(err)
	}
	info, _ = os.Stat(made)
	if err := Replace(made, []byte("y"), info, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("read-only: %v", err)
	}
}

func inPlace(t *testing.T, path, data string, check func() error) error {
	p, err := At(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return p.inPlace([]byte(data), was, check)
}

func TestInPlace(t *testing.T) {
	t.Setenv("TMPDIR", tempDir(t))
	path := filepath.Join(tempDir(t), "f")
	for _, tc := range []struct{ old, new string }{{"short", "a longer text"}, {"a longer text", "short"}, {"", "x"}, {"x", ""}} {
		put(t, path, tc.old, 0o600)
		if err := inPlace(t, path, tc.new, nil); err != nil {
			t.Fatal(err)
		}
		if data, _ := os.ReadFile(path); string(data) != tc.new {
			t.Errorf("%q, want %q", data, tc.new)
		}
	}
	stop := errors.New("stop")
	if err := inPlace(t, path, "y", func() error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	if left := names(t, os.TempDir()); left != nil {
		t.Errorf("left over: %v", left)
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	unlock := Lock(context.Background(), path)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	Lock(ctx, path)() // somebody else's: the context ends the wait
	unlock()
	Lock(context.Background(), path)()
}

func TestLineEnds(t *testing.T) {
	for in, want := range map[string]string{"": "none", "a": "none", "a\n": "LF", "a\r\n": "CRLF", "a\r\nb\n": "mixed", "\r": "none"} {
		if got := LineEnds(in); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// What a person and the model read of a missing file says it once, and names what is near.
func TestMissingFile(t *testing.T) {
	dir := tempDir(t)
	put(t, filepath.Join(dir, "notes.md"), "x", 0o644)
	for path, want := range map[string]string{
		filepath.Join(dir, "gone.txt"):      filepath.Join(dir, "gone.txt") + " does not exist",
		filepath.Join(dir, "Notes.txt"):     filepath.Join(dir, "Notes.txt") + " does not exist (beside it: notes.md)",
		filepath.Join(dir, "no", "way.txt"): filepath.Join(dir, "no", "way.txt") + " does not exist (nor does its directory)",
	} {
		_, err := Load(path, 100)
		if err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Load(%s): %v, want %s", path, err, want)
		}
	}
}
