package perm

import (
	"strings"

	"lathe/internal/shell"
)

// The tables of programs that only read, with the flags that keep it so. A flag that is not here asks. Left out on
// purpose: what runs another program, writes a file, or reads a list of further files.

func readers() []entry {
	grep := "-ivwxcnHhoqsrlLabzZUEFGPyTIu -R -e: -m: -A: -B: -C: -# -f@ -d: -D: --include= --exclude= --exclude-dir= --exclude-from@ " +
		"--color? --colour? --regexp= --file@ --max-count= --after-context= --before-context= --context= --label= --binary-files= " +
		"--line-number --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --with-filename --no-filename " +
		"--only-matching --quiet --silent --no-messages --recursive --dereference-recursive --files-with-matches --files-without-match " +
		"--byte-offset --text --null --null-data --extended-regexp --fixed-strings --basic-regexp --perl-regexp --initial-tab " +
		"--line-buffered --directories= --devices= --group-separator= --no-group-separator"
	return []entry{
		{"cat", program{kind: operandPath, notation: "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting"}},
		{"tac", program{kind: operandPath, notation: "-br -s: --before --regex --separator="}},
		{"nl", program{kind: operandPath, notation: "-b: -d: -f: -h: -i: -l: -n: -s: -v: -w: -p --body-numbering= --number-format= --number-width= --number-separator= --starting-line-number="}},
		{"rev", program{kind: operandPath}},
		{"head", program{kind: operandPath, notation: "-qvz -n: -c: -# --lines= --bytes= --quiet --silent --verbose --zero-terminated"}},
		{"tail", program{kind: operandPath, notation: "-fFqrvz -n: -c: -b: -s: -# --lines= --bytes= --follow? --retry --pid= --sleep-interval= --max-unchanged-stats= --quiet --silent --verbose --zero-terminated"}},
		{"wc", program{kind: operandPath, notation: "-clmLw --bytes --chars --lines --max-line-length --words --total="}},
		{"grep egrep fgrep", program{kind: operandPattern, notation: grep, check: checkGrep}},
		{"rg", program{
			kind: operandPattern, here: true, notation: "-ivwxcnNHIoqslFPSUaup0 -e: -m: -A: -B: -C: -g: -t: -T: -d: -M: -j: -E: -r: -f@ --regexp= --file@ " +
				"--ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --count --count-matches --line-number --no-line-number " +
				"--with-filename --no-filename --only-matching --quiet --no-messages --files-with-matches --files-without-match --files --fixed-strings --pcre2 " +
				"--multiline --multiline-dotall --text --unrestricted --hidden --no-ignore --no-ignore-vcs --glob= --iglob= --type= --type-not= --type-list --max-depth= --max-count= --max-columns= " +
				"--after-context= --before-context= --context= --color= --colors= --heading --no-heading --column --json --stats --sort= --sortr= --trim --vimgrep --pretty --passthru --replace= --null --no-config --max-filesize= --threads= --encoding= --crlf --context-separator=",
			check: func(a *args, u *usage) {
				u.deep, u.skips = true, rgSkips(a)
				if a.has("--files") {
					u.names = true
				}
			},
		}},
		{"ls", program{kind: operandPath, names: true, here: true, notation: "-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I: -w: --all --almost-all --author --escape --block-size= --ignore-backups --color? --directory --classify? --file-type --format= --full-time --group-directories-first --no-group --human-readable --si --dereference --dereference-command-line --dereference-command-line-symlink-to-dir --hide= --hyperlink? --indicator-style= --inode --ignore= --kibibytes --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --quoting-style= --reverse --recursive --size --sort= --time= --time-style= --tabsize= --width= --context --zero"}},
		{"tree", program{kind: operandPath, names: true, here: true, notation: "-adfipsughDFCnNQrtcUvxJXAq -L: -P: -I: --dirsfirst --noreport --prune --gitignore --filelimit= --sort= --du --si --charset= --matchdirs --ignore-case"}},
		{"stat", program{kind: operandPath, names: true, notation: "-Lftxslnqr -c: --dereference --file-system --cached= --format= --printf= --terse"}},
		{"du", program{kind: operandPath, names: true, here: true, notation: "-0abcDhHklLmPsSxgrn -B: -d: -t: -I: -X@ --all --apparent-size --block-size= --bytes --total --dereference-args --dereference --max-depth= --human-readable --inodes --count-links --no-dereference --separate-dirs --si --summarize --threshold= --time? --time-style= --exclude= --exclude-from@ --one-file-system --null"}},
		{"df", program{kind: operandPath, names: true, notation: "-aBhHiklPTm -t: -x: --all --human-readable --inodes --local --portability --print-type --total --type= --exclude-type= --output? --si"}},
		{"file", program{kind: operandPath, notation: "-bikLhNnprv0 -F: -e: --brief --mime --mime-type --mime-encoding --dereference --no-dereference --extension --separator= --exclude= --keep-going --print0 --raw --no-pad --apple"}},
		{"diff", program{
			kind: operandPath, notation: "-qsrNuacCeynwBbiEtTpdH -U: -C: -W: -I: -x: -F: -X@ -S: -# --brief --report-identical-files --recursive --new-file --unified? --context? --side-by-side --suppress-common-lines --ignore-case --ignore-file-name-case --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-trailing-space --ignore-tab-expansion --ignore-matching-lines= --exclude= --exclude-from@ --label= --width= --no-dereference --minimal --strip-trailing-cr --text --show-c-function --show-function-line= --ed --rcs --normal --left-column --expand-tabs --initial-tab --speed-large-files --horizon-lines= --unidirectional-new-file --starting-file= --color? --palette= --to-file@ --from-file@ --line-format= --old-line-format= --new-line-format= --unchanged-line-format= --tabsize=",
			check: func(a *args, u *usage) {
				u.deep = true // of a directory it reads the files, and with -r what links in it lead to
				u.links = !a.has("--no-dereference")
			},
		}},
		{"cmp", program{kind: operandPath, notation: "-bls -n: -i: --print-bytes --verbose --silent --quiet --bytes= --ignore-initial="}},
		{"comm", program{kind: operandPath, notation: "-123iz --check-order --nocheck-order --output-delimiter= --total --zero-terminated"}},
		{"find gfind", program{noFlags: true, here: true, names: true, kind: operandText, noGlob: true, check: checkFind}},
		{"fd fdfind", program{kind: operandPattern, names: true, here: true, notation: "-HIuLpgFa0is1qj -e: -t: -d: -E: -S: -c: --hidden --no-ignore --no-ignore-vcs --unrestricted --follow --full-path --glob --fixed-strings --regex --absolute-path --print0 --ignore-case --case-sensitive --extension= --type= --max-depth= --min-depth= --exact-depth= --exclude= --size= --color= --changed-within= --changed-before= --max-results= --prune --quiet --strip-cwd-prefix? --one-file-system --threads= --base-directory@ --search-path@ --ignore-file@ --owner= --path-separator= --and="}},
		{"sha1sum sha224sum sha256sum sha384sum sha512sum md5sum b2sum cksum sum", program{kind: operandPath, notation: "-btzrs --binary --text --tag --zero"}},
		{"od", program{kind: operandPath, notation: "-abcdfhilosvx -A: -j: -N: -t: -w? --address-radix= --skip-bytes= --read-bytes= --format= --output-duplicates --width?"}},
		{"hexdump hd", program{kind: operandPath, notation: "-bcCdovx -n: -s: -e:"}},
		{"readlink", program{kind: operandPath, names: true, notation: "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero"}},
		{"realpath", program{kind: operandPath, names: true, notation: "-emLPqsz --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --no-symlinks --zero --relative-to@ --relative-base@"}},
	}
}

