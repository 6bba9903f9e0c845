package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// The examples of docs/sdk.md run as they stand, from an empty directory.
func TestDocumentedHosts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "docs", "sdk.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)`(\\w+\\.mjs)`[^`]*(?:`[^`\n]*`[^`]*)?```js\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks[m[1]] = m[2]
	}
	shell := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(string(text))
	if len(blocks) != 2 || shell == nil {
		t.Fatalf("docs/sdk.md has the examples %v", blocks)
	}
	t.Run("shell", func(t *testing.T) {
		r := newRig(t, fakeapi.Sequence(fakeapi.Text("Hello.")))
		cmd := exec.Command("sh", "-c", strings.Replace(shell[1], "lathe ", binary(t)+" ", 1))
		cmd.Dir, cmd.Env = r.dir, r.command().Env
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"result":"Hello."`) {
			t.Errorf("%v\n%s", err, out)
		}
		r.legal()
	})
	modules := npmInstall(t, sdkPackages...)
	lathe := filepath.Join(t.TempDir(), "lathe")
	if out, err := exec.Command("go", "build", "-o", lathe, "lathe/cmd/lathe").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for name, tt := range map[string]struct {
		script *fakeapi.Script
		want   []string
	}{
		"ask.mjs": {fakeapi.Sequence(answer(fakeapi.Call("Glob", map[string]any{"pattern": "*"})), fakeapi.Text("None.")), []string{"None."}},
		"host.mjs": {fakeapi.Sequence(
			answer(fakeapi.Call("mcp__sky__weather", map[string]any{"city": "Bergen"})),
			answer(fakeapi.Call("Write", map[string]any{"file_path": "weather.txt", "content": "rain"})), fakeapi.Text("It rains."),
		), []string{"wrote ", "weather.txt", "It rains."}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tt.script)
			file := filepath.Join(modules, name)
			if err := os.WriteFile(file, []byte(blocks[name]), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("node", file)
			cmd.Dir, cmd.Env = r.dir, append(r.command().Env, "LATHE="+lathe)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range tt.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("the output has no %q:\n%s", want, out)
				}
			}
			r.legal()
		})
	}
}
