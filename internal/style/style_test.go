package style

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Style
		bad  bool
	}{
		"whole": {
			"---\nname: Pirate\ndescription: talks like one\nkeep-coding-instructions: true\nforce-for-plugin: true\n---\n\nArr.\n",
			Style{Name: "Pirate", Description: "talks like one", Text: "Arr.", Keep: true, Force: true},
			false,
		},
		"named by its file":       {"---\ndescription: d\n---\nText", Style{Name: "file", Description: "d", Text: "Text"}, false},
		"no head":                 {"Just text", Style{Name: "file", Text: "Just text"}, false},
		"byte order mark":         {"\ufeff---\nname: A\n---\nText", Style{Name: "A", Text: "Text"}, false},
		"no text":                 {"---\nname: A\n---\n \n", Style{}, true},
		"the name of none":        {"---\nname: Default\n---\nText", Style{}, true},
		"a plugin's name":         {"---\nname: a:b\n---\nText", Style{}, true},
		"a name of several lines": {"---\nname: \"a\\nb\"\n---\nText", Style{}, true},
		"a control character":     {"---\nname: a\x7fb\n---\nText", Style{}, true},
		"too long a name":         {"---\nname: " + strings.Repeat("n", maxName+1) + "\n---\nText", Style{}, true},
	} {
		got, ok := Parse(c.text, "file")
		if ok == c.bad {
			t.Errorf("%s: ok %v", name, ok)
		}
		if diff := cmp.Diff(c.want, got); !c.bad && diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Nearer folders win, and the project wins over the user, files over what is built in; a plugin's names are its own, and
// only a plugin can demand a style.
func TestFind(t *testing.T) {
	top := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(top, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("repo/sub/.claude/output-styles/near.md", "---\nname: A\n---\nnear")
	write("repo/.lathe/output-styles/far.md", "---\nname: a\n---\nfar")
	write("repo/.claude/output-styles/b.md", "---\nforce-for-plugin: true\n---\nproject's b")
	write("home/output-styles/b.md", "user's b")
	write("home/output-styles/Concise.md", "user's own")
	write("home/output-styles/notes.txt", "no style")
	write("plug/output-styles/p.md", "---\nforce-for-plugin: true\n---\nof a plugin")
	if err := os.MkdirAll(filepath.Join(top, "home/output-styles/dir.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := Places{
		Config: filepath.Join(top, "home"), Work: filepath.Join(top, "repo/sub"), Root: filepath.Join(top, "repo"), Project: true,
		Plugins: []Plugin{{Name: "plug", Paths: []string{filepath.Join(top, "plug/output-styles")}}},
	}
	texts := func() map[string]string {
		out := map[string]string{}
		for _, s := range Find(p) {
			if s.Path != "" {
				out[s.Name] = s.Text
			}
		}
		return out
	}
	if diff := cmp.Diff(map[string]string{"A": "near", "b": "project's b", "Concise": "user's own", "plug:p": "of a plugin"}, texts()); diff != "" {
		t.Error(diff)
	}
	if s, ok := Forced(Find(p)); !ok || s.Name != "plug:p" {
		t.Errorf("%q is demanded", s.Name)
	}
	p.Project = false
	if diff := cmp.Diff(map[string]string{"b": "user's b", "Concise": "user's own", "plug:p": "of a plugin"}, texts()); diff != "" {
		t.Error(diff)
	}
}

func TestBuiltIn(t *testing.T) {
	all := Find(Places{})
	for _, name := range []string{"proactive", "Concise", "EXPLANATORY", "Learning"} {
		if s, ok := Get(all, name); !ok || !s.Keep || s.Description == "" {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if _, ok := Get(all, Default); ok || len(all) != 4 {
		t.Errorf("%d styles", len(all))
	}
}
