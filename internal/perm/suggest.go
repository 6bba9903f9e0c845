package perm

import (
	"path"
	"strings"

	"lathe/internal/shell"
)

// maxSuggest is the largest number of rules that one lasting answer saves.
const maxSuggest = 5

// want notes a command that a rule could cover.
func (s *shellCall) want(layers []layer) {
	last := layers[0]
	for _, l := range layers {
		if l.plain {
			last = l
		}
	}
	if name, _ := last.words[0].Literal(); name == "cd" {
		if len(s.out.reads) == 0 {
			s.out.noSuggest = true
		}
		return
	}
	s.out.wanted = append(s.out.wanted, last.words)
}

// commandRules are the rules that a lasting answer saves: one for each uncovered command.
func (c *call) commandRules(o *outcome) []Rule {
	var out []Rule
	add := func(text string) {
		for _, r := range out {
			if r.Text == text {
				return
			}
		}
		out = append(out, Rule{Text: text})
	}
	for _, words := range o.wanted {
		text, ok := ruleFor(words)
		if !ok {
			return nil
		}
		add("Bash(" + text + ")")
	}
	for _, dir := range o.reads {
		if strings.ContainsAny(dir, `*?[]\()`) {
			return nil
		}
		add("Read(/" + dir + "/**)")
	}
	if len(out) > maxSuggest {
		return nil
	}
	return out
}

// ruleFor is the content of a rule for one command: the program and its command with a star, or the exact text for
// programs that can do anything.
func ruleFor(words []shell.Word) (text string, ok bool) {
	var lits []string
	for _, w := range words {
		text, literal := w.Literal()
		if !literal {
			break
		}
		lits = append(lits, text)
	}
	if len(lits) == 0 {
		return "", false
	}
	n := prefixLen(lits)
	if n == 0 || exactOnly(words) {
		if len(lits) < len(words) {
			return "", false
		}
		return ruleText(lits), !strings.ContainsAny(strings.Join(lits, ""), "\n\x00")
	}
	return ruleText(lits[:n]) + " *", true
}

// prefixLen is how many words say what a command does; 0 when only all of them do.
func prefixLen(words []string) int {
	name := words[0]
	switch strings.TrimRight(path.Base(name), "0123456789.") {
	case "rm", "rmdir", "sudo", "doas", "su", "sh", "bash", "zsh", "dash", "ksh", "fish", "python", "node", "deno", "ruby", "perl", "php",
		"lua", "eval", "exec", "source", "env", "xargs", "curl", "wget", "ssh", "scp", "rsync", "nc", "dd", "chmod", "chown", "kill", "pkill",
		"killall", "mv", "cp", "ln", "tee", "awk", "osascript", "crontab", "at", "find", "watch", "docker", "kubectl", "psql", "mysql", "":
		return 0
	case "npx", "bunx", "uvx", "pipx":
		return subcommand(words, 1)
	case "git", "go", "cargo", "npm", "pnpm", "yarn", "bun", "pip", "uv", "poetry", "dotnet", "gh", "make", "gradle", "gradlew", "mvn", "rake",
		"bundle", "rails", "mix", "composer", "terraform", "brew", "apt", "systemctl", "helm", "swift", "flutter", "dart", "zig", "nix", "just", "task":
		n := subcommand(words, 1)
		if n == 2 && (words[1] == "run" || words[1] == "exec" || words[1] == "run-script" || words[1] == "tool") {
			n = subcommand(words, 2)
		}
		return n
	}
	return 1
}

// subcommand is i+1 when word i is a plain name, else 0.
func subcommand(words []string, i int) int {
	if i >= len(words) || words[i] == "" || strings.Trim(words[i], "abcdefghijklmnopqrstuvwxyz0123456789-:_") != "" || words[i][0] == '-' {
		return 0
	}
	return i + 1
}

// ruleText writes words so that a rule reads them back as they are.
func ruleText(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if w != "" && strings.IndexFunc(w, special) < 0 {
			out[i] = w
			continue
		}
		var b strings.Builder
		b.WriteByte('\'')
		for _, r := range w {
			switch r {
			case '\'':
				b.WriteString(`'\''`)
			case '*':
				b.WriteString(`'\*'`)
			default:
				b.WriteRune(r)
			}
		}
		b.WriteByte('\'')
		out[i] = b.String()
	}
	return strings.Join(out, " ")
}

func special(r rune) bool { return r <= ' ' || strings.ContainsRune("'\"\\*?[]{}()$`&|;<>#!~", r) }
