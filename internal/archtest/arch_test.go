package archtest

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// layers are the rows of the import table. A package may import packages of lower rows; siblings marked here may
// import their parent.
var layers = []struct {
	level    int
	packages []string
}{
	{0, []string{"msg", "sys", "token", "diff", "search", "shell", "price", "file", "proc", "git", "redact", "frontmatter", "cache"}},
	{1, []string{"perm", "perm/...", "event", "trace"}},
	{2, []string{"provider", "provider/...", "tool", "hook", "session", "session/...", "config", "memory", "skill", "agent", "sandbox", "mcp", "checkpoint", "complete", "plugin", "style"}},
	{3, []string{"turn", "tool/...", "place"}},
	{4, []string{"pipeline/..."}},
	{5, []string{"pipeline", "engine", "demo"}},
	{7, []string{"inspect/load", "fakeapi"}},
	{8, []string{"app", "app/..."}},
	{9, []string{"cli", "testkit", "archtest"}},
}

// within lists imports inside one row that are wanted: the importer, then what it may import.
var within = map[string][]string{
	"event":  {"perm"},
	"token":  {"msg"},
	"price":  {"msg"},
	"sys":    {"msg"},
	"cache":  {"msg"},
	"search": {"file"},
	"git":    {"proc"},
	"tool":   {},

	"session/find": {"session/jsonl"},

	// Mechanisms that several providers share: reading events, and the Messages API's format.
	"provider/anthropic": {"provider/sse", "provider/wire"},
	"provider/replay":    {"provider/sse", "provider/wire"},
}

// apart are imports that the rows would allow: a session is assembled for any front end, and the command line knows of a
// session only what package app exports.
var apart = map[string][]string{
	"app": {"front/..."},
	"cli": {
		"engine", "turn", "pipeline", "pipeline/...", "tool", "tool/...", "provider", "provider/...", "hook", "agent", "skill", "plugin",
		"memory", "style", "checkpoint", "complete", "price", "session/jsonl", "app/...",
	},
}

// libraryMay are the packages of ours that the Go library, package agent at the root, is a translation of.
var libraryMay = map[string]bool{"app": true, "app/conversation": true, "place": true, "event": true, "msg": true, "session": true, "tool": true}

const module = "lathe/internal/"

type pkg struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "lathe/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func level(name string) int {
	for _, l := range layers {
		if matches(l.packages, name) {
			return l.level
		}
	}
	if strings.HasPrefix(name, "front/") || name == "inspect" {
		return 6
	}
	return -1
}

// matches reports whether a package is one of those that are listed; x/... stands for all below x.
func matches(list []string, name string) bool {
	for _, p := range list {
		if name == p || strings.HasSuffix(p, "/...") && strings.HasPrefix(name, strings.TrimSuffix(p, "...")) {
			return true
		}
	}
	return false
}

// frontMay are the only packages of ours that a front end sees.
var frontMay = map[string]bool{"event": true, "msg": true, "perm": true, "trace": true}

func TestImports(t *testing.T) {
	for _, p := range list(t) {
		name, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			continue
		}
		from := level(name)
		if from < 0 {
			t.Errorf("package %s stands in no row of the import table", name)
			continue
		}
		for _, imp := range p.Imports {
			to, ours := strings.CutPrefix(imp, module)
			if ours && !allowed(name, from, to) {
				t.Errorf("%s (row %d) must not import %s (row %d)", name, from, to, level(to))
			}
		}
	}
}

func TestLibraryImports(t *testing.T) {
	for _, p := range list(t) {
		for _, imp := range p.Imports {
			if to, ours := strings.CutPrefix(imp, module); ours && p.ImportPath == "lathe/agent" && !libraryMay[to] {
				t.Errorf("the Go library must not import %s: it reaches a session through package app", to)
			}
		}
	}
}

func allowed(name string, from int, to string) bool {
	if from == 6 {
		return frontMay[to] || partOfSameFront(name, to)
	}
	for above, refused := range apart {
		if (name == above || strings.HasPrefix(name, above+"/")) && matches(refused, to) {
			return false
		}
	}
	if level(to) < from {
		return true
	}
	if strings.HasPrefix(name, to+"/") { // a subfolder imports its parent
		return true
	}
	for _, ok := range within[name] {
		if ok == to {
			return true
		}
	}
	// Inside one provider or tool, helper packages below it are its own.
	return strings.HasPrefix(to, name+"/")
}

// partOfSameFront: a front end imports the packages below it, and those import each other, but never the front end.
func partOfSameFront(name, to string) bool {
	parts := strings.Split(name, "/")
	return parts[0] == "front" && len(parts) > 1 && strings.HasPrefix(to, "front/"+parts[1]+"/")
}

// forbidden packages make the binary large or its start slow; design decisions, see ARCHITECTURE.md.
var forbidden = []string{
	"text/template", "html/template", "github.com/alecthomas/kong", "google.golang.org/grpc",
	"google.golang.org/api", "github.com/openai/openai-go", "github.com/charmbracelet/glamour", "github.com/alecthomas/chroma/v2/lexers",
	"github.com/alecthomas/chroma/v2/styles",
}

func TestForbiddenDependencies(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "lathe/cmd/lathe")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -deps: %v", err)
	}
	for _, dep := range strings.Fields(string(out)) {
		for _, f := range forbidden {
			if dep == f || strings.HasPrefix(dep, f+"/") {
				t.Errorf("the binary depends on %s", dep)
			}
		}
	}
}

// Every stage folder is a row of the table in pipeline.go.
func TestEveryStageIsInTheTable(t *testing.T) {
	table, err := os.ReadFile("../pipeline/pipeline.go")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir("../pipeline")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.Contains(string(table), `row("`+e.Name()+`"`) {
			t.Errorf("pipeline/%s is no row of the stage table", e.Name())
		}
	}
}

const (
	maxFile     = 500
	maxFunction = 100
)

func TestSizesAndDocs(t *testing.T) {
	for _, p := range list(t) {
		documented := false
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, src, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			documented = documented || file.Doc != nil
			checkFile(t, fset, file, p.ImportPath+"/"+name)
		}
		if !documented && len(p.GoFiles) > 0 {
			t.Errorf("package %s has no package comment", p.ImportPath)
		}
	}
}

func checkFile(t *testing.T, fset *token.FileSet, file *ast.File, name string) {
	t.Helper()
	if n := fset.File(file.Pos()).LineCount(); n > maxFile {
		t.Errorf("%s has %d lines (at most %d)", name, n, maxFile)
	}
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if fn.Name.Name == "init" && fn.Recv == nil {
			t.Errorf("%s has an init function", name)
		}
		if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line; n > maxFunction {
			t.Errorf("%s: %s has %d lines (at most %d)", name, fn.Name.Name, n, maxFunction)
		}
	}
}
