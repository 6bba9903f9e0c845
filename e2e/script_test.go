package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"lathe/internal/cli"
	"lathe/internal/fakeapi"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"lathe": func() {
			os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
		"mcp-server": mcpServer,
	})
}

// Commands of the scripts, beside those of testscript:
//
//	fake FILE       start a fake API with the script in FILE; lathe uses it from then on
//	requests N      the fake API was called N times
//	sent N TEXT     the body of request N (from 1) holds TEXT; ! sent: it does not
//	legal           no request broke a rule of the API
//	json FILE PATH VALUE   the JSON document (or last line) in FILE has VALUE at the dotted PATH
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup:               setup,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fake": fake, "requests": requests, "sent": sent, "legal": legal, "json": jsonAt,
		},
	})
}

// condition knows "sandbox": bubblewrap works on this machine.
func condition(name string) (bool, error) {
	if name != "sandbox" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return exec.Command("bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc", "true").Run() == nil, nil
}

// setup gives each script a home of its own and no credentials of the machine's.
func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "ANTHROPIC_") || strings.HasPrefix(name, "CLAUDE") || strings.HasPrefix(name, "LATHE_") {
			env.Setenv(name, "")
		}
	}
	env.Setenv("HOME", home)
	env.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "gitconfig"))
	env.Setenv("ANTHROPIC_API_KEY", "test-key")
	env.Setenv("LATHE_RETRY_BASE_DELAY_MS", "1")
	env.Setenv("IS_SANDBOX", "1")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // under -race every process would sleep for a second at its end
	env.Setenv("GOCACHE", filepath.Join(env.WorkDir, "gocache"))
	return os.MkdirAll(home, 0o755)
}

// servers holds the fake API of each script, by its work directory.
var servers sync.Map

func fake(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fake FILE")
	}
	script, err := fakeapi.ParseScript([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	s, err := fakeapi.New(fakeapi.Options{Script: script, Vars: map[string]string{"CWD": ts.Getenv("WORK")}})
	ts.Check(err)
	url, err := s.Start()
	ts.Check(err)
	ts.Defer(func() { s.Close() })
	servers.Store(ts.Getenv("WORK"), s)
	ts.Defer(func() { servers.Delete(ts.Getenv("WORK")) })
	ts.Setenv("ANTHROPIC_BASE_URL", url)
}

func server(ts *testscript.TestScript) *fakeapi.Server {
	s, ok := servers.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("no fake API was started")
	}
	return s.(*fakeapi.Server)
}

func requests(ts *testscript.TestScript, neg bool, args []string) {
	if got := fmt.Sprint(len(server(ts).Requests())); neg || len(args) != 1 || got != args[0] {
		ts.Fatalf("%s requests, want %v", got, args)
	}
}

func sent(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] sent N TEXT")
	}
	var n int
	_, err := fmt.Sscan(args[0], &n)
	ts.Check(err)
	all := server(ts).Requests()
	if n < 1 || n > len(all) {
		ts.Fatalf("there are %d requests", len(all))
	}
	body := string(all[n-1].Body)
	if strings.Contains(body, args[1]) == neg {
		ts.Fatalf("request %d: contains %q: %v\n%s", n, args[1], !neg, body)
	}
}

func legal(ts *testscript.TestScript, _ bool, _ []string) {
	for _, v := range server(ts).Violations() {
		ts.Fatalf("the API refused a request: %v", v)
	}
}

func jsonAt(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	var v any
	ts.Check(json.Unmarshal([]byte(lines[len(lines)-1]), &v))
	for _, key := range strings.Split(args[1], ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			var i int
			_, err := fmt.Sscan(key, &i)
			ts.Check(err)
			if i >= len(x) {
				ts.Fatalf("%s: no element %d", args[1], i)
			}
			v = x[i]
		default:
			v = nil
		}
	}
	got, _ := json.Marshal(v)
	text := strings.Trim(string(got), `"`)
	if (text == args[2]) == neg {
		ts.Fatalf("%s = %s, want %s", args[1], text, args[2])
	}
}
