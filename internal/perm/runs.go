package perm

import (
	"path"
	"slices"
	"strings"
	"sync"

	"lathe/internal/shell"
)

// What a program runs because its words say so, beyond the wrappers that package shell takes off. It counts against a call
// only: no rule that allows looks through these.

// runsFlags are flags whose value is a command line, by program.
var runsFlags = map[string][]string{
	"sort": {"--compress-program"}, "rg": {"--pre"}, "rsync": {"-e", "--rsh", "--rsync-path"},
	"tar": {"-I", "--use-compress-program", "--to-command", "--rsh-command", "--checkpoint-action=exec", "-F", "--info-script", "--new-volume-script"},
	"fd":  {"-x", "-X", "--exec", "--exec-batch"}, "fdfind": {"-x", "-X", "--exec", "--exec-batch"},
	"git":   {"-x", "--exec", "--extcmd", "-O", "--open-files-in-pager", "--upload-pack", "--receive-pack", "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter", "--parent-filter", "--tag-name-filter", "--setup"},
	"flock": {"-c", "--command"}, "tmux": {}, "screen": {}, "hyperfine": {"-p", "--prepare", "-s", "--setup", "-c", "--cleanup"},
}

// runBy are the commands that the words of a program have it run.
func runBy(words []shell.Word) [][]shell.Word {
	name, _ := words[0].Literal()
	base := path.Base(name)
	var out [][]shell.Word
	add := func(w shell.Word) {
		if text, literal := w.Literal(); literal {
			out = append(out, commandsOf(strings.TrimPrefix(text, "!"))...)
		}
	}
	if base == "env" {
		return envScripts(words)
	}
	for i, w := range words[1:] {
		text, literal := w.Literal()
		if !literal {
			continue
		}
		for _, f := range runsFlags[base] {
			value, glued := strings.CutPrefix(text, f)
			switch {
			case text == f && i+2 < len(words):
				add(words[i+2])
			case glued && value != "" && (value[0] == '=' || len(f) == 2):
				add(shell.Plain(strings.TrimPrefix(value, "=")))
			}
		}
	}
	if base == "git" {
		out = append(out, gitRunBy(words)...)
	}
	return out
}

// commandsOf are the commands of a text that a shell is given.
func commandsOf(text string) (out [][]shell.Word) {
	for _, c := range shell.Analyse(text).Commands {
		if len(c.Words) > 0 {
			out = append(out, c.Words)
		}
	}
	return out
}

// envScripts takes the command out of env -S, in every spelling of it.
func envScripts(words []shell.Word) (out [][]shell.Word) {
	for i, w := range words[1:] {
		text, literal := w.Literal()
		if !literal {
			continue
		}
		script, rest := "", words[i+2:]
		at := strings.IndexByte(text, 'S')
		switch {
		case strings.HasPrefix(text, "--split-string="):
			script = text[len("--split-string="):]
		case text == "--split-string" || strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && at == len(text)-1:
			if len(rest) == 0 {
				continue
			}
			script, _ = rest[0].Literal()
			rest = rest[1:]
		case strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && at > 0:
			script = text[at+1:]
		default:
			continue
		}
		for _, c := range commandsOf(script) {
			out = append(out, append(c[:len(c):len(c)], rest...))
		}
	}
	return out
}

// gitRunBy are the commands that git runs: of settings on its command line, for each submodule, for each step of a search.
func gitRunBy(words []shell.Word) (out [][]shell.Word) {
	for i := 1; i < len(words); i++ {
		text, literal := words[i].Literal()
		if !literal || !strings.HasPrefix(text, "-") {
			break
		}
		setting, isSetting := strings.CutPrefix(text, "-c")
		if !isSetting {
			continue
		}
		if setting == "" && i+1 < len(words) {
			i++
			setting, _ = words[i].Literal()
		}
		key, value, _ := strings.Cut(setting, "=")
		if script, runs := strings.CutPrefix(value, "!"); strings.HasPrefix(strings.ToLower(key), "alias.") && !runs {
			out = append(out, commandsOf("git "+script)...)
		} else {
			out = append(out, commandsOf(script)...)
		}
	}
	at := gitCommand(words)
	if at+1 >= len(words) {
		return out
	}
	first, _ := words[at].Literal()
	second, _ := words[at+1].Literal()
	if first == "submodule" && second == "foreach" || first == "bisect" && second == "run" {
		rest := words[at+2:]
		for len(rest) > 0 && startsWithDash(rest[0]) {
			rest = rest[1:]
		}
		if len(rest) == 1 {
			text, _ := rest[0].Literal()
			out = append(out, commandsOf(text)...)
		} else if len(rest) > 1 {
			out = append(out, rest)
		}
	}
	return out
}

// gitNames are the commands of git itself, and well-known ones beside it. Any other name may be an alias of some
// configuration, which can stand for every command.
var gitNames = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq("add am annotate apply archive backfill bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap " +
		"check-ref-format checkout checkout-index cherry cherry-pick citool clean clone column commit commit-graph commit-tree config count-objects credential " +
		"credential-cache credential-store daemon describe diagnose diff diff-files diff-index diff-pairs diff-tree difftool fast-export fast-import fetch fetch-pack " +
		"filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck fsck-objects gc get-tar-commit-id grep gui hash-object help history hook http-backend " +
		"http-fetch http-push imap-send index-pack init init-db instaweb interpret-trailers last-modified log ls-files ls-remote ls-tree mailinfo mailsplit maintenance " +
		"merge merge-base merge-file merge-index merge-octopus merge-one-file merge-ours merge-recursive merge-resolve merge-subtree merge-tree mergetool mktag mktree " +
		"multi-pack-index mv name-rev notes p4 pack-objects pack-redundant pack-refs patch-id prune prune-packed pull push quiltimport range-diff read-tree rebase " +
		"receive-pack reflog refs remote repack replace replay repo request-pull rerere reset restore rev-list rev-parse revert rm scalar send-email send-pack sh-setup " +
		"shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule subtree survey svn switch symbolic-ref tag unpack-file " +
		"unpack-objects update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack verify-tag version web--browse whatchanged " +
		"worktree write-tree lfs flow filter-repo absorb annex crypt secret town branchless delta cliff credential-manager") {
		all[name] = true
	}
	return all
})

// gitAlias reports whether the command may be an alias: what it stands for is not to be seen here.
func gitAlias(words []shell.Word) bool {
	i := gitCommand(words)
	if i >= len(words) {
		return false
	}
	name, literal := words[i].Literal()
	return literal && !gitNames()[name]
}

// startsScript says that a variable has shells run something before what they were asked to.
func startsScript(name string) bool {
	return slices.Contains([]string{"BASH_ENV", "PS4", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS"}, name)
}
