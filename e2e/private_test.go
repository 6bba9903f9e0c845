package e2e

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A rule that forbids reading a file holds for images too, mentioned or named by the flag.
func TestReadRulesHoldForImages(t *testing.T) {
	t.Parallel()
	r := newRig(t, hello())
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	r.file("secret/x.png", b.String())
	r.file("open/x.png", b.String())
	r.file(".claude/settings.json", `{"permissions":{"deny":["Read(./secret/**)"]}}`)

	o := r.must("-p", "see @secret/x.png and @open/x.png")
	o.ends(t, 0, "forbids reading")
	if n := strings.Count(string(r.last().Body), `"type":"image"`); n != 1 {
		t.Errorf("%d images were sent, want the open one alone", n)
	}
	r.run("-p", "see", "--image", "secret/x.png").ends(t, 1, "forbids reading")
}

// A run that keeps nothing keeps nothing of a resumed session either, however that was said.
func TestNothingIsKeptOfAResume(t *testing.T) {
	t.Parallel()
	r := newRig(t, hello())
	r.must("-p", "first")
	files, err := filepath.Glob(filepath.Join(r.home, ".lathe/projects/*/*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("transcripts: %v, %v", files, err)
	}
	before, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range [][]string{nil, {"CLAUDE_CODE_SKIP_PROMPT_HISTORY=1"}} {
		args := []string{"-p", "second", "-c"}
		if env == nil {
			args = append(args, "--no-session-persistence")
		}
		r.env = env
		r.must(args...)
		if !strings.Contains(string(r.last().Body), "first") {
			t.Errorf("%v: the session was not resumed", args)
		}
		if after, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%v %v: the transcript was written to (%v)", args, env, err)
		}
	}
}
