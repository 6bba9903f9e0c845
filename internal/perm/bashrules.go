package perm

import (
	"path"
	"strings"

	"lathe/internal/shell"
)

// commandText is a command as rules match it: words after quote removal joined by sep, what expands as unknown.
func commandText(assigns []shell.Assign, words []shell.Word) string {
	var b strings.Builder
	b.Grow(64)
	for i, a := range assigns {
		if i > 0 {
			b.WriteByte(sep)
		}
		b.WriteString(a.Name)
		b.WriteByte('=')
		writeWord(&b, a.Value)
	}
	for i, w := range words {
		if i > 0 || len(assigns) > 0 {
			b.WriteByte(sep)
		}
		writeWord(&b, w)
	}
	return b.String()
}

func writeWord(b *strings.Builder, w shell.Word) {
	for _, p := range w.Pieces {
		if p.Kind == shell.Lit {
			b.WriteString(p.Text)
		} else {
			b.WriteByte(unknown)
		}
	}
}

// rulesAgainst applies deny and ask rules to a command, through every wrapper and past every assignment.
func (s *shellCall) rulesAgainst(c *shell.Command, layers []layer) {
	rules := s.env.Rules
	if rules == nil || len(rules.bash[Deny])+len(rules.bash[Ask]) == 0 {
		return
	}
	texts := s.formsAgainst(c, layers)
	for _, effect := range []Verdict{Deny, Ask} {
		for i := range rules.bash[effect] {
			r := &rules.bash[effect][i]
			if s.standsFor(effect, r) {
				continue
			}
			for _, text := range texts {
				switch {
				case r.match(text):
					f := byRule(effect, &r.rule, "the part "+quoted(c.Text))
					if effect == Deny {
						s.out.deny = append(s.out.deny, f)
					} else {
						s.out.ask = append(s.out.ask, f)
					}
					s.out.parts = append(s.out.parts, f.part(c.Text))
					return
				case r.might(text):
					s.out.unsure = append(s.out.unsure, because(Ask, "unsure",
						"the part "+quoted(c.Text)+" expands, and then the rule "+r.rule.Text+" may match it"))
				}
			}
		}
	}
}

// formsAgainst are the texts of a command that a deny or ask rule may mean.
func (s *shellCall) formsAgainst(c *shell.Command, layers []layer) []string {
	for _, a := range c.Assigns {
		if startsScript(a.Name) {
			s.opaque("the script of " + a.Name + " cannot be seen")
		}
	}
	if len(layers) == 0 {
		if c.Kind == shell.Declare || len(c.Assigns) > 0 {
			return []string{commandText(c.Assigns, c.Words), commandText(nil, c.Words) + string(sep) + commandText(c.Assigns, nil)}
		}
		return nil
	}
	texts := make([]string, 0, len(layers)+1)
	if len(c.Assigns) > 0 {
		texts = append(texts, commandText(c.Assigns, c.Words))
	}
	for _, l := range layers {
		texts = append(texts, commandText(nil, l.words))
		name, literal := l.words[0].Literal()
		if !literal {
			s.opaque("the program of " + quoted(c.Text) + " is not known")
			continue
		}
		base := path.Base(name)
		if foldsCase(s.env.Platform) {
			base = strings.TrimSuffix(strings.ToLower(base), ".exe")
		}
		if base != name {
			texts = append(texts, commandText(nil, rename(l.words, base)))
		}
		if base == "git" {
			if words, changed := gitPlain(l.words); changed {
				texts = append(texts, commandText(nil, words))
			}
			if gitAlias(l.words) {
				s.opaque("what " + quoted(c.Text) + " stands for is not known: it may be an alias")
			}
		}
		for _, w := range l.words[1:] {
			if name, _, sets := strings.Cut(w.Text, "="); sets && startsScript(name) {
				s.opaque("the script of " + name + " cannot be seen")
			}
		}
	}
	return texts
}

func rename(words []shell.Word, name string) []shell.Word {
	return append([]shell.Word{shell.Plain(name)}, words[1:]...)
}

// exactOnly says that a command runs or removes whatever it finds, so that only a rule for exactly this command,
// or for every command, covers it.
func exactOnly(words []shell.Word) bool {
	name, _ := words[0].Literal()
	switch path.Base(name) {
	case "watch", "setsid", "ionice", "flock":
		return true
	case "find", "gfind":
		for _, w := range words[1:] {
			text, literal := w.Literal()
			if !literal && !w.Has(shell.Glob) {
				return true
			}
			switch text {
			case "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls":
				return true
			}
		}
	}
	return false
}

// allowedBy returns the allow rule that covers a command.
func (s *shellCall) allowedBy(c *shell.Command, layers []layer) (r *Rule, why string) {
	rules := s.env.Rules
	if rules == nil || len(rules.bash[Allow]) == 0 || s.env.Mode == ModePlan {
		return nil, ""
	}
	var texts []string
	exact := false
	if c.Kind == shell.Simple && len(layers) > 0 {
		texts, exact, why = s.formsFor(c, layers)
	}
	for i := range rules.bash[Allow] {
		b := &rules.bash[Allow][i]
		if b.blanket && s.env.Mode == ModeAuto {
			continue
		}
		if b.all {
			return &b.rule, ""
		}
		for _, text := range texts {
			if exact && b.exact == text || !exact && b.match(text) {
				return &b.rule, ""
			}
		}
	}
	return nil, why
}

