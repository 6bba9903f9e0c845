package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/fakeapi"
)

// step is one call of the model and what its result must hold.
type step struct {
	call fakeapi.Block
	want []string
	fail bool // the result must be an error
}

// job is a task of several steps in a published repository.
type job struct {
	name    string
	fetch   func(t testing.TB, dir string)
	prompt  string
	args    []string // of the command line, beside the prompt
	sent    []string // what the first request must hold
	steps   []step
	changes []string // by git, afterwards
	denied  []string // commands that the rules must refuse
	check   func(t *testing.T, r *rig)
}

// TestRepositories does tasks of many steps in published repositories of several languages, as they are: it
// searches, reads, edits, and runs the projects' own tests and checks.
func TestRepositories(t *testing.T) {
	t.Parallel()
	for _, j := range []job{uuidJob(), cobraJob(), sqliteJob(), lodashJob(), expressJob(), chalkJob(), rxjsJob(), gypJob()} {
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			j.run(t)
		})
	}
}

func (j job) run(t *testing.T) {
	script := &fakeapi.Script{}
	for _, s := range j.steps {
		script.Turns = append(script.Turns, fakeapi.Turn{Answer: answer(s.call)})
	}
	script.Turns = append(script.Turns, fakeapi.Turn{Answer: fakeapi.Text("Done: " + j.name)})
	r := newRig(t, script)
	j.fetch(t, r.dir)
	r.commitAll()
	r.env = append(r.env, goEnv(t)...)
	before := r.read(filepath.Join(r.dir, ".git", "HEAD"))
	o := r.must(append([]string{"-p", j.prompt, "--output-format", "json", "--permission-mode", "acceptEdits"}, j.args...)...)
	r.legal()
	calls := r.api.Calls("")
	if len(calls) != len(j.steps)+1 {
		t.Fatalf("%d calls, want %d", len(calls), len(j.steps)+1)
	}
	for _, want := range j.sent {
		if !bytes.Contains(calls[0].Body, []byte(quoted(want))) {
			t.Errorf("the first request does not hold %q", want)
		}
	}
	for i, s := range j.steps {
		s.check(t, i+1, calls[i+1])
	}
	if got := r.changes(); !cmp.Equal(got, j.changes) {
		t.Errorf("changed files:\n%s", cmp.Diff(j.changes, got))
	}
	if after := r.read(filepath.Join(r.dir, ".git", "HEAD")); after != before {
		t.Errorf("HEAD moved from %q to %q", before, after)
	}
	r.checkResult(resultOf(t, o.out), "Done: "+j.name, len(calls), j.denied...)
	j.check(t, r)
}

func (s step) check(t *testing.T, n int, next fakeapi.Request) {
	t.Helper()
	results := next.ToolResults()
	if len(results) != 1 {
		t.Fatalf("step %d: %d results", n, len(results))
	}
	got := results[0]
	if got.IsError != s.fail {
		t.Errorf("step %d (%s %s): error %v, want %v: %.1000s", n, s.call.Tool, s.call.Input, got.IsError, s.fail, got.Text)
	}
	for _, want := range s.want {
		if !strings.Contains(got.Text, want) {
			t.Errorf("step %d (%s %s): the result does not hold %q:\n%.2000s", n, s.call.Tool, s.call.Input, want, got.Text)
		}
	}
}

// checkResult compares a result with what the API counted, and the refused commands. The model is the default one.
func (r *rig) checkResult(res map[string]any, text string, calls int, denied ...string) {
	r.t.Helper()
	const input, output = 4, 20 // dollars a million tokens of the default model
	total := r.api.Totals("")
	refused := []any{}
	for _, d := range denied {
		refused = append(refused, d)
	}
	want := map[string]any{
		"subtype": "success", "is_error": false, "result": text, "num_turns": float64(calls),
		"permission_denials": refused,
		"usage": map[string]any{
			"input_tokens": float64(total.Usage.Input), "output_tokens": float64(total.Usage.Output),
			"cache_read_input_tokens":     float64(total.Usage.Read),
			"cache_creation_input_tokens": float64(total.Usage.Write5m + total.Usage.Write1h),
		},
	}
	got := map[string]any{}
	for k := range want {
		got[k] = res[k]
	}
	usage := map[string]any{}
	if u, ok := res["usage"].(map[string]any); ok {
		for k := range want["usage"].(map[string]any) {
			usage[k] = u[k]
		}
	}
	got["usage"] = usage
	if list, ok := res["permission_denials"].([]any); ok {
		commands := []any{}
		for _, d := range list {
			input, _ := d.(map[string]any)["tool_input"].(map[string]any)
			commands = append(commands, input["command"])
		}
		got["permission_denials"] = commands
	}
	if d := cmp.Diff(want, got); d != "" {
		r.t.Errorf("result (-want +got):\n%s", d)
	}
	cost, _ := res["total_cost_usd"].(float64)
	if math.Abs(cost-total.Cost(input, output)) > 1e-9 {
		r.t.Errorf("cost %v, want %v", cost, total.Cost(input, output))
	}
}

