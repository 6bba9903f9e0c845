package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// commandKeys are the settings whose commands run by themselves, once the project is trusted.
var commandKeys = []string{"hooks", "statusLine", "subagentStatusLine", "fileSuggestion", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper"}

// scriptNames are the ends of names of files that programs run.
var scriptNames = []string{".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1", ".bat", ".cmd"}

// wordBreaks are what ends a word of a command, as far as names of files go.
var wordBreaks = regexp.MustCompile("[\\s\"'`;|&<>()=]+")

// interpreters are programs that run a file that they are given, whatever its name and mode.
var interpreters = regexp.MustCompile(`^(?:\S*/)?(?:(?:ba|z|da|k|a|c|tc|fi)?sh|source|\.|python[0-9.]*|pypy3?|node|nodejs|deno|bun|tsx|ts-node|ruby|perl|php|lua|luajit|Rscript|pwsh|powershell|tclsh|awk|gawk|make|just|uv)(?:\.exe)?$`)

// scripts lists the programs of the project that its hooks and helpers name in their commands, by what they hold: whoever
// changes them changes what runs. What these call in turn is not looked at. dirs are where relative names may be meant, the nearest first; the last one is the
// project.
func scripts(grants []Grant, dirs []string) []Grant {
	if len(dirs) == 0 {
		return nil
	}
	top := dirs[len(dirs)-1]
	var out []Grant
	seen := map[string]bool{}
	eachNamed(grants, dirs, func(g Grant, path string, runs bool) {
		if seen[path] {
			return
		}
		if sum := contentHash(path, top, runs); sum != "" {
			seen[path] = true
			out = append(out, Grant{Key: "script of " + g.Key, Text: sum, File: path, Line: 1})
		}
	})
	return out
}

// eachNamed calls yield for each file that the commands of grants may name, whether it is there or not. runs says that it is
// given to an interpreter.
func eachNamed(grants []Grant, dirs []string, yield func(g Grant, path string, runs bool)) {
	for _, g := range grants {
		given := false // to an interpreter that is named by itself, with its arguments in a list
		for _, command := range commandsIn(g) {
			switch {
			case command == "command" || command == "type":
				given = false
			case interpreters.MatchString(command):
				given = true
			}
			runs, from := given, dirs
			words := wordsOf(command)
			for i, word := range words {
				runs = runs || interpreters.MatchString(word)
				if i > 0 && words[i-1] == "cd" {
					from = append(candidates(word, from), dirs...)
				}
				for _, path := range candidates(word, from) {
					yield(g, path, runs)
				}
			}
		}
	}
}

// ProgramFiles are the files in the working directories roots that the texts of a setting run by name, such as hooks. Relative
// names are meant from dirs. Whoever changes such a file changes what runs.
func ProgramFiles(setting json.RawMessage, dirs, roots []string) []string {
	var out []string
	eachNamed([]Grant{{Key: "hooks", Text: string(setting)}}, dirs, func(_ Grant, path string, runs bool) {
		for _, root := range roots {
			if contentHash(path, root, runs) != "" && !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	})
	return out
}

// Programs is what the programs of the project hold that a command names, a line each, "" for none.
func Programs(command string, args []string, dirs []string) string {
	g, err := commandGrant(command, args)
	if err != nil {
		return ""
	}
	var out strings.Builder
	for _, s := range scripts([]Grant{g}, dirs) {
		fmt.Fprintf(&out, "%q %s\n", s.File, s.Text)
	}
	return out.String()
}

// commandGrant is a grant that runs a command, and nothing else.
func commandGrant(command string, args []string) (Grant, error) {
	text, err := json.Marshal(struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{command, args})
	return Grant{Key: "hooks", Text: string(text)}, err
}

// SameScripts reports whether the programs of the project that a command names hold what they held when approved was listed,
// and all of them are there. cwd is where the command would run: what it names from there is meant too, wherever that is.
func SameScripts(approved []Grant, command string, args []string, dirs []string, cwd string) bool {
	grant, err := commandGrant(command, args)
	if err != nil || len(dirs) == 0 {
		return false
	}
	known, whole := map[string]string{}, map[string]bool{} // what was approved, by file, and what any of them holds
	for _, g := range approved {
		if strings.HasPrefix(g.Key, "script of ") {
			known[g.File], whole[g.Text] = g.Text, true
		}
	}
	top, same := dirs[len(dirs)-1], true
	eachNamed([]Grant{grant}, append([]string{cwd}, dirs...), func(_ Grant, path string, runs bool) {
		was, ok := known[path]
		is := contentHash(path, top, runs || ok)
		if is == "" {
			is = contentHash(path, cwd, runs)
		}
		same = same && (is == was || !ok && whole[is]) // the same program elsewhere: in a work tree
	})
	return same
}

// wordsOf are the words of a command, with quotes left out and with quotes as ends of words: "$DIR"/x is one, 'a b' may be.
func wordsOf(command string) []string {
	plain := strings.NewReplacer(`"`, "", "'", "").Replace(command)
	return append(wordBreaks.Split(plain, -1), append([]string{""}, wordBreaks.Split(command, -1)...)...)
}

// commandsIn are the commands that a grant runs: the texts of a setting, the lines of a definition's hooks.
func commandsIn(g Grant) []string {
	switch {
	case slices.Contains(commandKeys, g.Key):
		return textsIn(json.RawMessage(g.Text))
	case strings.HasSuffix(g.Key, ".md") && strings.Contains(strings.ToLower(g.Text), "hooks"):
		return strings.Split(g.Text, "\n")
	}
	return nil
}

// textsIn are all texts of a JSON value.
func textsIn(raw json.RawMessage) []string {
	var out []string
	dec := json.NewDecoder(bytes.NewReader(raw))
	for {
		t, err := dec.Token()
		if err != nil {
			return out
		}
		if s, ok := t.(string); ok {
			out = append(out, s)
		}
	}
}

// candidates are the files that a word may name.
func candidates(word string, dirs []string) []string {
	for _, v := range []string{"${CLAUDE_PROJECT_DIR}", "$CLAUDE_PROJECT_DIR", "${PWD}", "$PWD"} {
		if rest, ok := strings.CutPrefix(word, v); ok { // the folder where the session starts, or any up to the top
			word = "." + rest
		}
	}
	switch {
	case word == "" || strings.ContainsAny(word, "$*?\x00"):
		return nil
	case filepath.IsAbs(word):
		return []string{filepath.Clean(word)}
	}
	var out []string
	for _, dir := range dirs {
		out = append(out, filepath.Join(dir, filepath.FromSlash(word)))
	}
	return out
}

// contentHash is the hash of a program of the project; "" for anything else. With runs any file is one: it is given to an
// interpreter.
func contentHash(path, top string, runs bool) string {
	rel, err := filepath.Rel(top, path)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if info.Size() > maxFile {
		return "a file too large to be looked at"
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "a file that cannot be read"
	}
	if !runs && info.Mode()&0o111 == 0 && !bytes.HasPrefix(b, []byte("#!")) && !slices.Contains(scriptNames, strings.ToLower(filepath.Ext(path))) {
		return "" // what a command reads, and does not run
	}
	sum := sha256.Sum256(b)
	return "sha256 " + hex.EncodeToString(sum[:])
}