func filters() []entry {
	return []entry{
		{"sort", program{kind: operandPath, noGlob: true, notation: "-bdfgiMhnRrVcCmsuz -k: -t: -S: --key= --field-separator= --buffer-size= --parallel= --batch-size= --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --random-source@ --reverse --sort= --version-sort --check? --merge --stable --unique --zero-terminated --debug"}},
		{"uniq", program{kind: operandPath, most: 1, notation: "-cdDiuz -f: -s: -w: --count --repeated --all-repeated? --unique --ignore-case --skip-fields= --skip-chars= --check-chars= --group? --zero-terminated"}},
		{"cut", program{kind: operandPath, notation: "-nsz -b: -c: -d: -f: --bytes= --characters= --delimiter= --fields= --complement --only-delimited --output-delimiter= --zero-terminated"}},
		{"paste", program{kind: operandPath, notation: "-sz -d: --serial --delimiters= --zero-terminated"}},
		{"fold", program{kind: operandPath, notation: "-bs -w: -# --bytes --spaces --width="}},
		{"expand unexpand", program{kind: operandPath, notation: "-ia -t: --initial --all --first-only --tabs="}},
		{"column", program{kind: operandPath, notation: "-tnxe -s: -c: -o: --table --separator= --output-separator= --columns="}},
		{"fmt", program{kind: operandPath, notation: "-cstu -w: -p: -g: -# --width= --prefix= --goal= --crown-margin --split-only --tagged-paragraph --uniform-spacing"}},
		{"pr", program{kind: operandPath, notation: "-acdfFJmrtTv -h: -l: -o: -w: -W: -N: -D: -n? -s? -S? -e? -i? -# --columns= --across --double-space --form-feed --header= --length= --merge --indent= --no-file-warnings --omit-header --omit-pagination --width= --page-width= --number-lines?"}},
		{"tr", program{kind: operandText, notation: "-cCdst --complement --delete --squeeze-repeats --truncate-set1"}},
		{"basename", program{kind: operandText, notation: "-az -s: --multiple --suffix= --zero"}},
		{"dirname", program{kind: operandText, notation: "-z --zero"}},
		{"numfmt", program{kind: operandText, notation: "-z -d: -# --to= --from= --suffix= --format= --padding= --field= --header? --delimiter= --grouping --invalid= --round= --to-unit= --from-unit= --debug --zero-terminated"}},
		{"seq", program{kind: operandText, notation: "-w -f: -s: -# --equal-width --format= --separator="}},
		{"sed gsed", program{kind: operandPath, noGlob: true, notation: "-nErsuz -i? -e: -l: --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --debug --line-length= --expression= --in-place?", check: checkSed}},
		{"echo", program{kind: operandText, noFlags: true}},
		{"expr", program{kind: operandText, noFlags: true}},
		{"true false :", program{kind: operandText, noFlags: true}},
		{"exit return break continue", program{kind: operandText, noFlags: true, most: 1, check: checkNumbers}},
		{"printf", program{kind: operandText, noFlags: true, check: checkPrintf}},
		{"test [", program{kind: operandText, noFlags: true, names: true, check: checkTest}},
	}
}