// goEnv lets the go command of a session use what this machine has built and fetched already.
func goEnv(t testing.TB) []string {
	t.Helper()
	out, err := machine(t, t.TempDir(), "go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB")
	if err != nil {
		t.Skipf("SKIPPED: no go command: %v", err)
	}
	var vars map[string]string
	if err := json.Unmarshal(out, &vars); err != nil {
		t.Fatal(err)
	}
	env := []string{"GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local"}
	for k, v := range vars {
		env = append(env, k+"="+v)
	}
	return env
}

type fields map[string]any

func glob(pattern string, more ...fields) fakeapi.Block {
	return fakeapi.Call("Glob", merged(fields{"pattern": pattern}, more))
}

func grep(pattern string, more ...fields) fakeapi.Block {
	return fakeapi.Call("Grep", merged(fields{"pattern": pattern}, more))
}

func readPart(path string, offset, limit int) fakeapi.Block {
	return fakeapi.Call("Read", fields{"file_path": path, "offset": offset, "limit": limit})
}

func edit(path, from, to string, more ...fields) fakeapi.Block {
	return fakeapi.Call("Edit", merged(fields{"file_path": path, "old_string": from, "new_string": to}, more))
}

func write(path, content string) fakeapi.Block {
	return fakeapi.Call("Write", fields{"file_path": path, "content": content})
}

func merged(f fields, more []fields) fields {
	for _, m := range more {
		for k, v := range m {
			f[k] = v
		}
	}
	return f
}

// original returns a file as it was published.
func (r *rig) original(name string) string {
	r.t.Helper()
	out, err := machine(r.t, r.dir, "git", "show", "HEAD:"+name)
	if err != nil {
		r.t.Fatalf("git show %s: %v\n%s", name, err, out)
	}
	return string(out)
}

// replaced fails the test unless a file is the published one with these replacements (old, new, …), each of
// something that is there, and with the mode that it had.
func (r *rig) replaced(name string, pairs ...string) {
	r.t.Helper()
	want := r.original(name)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(want, pairs[i]) {
			r.t.Fatalf("%s: the published file has no %q", name, pairs[i])
		}
		want = strings.ReplaceAll(want, pairs[i], pairs[i+1])
	}
	path := filepath.Join(r.dir, name)
	if got := r.read(path); got != want {
		r.t.Errorf("%s is not what was asked for: %s", name, firstDifference(got, want))
	}
	out, err := machine(r.t, r.dir, "git", "diff", "--summary", "--", name)
	if err != nil || len(out) > 0 {
		r.t.Errorf("%s: mode changed: %s %v", name, out, err)
	}
}

func firstDifference(got, want string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	return fmt.Sprintf("%d and %d bytes, from byte %d on %q, want %q", len(got), len(want), i, got[i:min(len(got), i+80)], want[i:min(len(want), i+80)])
}

