package e2e

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lathe/internal/fakeapi"
)

// sdkPackages are what the scenarios import: the published SDK and what it needs beside it.
var sdkPackages = []string{"@anthropic-ai/claude-agent-sdk@0.3.332", "zod@4"}

// sdkControl makes the place of each scenario: a working directory, a home, and a script of its own on one fake API.
type sdkControl struct {
	t    *testing.T
	api  *fakeapi.Server
	root string
	mu   sync.Mutex
	n    int
}

func (c *sdkControl) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Name   string          `json:"name"`
		Script json.RawMessage `json:"script"`
	}
	made, err := map[string]any(nil), json.NewDecoder(r.Body).Decode(&in)
	if err == nil {
		made, err = c.place(in.Name, in.Script)
	}
	if err != nil {
		made = map[string]any{"error": err.Error()}
	}
	_ = json.NewEncoder(w).Encode(made)
}

func (c *sdkControl) place(name string, raw json.RawMessage) (map[string]any, error) {
	c.mu.Lock()
	c.n++
	key := "s" + strconv.Itoa(c.n)
	c.mu.Unlock()
	dir, home := filepath.Join(c.root, key, "work"), filepath.Join(c.root, key, "home")
	for _, d := range []string{dir, home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	script := &fakeapi.Script{}
	var err error
	if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		err = json.Unmarshal(raw, &script.Turns)
	} else if len(raw) > 0 {
		err = json.Unmarshal(raw, script)
	}
	if err != nil {
		return nil, err
	}
	script.Vars = map[string]string{"CWD": dir, "NAME": name}
	if err := c.api.AddScript(key, script); err != nil {
		return nil, err
	}
	return map[string]any{"dir": dir, "home": home, "url": c.api.URLFor(key), "key": key, "api": c.api.URL()}, nil
}

// The published SDK drives the program through every scenario of the tables in e2e/sdk. LATHE_SDK_ONLY names some of them.
func TestPublishedSDK(t *testing.T) {
	modules := npmInstall(t, sdkPackages...)
	driveSDK(t, "node", filepath.Join("sdk", "run.mjs"), modules)
}

// The Python SDK does, where it is installed; LATHE_PYTHON_SDK may name a folder that it is imported from.
func TestPythonSDK(t *testing.T) {
	needs(t, "python3")
	if dir := os.Getenv("LATHE_PYTHON_SDK"); dir != "" {
		t.Setenv("PYTHONPATH", dir)
	}
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	if out, err := exec.Command("python3", "-c", "import claude_agent_sdk").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: python3 cannot import claude_agent_sdk (pip install claude-agent-sdk, or LATHE_PYTHON_SDK=folder): %v\n%s", err, out)
	}
	driveSDK(t, "python3", filepath.Join("sdk", "run.py"))
}

// driveSDK runs a driver: it is given the program, the address where it asks for a place for each scenario, how many run
// at once, and names; each line that it writes tells how one scenario ended.
func driveSDK(t *testing.T, driver string, args ...string) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	api, err := fakeapi.New(fakeapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Start(); err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	control := httptest.NewServer(&sdkControl{t: t, api: api, root: root})
	defer control.Close()
	bin := os.Getenv("LATHE_E2E_BINARY")
	if bin == "" {
		bin = filepath.Join(root, "lathe")
		if out, err := exec.Command("go", "build", "-o", bin, "lathe/cmd/lathe").CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
	}
	args = append(append(args, bin, control.URL, "4"), strings.Fields(os.Getenv("LATHE_SDK_ONLY"))...)
	cmd := exec.Command(driver, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "CLAUDE_CONFIG_DIR="+filepath.Join(root, "config"))
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		var r struct {
			Name, Error, Key string
			OK, Illegal      bool
			MS               int
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Errorf("the driver said: %s", lines.Text())
			continue
		}
		n++
		t.Run(r.Name, func(t *testing.T) {
			if !r.OK {
				t.Errorf("after %d ms: %s", r.MS, r.Error)
			}
			for _, v := range api.Violations() {
				if v.Key == r.Key && !r.Illegal {
					t.Errorf("a request broke the rule %s: %v", v.Rule, v)
				}
			}
		})
	}
	if err := cmd.Wait(); err != nil || n == 0 {
		t.Fatalf("the driver ended after %d scenarios: %v\n%s", n, err, errs.String())
	}
	t.Logf("%d scenarios", n)
}
