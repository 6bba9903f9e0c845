package perm

import (
	"strings"
	"sync"

	"lathe/internal/shell"
)

// Flags that several commands of git share.
const (
	gitDiffFlags = " -pusabwzRMCDBm -c -W -# -U? -G: -S: -l: -X? -O@ --patch --no-patch --raw --patch-with-raw --patch-with-stat --stat? --numstat --shortstat --dirstat? " +
		"--cumulative --summary --name-only --name-status --unified? --no-color --color? --color-words? --word-diff? --word-diff-regex= --color-moved? --no-color-moved " +
		"--no-renames --rename-empty --no-rename-empty --find-renames? --find-copies? --find-copies-harder --break-rewrites? --irreversible-delete --check --full-index --binary --abbrev? --no-abbrev " +
		"--minimal --patience --histogram --anchored= --diff-algorithm= --diff-filter= --pickaxe-all --pickaxe-regex --relative? --no-relative --text " +
		"--ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines= -I: --inter-hunk-context= " +
		"--function-context --exit-code --quiet --ignore-submodules? --submodule? --src-prefix= --dst-prefix= --no-prefix --default-prefix --line-prefix= --ita-invisible-in-index " +
		"--no-ext-diff --no-textconv --compact-summary --indent-heuristic --no-indent-heuristic --combined-all-paths --cc --merge-base --output-indicator-new= --output-indicator-old= --output-indicator-context= --ws-error-highlight= --skip-to= --rotate-to="
	gitRevFlags = " -n: -i -E -F -P --max-count= --skip= --since= --after= --until= --before= --since-as-filter= --author= --committer= --grep= --grep-reflog= --all-match --invert-grep --regexp-ignore-case --basic-regexp " +
		"--extended-regexp --fixed-strings --perl-regexp --merges --no-merges --min-parents= --max-parents= --no-min-parents --no-max-parents --first-parent --all --branches? --tags? --remotes? --glob= --exclude= " +
		"--reflog --not --no-walk? --do-walk --cherry-mark --cherry-pick --left-only --right-only --left-right --cherry --walk-reflogs -g --merge --boundary --simplify-by-decoration --full-history --dense --sparse --simplify-merges --ancestry-path? --show-pulls " +
		"--date-order --author-date-order --topo-order --reverse --date= --pretty? --format= --oneline --abbrev-commit --no-abbrev-commit --encoding= --expand-tabs? --no-expand-tabs --notes? --no-notes --relative-date --parents --children " +
		"--graph --no-graph --show-linear-break? --count --follow --decorate? --no-decorate --decorate-refs= --decorate-refs-exclude= --source --mailmap --use-mailmap --no-mailmap --log-size -L: --diff-merges= --no-diff-merges --remove-empty --objects --timestamp --header --bisect --left-right -h -t -r -q"
	gitRefFlags = " --sort= --format= --color? --no-color --column? --no-column --contains= --no-contains= --merged? --no-merged? --points-at= --ignore-case -i --abbrev? --no-abbrev --omit-empty"
)