// uuidJob adds a method with a mistake, sees its test fail, and mends it.
func uuidJob() job {
	const urn = "func (uuid UUID) URN() string {\n\tvar buf [36 + 9]byte\n"
	const short = "// Short returns the first eight digits.\nfunc (uuid UUID) Short() string {\n\treturn uuid.String()[:%d]\n}\n\n"
	const test = "package uuid\n\nimport \"testing\"\n\nfunc TestShort(t *testing.T) {\n\tu := Must(Parse(\"f47ac10b-58cc-0372-8567-0e02b2c3d479\"))\n" +
		"\tif got := u.Short(); got != \"f47ac10b\" {\n\t\tt.Errorf(\"Short() = %q\", got)\n\t}\n}\n"
	return job{
		name: "uuid (Go)", fetch: goModule("github.com/google/uuid@v1.6.0"), prompt: "Give UUID a method Short, see @README.md#L1-5",
		args: []string{"--allowedTools", "Bash(go test *)", "Bash(gofmt -l *)"},
		sent: []string{"Give UUID a method Short", "# uuid"},
		steps: []step{
			{call: glob("**/*_test.go"), want: []string{"uuid_test.go", "json_test.go"}},
			{call: grep(`func \(uuid UUID\) \w+\(\) string`, fields{"output_mode": "content", "-n": true, "glob": "*.go"}), want: []string{"uuid.go:252:func (uuid UUID) URN() string {"}},
			{call: readPart("uuid.go", 240, 20), want: []string{"252\tfunc (uuid UUID) URN() string {", "253\t\tvar buf [36 + 9]byte"}},
			{call: edit("uuid.go", urn, fmt.Sprintf(short, 4)+urn), want: []string{"Short"}},
			{call: write("short_test.go", test)},
			{call: bash("go test -run TestShort . 2>&1"), want: []string{`Short() = "f47a"`, "FAIL"}, fail: true},
			{call: edit("uuid.go", "String()[:4]", "String()[:8]")},
			{call: bash("go test ./... 2>&1"), want: []string{"ok", "github.com/google/uuid"}},
			{call: bash("gofmt -l ."), want: nil},
		},
		changes: []string{"M uuid.go", "?? short_test.go"},
		check: func(_ *testing.T, r *rig) {
			r.replaced("uuid.go", "// URN returns the RFC 2141 URN form of uuid,\n// urn:uuid:xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx,  or \"\" if uuid is invalid.\n"+urn,
				"// URN returns the RFC 2141 URN form of uuid,\n// urn:uuid:xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx,  or \"\" if uuid is invalid.\n"+fmt.Sprintf(short, 8)+urn)
		},
	}
}

// cobraJob renames a variable everywhere in a file, sees the build, and takes several files into account.
func cobraJob() job {
	all := fields{"replace_all": true}
	return job{
		name: "cobra (Go)", fetch: goModule("github.com/spf13/cobra@v1.10.1"), prompt: "rename minUsagePadding to usagePadding",
		args: []string{"--allowedTools", "Bash(go vet *)", "--allowedTools", "Bash(go test *)"},
		steps: []step{
			{call: grep("minUsagePadding", fields{"output_mode": "count"}), want: []string{"command.go:3"}},
			{call: grep("minUsagePadding"), want: []string{"command.go"}},
			{call: edit("command.go", "minUsagePadding", "usagePadding"), want: []string{"read"}, fail: true},
			{call: readFile("command.go"), want: []string{"560\tvar minUsagePadding = 25"}},
			{call: edit("command.go", "minUsagePadding", "usagePadding"), want: []string{"3"}, fail: true},
			{call: edit("command.go", "minUsagePadding", "usagePadding", all)},
			{call: bash("go vet . && go test -run 'TestUsage|TestSuggestions' . 2>&1"), want: []string{"ok"}},
			{call: grep("minUsagePadding"), want: []string{"No matches found"}},
			{call: bash("git diff --stat"), want: []string{"command.go", "3 insertions(+), 3 deletions(-)"}},
		},
		changes: []string{"M command.go"},
		check:   func(_ *testing.T, r *rig) { r.replaced("command.go", "minUsagePadding", "usagePadding") },
	}
}

// sqliteJob works on a file of 9 MB and 260,000 lines.
func sqliteJob() job {
	const file, from, to = "sqlite3-binding.c", "const char *sqlite3_libversion(void){ return sqlite3_version; }", "const char *sqlite3_libversion(void){ return sqlite3_version; /* as built */ }"
	j := job{
		name: "go-sqlite3 (C)", fetch: goModule("github.com/mattn/go-sqlite3@v1.14.32"), prompt: "say what sqlite3_libversion returns",
		args: []string{"--allowedTools", "Bash(cc -fsyntax-only *)"},
		steps: []step{
			{call: grep(`sqlite3_libversion\(void\)\{`, fields{"output_mode": "content", "-n": true, "type": "c"}), want: []string{"sqlite3-binding.c:182740:SQLITE_API " + from}},
			{call: readFile(file), want: []string{"2000\t", "262904"}},
			{call: readPart(file, 182738, 4), want: []string{"182740\tSQLITE_API " + from, "182741\t"}},
			{call: edit(file, from, to), want: []string{"as built"}},
			{call: grep("as built", fields{"output_mode": "content", "-n": true, "-C": 1, "path": file}), want: []string{"182740", "return sqlite3_version; /* as built */"}},
			{call: bash("git diff --stat"), want: []string{"1 insertion(+), 1 deletion(-)"}},
		},
		changes: []string{"M sqlite3-binding.c"},
		check:   func(_ *testing.T, r *rig) { r.replaced(file, from, to) },
	}
	if _, err := exec.LookPath("cc"); err == nil {
		j.steps = append(j.steps, step{call: bash("cc -fsyntax-only -w sqlite3-binding.c && echo compiles"), want: []string{"compiles"}})
		j.args = append(j.args, "--allowedTools", "Bash(echo *)")
	}
	return j
}