// formsFor are the texts of a command that an allow rule may mean: as written, without harmless assignments, and
// inside the wrappers that add nothing. why says what keeps every rule but one for all commands from counting.
func (s *shellCall) formsFor(c *shell.Command, layers []layer) (texts []string, exact bool, why string) {
	if why = s.expands(c); why != "" {
		return nil, false, why
	}
	if len(c.Assigns) > 0 {
		texts = append(texts, commandText(c.Assigns, c.Words))
		if why = unsafeAssigns(c.Assigns); why != "" {
			return texts, exactOnly(c.Words), why
		}
	}
	for _, l := range layers {
		if !l.plain {
			continue
		}
		if _, literal := l.words[0].Literal(); !literal {
			return nil, false, "its program is not known"
		}
		exact = exact || exactOnly(l.words)
		texts = append(texts, commandText(nil, l.words))
	}
	return texts, exact, ""
}

// expands says what in a command becomes something that a rule cannot have meant. Globs and the output of
// commands that are judged themselves are arguments like any other, for a star to cover.
func (s *shellCall) expands(c *shell.Command) (why string) {
	check := func(w shell.Word) {
		for _, p := range w.Pieces {
			switch p.Kind {
			case shell.Opaque:
				why = "it has " + p.Text
			case shell.Var:
				if _, unknown := s.piece(p, len(c.Moves) == 0); unknown != "" {
					why = unknown
				}
			case shell.Tilde:
				if p.Text != "~" {
					why = "it has the directory of another user"
				}
			}
		}
	}
	for _, w := range c.Words {
		check(w)
	}
	for _, r := range c.Redirs {
		if r.Kind == shell.RedirText {
			check(r.Target)
		}
	}
	return why
}

// unsafeAssigns says why the assignments before a command may change what it does.
func unsafeAssigns(assigns []shell.Assign) (why string) {
	for _, a := range assigns {
		text, literal := a.Value.Literal()
		switch {
		case a.Other || a.Append || !literal:
			return "it sets " + a.Name + " to something that is not known"
		case !safeVariable(a.Name):
			return "it sets " + a.Name + ", which may change what the program does"
		case strings.Contains(text, "..") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, ":") || strings.ContainsAny(text, "\n%$`") ||
			strings.Contains(text, "/") && a.Name != "TZ":
			return "it sets " + a.Name + " to a path"
		}
	}
	return ""
}

// safeVariable lists variables that only change output, language or build targets.
func safeVariable(name string) bool {
	switch name {
	case "NODE_ENV", "CI", "TZ", "LANG", "LANGUAGE", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM",
		"TERM", "COLUMNS", "LINES", "GOOS", "GOARCH", "GOARM", "GOAMD64", "CGO_ENABLED", "GO111MODULE", "GOEXPERIMENT",
		"GOMAXPROCS", "GOGC", "RUST_BACKTRACE", "RUST_LOG", "CARGO_TERM_COLOR", "PYTHONUNBUFFERED",
		"PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUTF8", "PY_COLORS", "RAILS_ENV", "RACK_ENV",
		"APP_ENV", "MIX_ENV", "LS_COLORS", "LSCOLORS", "GREP_COLOR", "GREP_COLORS", "GCC_COLORS", "TIME_STYLE", "BLOCKSIZE",
		"BLOCK_SIZE", "CHARSET", "TEST_TIMEOUT", "VERBOSE":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

// blanket says that a rule lets any code run: interpreters, shells and script runners with a star.
func blanket(p textPattern) bool {
	if p.all || len(p.parts) < 2 {
		return p.all
	}
	words := strings.FieldsFunc(p.parts[0], func(r rune) bool { return r == sep })
	if len(words) == 0 {
		return true
	}
	switch name := strings.TrimRight(path.Base(words[0]), "0123456789."); name {
	case "python", "node", "deno", "bun", "ruby", "perl", "php", "lua", "sh", "bash", "zsh", "dash", "ksh", "fish", "npx",
		"bunx", "uvx", "pipx", "sudo", "doas", "ssh", "env", "eval", "exec", "xargs", "awk", "osascript", "pwsh", "powershell":
		return true
	case "npm", "pnpm", "yarn":
		return len(words) == 1 || words[1] == "run" || words[1] == "run-script" || words[1] == "exec" || words[1] == "dlx"
	}
	return false
}

// neverMatches warns of a rule that spans several commands: each part of a command is matched alone.
func neverMatches(content string) (why string) {
	if strings.TrimSpace(content) == "*" {
		return ""
	}
	script := shell.Analyse(strings.TrimSuffix(content, ":*"))
	if len(script.Problems) == 0 && len(script.Commands) > 1 {
		return "it spans several commands, and each part of a command is matched alone"
	}
	return ""
}

func quoted(text string) string {
	const most = 80
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return "“" + strings.Join(strings.Fields(text), " ") + "”"
}