func system() []entry {
	return []entry{
		{"pwd", program{notation: "-LP"}},
		{"which", program{kind: operandText, notation: "-as --all"}},
		{"type", program{kind: operandText, notation: "-afptP"}},
		{"command", program{kind: operandText, notation: "-vV", check: func(a *args, u *usage) {
			if !a.has("-v", "-V") {
				u.no("it runs a command")
			}
		}}},
		{"uname arch", program{notation: "-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system"}},
		{"whoami tty", program{}},
		{"hostname", program{notation: "-s"}},
		{"id groups", program{kind: operandText, notation: "-aGgnruz --user --group --groups --name --real --zero"}},
		{"sleep", program{kind: operandText, noFlags: true, check: checkSleep}},
		{"wait jobs", program{}},
		{"nproc", program{notation: "--all --ignore="}},
		{"uptime", program{notation: "-ps --pretty --since"}},
		{"date", program{kind: operandText, notation: "-uR -d: -I? -r@ --date= --iso-8601? --rfc-3339= --rfc-email --utc --universal --reference@", check: checkDate}},
		{"getconf", program{kind: operandText, notation: "-a -v:"}},
		{"tput", program{kind: operandText, check: checkTput}},
		{"pgrep", program{kind: operandText, notation: "-afilnovwxcAq -d: -g: -G: -P: -s: -t: -u: -U: --list-name --list-full --full --ignore-case --newest --oldest --exact --count --inverse --delimiter= --parent= --group= --session= --terminal= --euid= --uid= --ns= --runstates="}},
		{"lsof", program{noFlags: true, kind: operandText, check: checkLsof}},
		{"ss", program{kind: operandText, notation: "-aAlmnopstuwxe46iO0H -f: --all --listening --numeric --options --extended --memory --processes --info --summary --tcp --udp --unix --raw --ipv4 --ipv6 --no-header --oneline --family=", check: checkSs}},
		{"docker", program{noFlags: true, kind: operandText, check: checkDocker}},
		{"git", program{noFlags: true, kind: operandText, noGlob: true, check: checkGit}},
	}
}

// editors are the programs that mode acceptEdits runs inside the working directories.
func editors() []entry {
	return []entry{
		{"mkdir", program{edits: true, kind: operandWrite, notation: "-pv -m: --parents --verbose --mode="}},
		{"touch", program{edits: true, kind: operandWrite, notation: "-acmh -d: -t: -r@ --no-create --date= --time= --reference@ --no-dereference"}},
		{"rm", program{edits: true, kind: operandWrite, notation: "-dfirRvI --force --recursive --dir --verbose --interactive? --one-file-system --preserve-root"}},
		{"rmdir", program{edits: true, kind: operandWrite, notation: "-v --verbose --ignore-fail-on-non-empty"}},
		{"mv", program{edits: true, kind: operandCopy, notation: "-finuv -t> --force --interactive --no-clobber --update? --verbose --target-directory>", check: checkCopy(true)}},
		{"cp", program{edits: true, kind: operandCopy, notation: "-aRrpfinuvdPx -t> --archive --recursive --force --interactive --no-clobber --update? --verbose --preserve? --no-dereference --one-file-system --target-directory>", check: checkCopy(false)}},
	}
}

func lastSegment(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

func appended(w shell.Word, tail string) shell.Word {
	return shell.Word{Text: w.Text + tail, Pieces: append(w.Pieces[:len(w.Pieces):len(w.Pieces)], shell.Piece{Kind: shell.Lit, Text: tail})}
}