// gitRead are the commands of git that only read, with their flags. A name with a blank is a command of a command.
var gitRead = sync.OnceValue(func() map[string]*flagTable {
	m := map[string]*flagTable{}
	for name, notation := range map[string]string{
		"status":         "-svbzu? --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignore-submodules? --ignored? -z --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?",
		"diff":           gitDiffFlags + " --cached --staged --base --ours --theirs -1230q",
		"log":            gitRevFlags + gitDiffFlags,
		"show":           gitRevFlags + gitDiffFlags,
		"whatchanged":    gitRevFlags + gitDiffFlags,
		"rev-list":       gitRevFlags + " --disk-usage --no-object-names --use-bitmap-index",
		"shortlog":       gitRevFlags + " -sne -w? -c --summary --numbered --email --committer --group=",
		"blame":          "-bceflnpstwk -L: -S@ -M? -C? --root --show-stats --porcelain --line-porcelain --incremental --encoding= --date= --reverse --first-parent --show-name --show-number --show-email --abbrev= --color-lines --color-by-age --ignore-rev= --minimal",
		"annotate":       "-bcefln -L: --root --date=",
		"rev-parse":      "-q --abbrev-ref? --short? --verify --quiet --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-superproject-working-tree --all --branches? --tags? --remotes? --revs-only --no-revs --flags --no-flags --not --local-env-vars --show-object-format? --git-path= --path-format= --since= --until=",
		"describe":       "--tags --all --long --always --dirty? --broken? --abbrev= --candidates= --exact-match --debug --match= --exclude= --first-parent --contains",
		"ls-files":       "-cdmoiskutvfz -x: --cached --deleted --modified --others --ignored --stage --killed --unmerged --exclude= --exclude-standard --exclude-per-directory= --directory --no-empty-directory --eol --full-name --error-unmatch --abbrev? --deduplicate --recurse-submodules --with-tree= --format= --debug --sparse",
		"ls-tree":        "-dlrtz --name-only --name-status --object-only --full-name --full-tree --long --abbrev? --format=",
		"cat-file":       "-ptse --batch-check? --unordered --allow-unknown-type",
		"merge-base":     "-a --all --octopus --is-ancestor --independent --fork-point",
		"name-rev":       "--tags --all --name-only --always --refs= --exclude= --undefined --no-undefined",
		"for-each-ref":   "--count= --shell --perl --python --tcl" + gitRefFlags + " --exclude=",
		"show-ref":       "-qsd --head --tags --heads --branches --dereference --hash? --verify --quiet --abbrev? --exists",
		"symbolic-ref":   "-q --quiet --short --recurse",
		"count-objects":  "-vH --verbose --human-readable",
		"diff-tree":      gitDiffFlags + " -r -t --root --stdin --no-commit-id --pretty? --format= -v",
		"diff-index":     gitDiffFlags + " --cached",
		"diff-files":     gitDiffFlags,
		"cherry":         "-v --abbrev?",
		"range-diff":     gitDiffFlags + " --creation-factor= --no-dual-color --left-only --right-only",
		"show-branch":    "-a -r --all --remotes --current --topo-order --date-order --sparse --more= --list --independent --sha1-name --no-name --topics --color? --no-color",
		"check-ignore":   "-qvzn --quiet --verbose --non-matching --no-index",
		"check-attr":     "-az --all --cached --source=",
		"version":        "--build-options",
		"grep":           "-aIirwvhHEGPFnlLcopqz1 -W -e: -A: -B: -C: -m: -# --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function --function-context --after-context= --before-context= --context= --max-depth= --cached --untracked --recursive --no-recursive --and --or --not --all-match --quiet --max-count= --recurse-submodules --threads=",
		"branch":         "-arvlq --list --all --remotes --verbose --show-current" + gitRefFlags,
		"tag":            "-l -n? --list" + gitRefFlags,
		"remote":         "-v --verbose",
		"remote get-url": "--push --all",
		"stash list":     gitRevFlags + gitDiffFlags,
		"stash show":     gitDiffFlags + " --include-untracked --only-untracked",
		"worktree list":  "-vz --porcelain --verbose",
		"notes list":     "",
		"notes show":     "",
		"bisect log":     "",
		"reflog":         gitRevFlags + gitDiffFlags,
		"config":         "-lz --get --get-all --get-regexp --get-urlmatch --list --global --system --local --worktree --show-origin --show-scope --name-only --null --type= --bool --int --bool-or-int --path --includes --no-includes --default=",
		"config get":     "-z --all --regexp --value= --global --system --local --worktree --show-origin --show-scope --show-names --null --type= --default= --url= --includes --no-includes",
		"config list":    "-z --global --system --local --worktree --show-origin --show-scope --name-only --null --type= --includes --no-includes",
		"--version":      "",
	} {
		m[name] = parseFlags(notation)
	}
	return m
})

// gitPlain leaves out the global flags between git and its command, for deny and ask rules.
func gitPlain(words []shell.Word) (plain []shell.Word, changed bool) {
	i := gitCommand(words)
	if i <= 1 || i >= len(words) {
		return nil, false
	}
	return append([]shell.Word{shell.Plain("git")}, words[i:]...), true
}

// gitCommand is the index of git's command among its words.
func gitCommand(words []shell.Word) int {
	for i := 1; i < len(words); i++ {
		text, literal := words[i].Literal()
		if !literal || !strings.HasPrefix(text, "-") {
			return i
		}
		switch text {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path", "--super-prefix", "--attr-source":
			i++
		}
	}
	return len(words)
}