// lodashJob edits one of a thousand files and one of half a megabyte.
func lodashJob() job {
	const from, to = "    function isNil(value) {\n      return value == null;\n    }\n", "    function isNil(value) {\n      return value === undefined || value === null;\n    }\n"
	return job{
		name: "lodash (JavaScript)", fetch: npmPackage("lodash@4.17.21"), prompt: "compare strictly in isNil",
		args: []string{"--allowedTools", "Bash(node -e *)"},
		steps: []step{
			{call: glob("*.js"), want: []string{"100"}},
			{call: grep("function isNil", fields{"output_mode": "files_with_matches"}), want: []string{"isNil.js", "lodash.js"}},
			{call: readFile("isNil.js"), want: []string{"22\t  return value == null;"}},
			{call: readPart("lodash.js", 12030, 20), want: []string{"12042\t      return value == null;"}},
			{call: edit("isNil.js", "value == null", "value === undefined || value === null")},
			{call: edit("lodash.js", "value == null", "value === undefined || value === null"), fail: true, want: []string{"replace_all"}},
			{call: edit("lodash.js", from, to)},
			{call: bash(`node -e 'const _ = require("./lodash"), one = require("./isNil"); console.log([null, undefined, 0, ""].map(v => [_.isNil(v), one(v)].join()).join(" "))'`), want: []string{"true,true true,true false,false false,false"}},
		},
		changes: []string{"M isNil.js", "M lodash.js"},
		check: func(_ *testing.T, r *rig) {
			r.replaced("isNil.js", "value == null", "value === undefined || value === null")
			r.replaced("lodash.js", from, to)
		},
	}
}

// expressJob keeps a to-do list, edits by names of parameters that models often get wrong, and checks syntax.
func expressJob() job {
	const from, to = "  this.statusCode = code;\n  return this;\n};\n", "  this.statusCode = code;\n  this.locals.status = code;\n  return this;\n};\n"
	todo := func(state string) fakeapi.Block {
		return fakeapi.Call("TodoWrite", fields{"todos": []fields{{"content": "keep the status in locals", "status": state, "activeForm": "keeping the status"}}})
	}
	return job{
		name: "express (JavaScript)", fetch: npmPackage("express@4.21.2"), prompt: "keep the status in res.locals; the code is in @lib/response.js#L60-76 and around @lib",
		args: []string{"--allowedTools", "Bash(node --check *)"},
		sent: []string{"res.status = function status(code)", "application.js"},
		steps: []step{
			{call: todo("in_progress")},
			{call: grep("statusCode", fields{"output_mode": "content", "-A": 1, "path": "lib"}), want: []string{"lib/response.js"}},
			{call: fakeapi.Call("Read", fields{"path": "lib/response.js", "offset": "60", "limit": 20}), want: []string{"67\tres.status = function status(code) {"}},
			{call: fakeapi.Call("Edit", fields{"path": "lib/response.js", "old_str": from, "new_str": to})},
			{call: bash("node lib/response.js && echo fine"), fail: true, want: []string{"node lib/response.js", "denied"}},
			{call: bash("node --check lib/response.js"), want: nil},
			{call: bash("cd lib && ls && cd .. && git status --short"), want: []string{"router", " M lib/response.js"}},
			{call: todo("completed")},
		},
		changes: []string{"M lib/response.js"},
		denied:  []string{"node lib/response.js && echo fine"},
		check:   func(_ *testing.T, r *rig) { r.replaced("lib/response.js", from, to) },
	}
}