// checkGit admits the reading commands. Flags before the command may only be those that change no configuration.
func checkGit(a *args, u *usage) {
	words := a.operands
	i := 0
	for ; i < len(words); i++ {
		text, literal := words[i].Literal()
		if !literal {
			u.no("its command expands")
			return
		}
		if text == "-C" && i+1 < len(words) {
			// Only the current directory itself is the same repository for sure; the caller checks.
			u.reads = append(u.reads, operand{word: words[i+1], list: true})
			u.here = true
			u.gitDir = &words[i+1]
			i++
			continue
		}
		if text != "--no-pager" && text != "-P" && text != "--no-optional-locks" && text != "--literal-pathspecs" && text != "--no-replace-objects" {
			break
		}
	}
	if i == len(words) {
		u.no("it names no command of git")
		return
	}
	name, _ := words[i].Literal()
	rest := words[i+1:]
	if len(rest) > 0 {
		if second, ok := rest[0].Literal(); ok && gitRead()[name+" "+second] != nil && !strings.HasPrefix(second, "-") {
			name, rest = name+" "+second, rest[1:]
		}
	}
	table := gitRead()[name]
	if table == nil {
		u.no("git " + name + " is not known to only read")
		return
	}
	use := table.parse(rest)
	if use.why != "" {
		u.no(use.why)
	}
	table.files(&use, u)
	if otherRepository(&use) {
		u.no("it looks into submodules, also such as only history names, and their settings can name programs")
	}
	for _, f := range use.flags {
		if f.value == nil {
			continue
		}
		if text, _ := f.value.Literal(); strings.Contains(text, "%G") || strings.Contains(text, "signature") && strings.Contains(text, "%(") {
			u.no("the format runs a program that checks signatures")
		} else if strings.Contains(text, "%(") && strings.Contains(text, "raw") {
			u.no("the format shows objects as they are")
		}
	}
	gitOperands(name, &use, u)
}

// gitOperands checks what follows: for some commands an operand makes the difference between reading and writing.
func gitOperands(name string, use *args, u *usage) {
	n := len(use.operands)
	switch name {
	case "branch", "tag":
		lists := use.has("-l", "--list", "-n", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
		if n > 0 && (!lists || name == "branch" && use.has("-l") && !use.has("--list")) {
			u.no("git " + name + " with a name creates it")
		}
	case "remote", "worktree list", "stash list", "bisect log", "version", "--version", "count-objects":
		if n > 0 && name != "stash list" {
			u.no("git " + name + " takes no operands here")
		}
	case "symbolic-ref":
		if n != 1 {
			u.no("git symbolic-ref with two names sets one")
		}
	case "config":
		reads := use.has("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l")
		if !reads && n != 1 || n == 1 && !reads && configVerb(use.operands[0]) {
			u.no("git config may change a setting")
		}
		return
	case "config get", "config list", "for-each-ref":
		return
	case "reflog":
		if n > 0 {
			if text, _ := use.operands[0].Literal(); text != "show" && text != "list" && text != "exists" && !strings.HasPrefix(text, "HEAD") {
				u.no("git reflog " + text + " is not known to only read")
			}
		}
	case "grep":
		u.deep = true
		if !use.has("-e") && n > 0 { // the pattern, also behind --
			use.operands = use.operands[1:]
			use.behind = max(0, use.behind-1)
		}
	}
	gitContents(name, use, u)
	gitPaths(use.operands, u)
}

func configVerb(w shell.Word) bool {
	text, _ := w.Literal()
	return !strings.Contains(text, ".")
}

// gitPaths checks operands as paths: outside the repository git reads plain files, and a file behind "rev:" is
// read from history.
func gitPaths(words []shell.Word, u *usage) {
	for _, w := range words {
		text, literal := w.Literal()
		if !literal {
			u.no("a word of git expands")
			continue
		}
		switch {
		case len(text) > 2 && text[0] == ':' && text[1] >= '0' && text[1] <= '3' && text[2] == ':': // a stage of the index
			text = text[3:]
		case strings.HasPrefix(text, ":!"), strings.HasPrefix(text, ":^"), strings.HasPrefix(text, ":(exclude)"):
			continue // takes something away
		case strings.HasPrefix(text, ":("):
			u.no("what a pathspec like " + text + " names is not known")
			continue
		default:
			if _, file, ok := strings.Cut(text, ":"); ok && file != "" && text[0] != ':' {
				text = file
			}
			text = strings.TrimPrefix(text, ":")
		}
		u.reads = append(u.reads, operand{word: shell.Plain(text)})
	}
}
