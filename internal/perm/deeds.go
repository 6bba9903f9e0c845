package perm

import (
	"strings"
	"sync"

	"lathe/internal/shell"
)

// deed is what a program is used for, in words.
type deed struct {
	does string
	risk Risk
}

// deeds are well-known programs that the tables of readers and editors do not hold.
var deeds = sync.OnceValue(func() map[string]deed {
	all := map[string]deed{}
	for _, d := range []struct {
		names string
		deed
	}{
		{"sudo doas su pkexec run0", deed{"runs what follows with the rights of another user, of the administrator as a rule", RiskHigh}},
		{"curl wget ftp sftp scp rsync nc ncat telnet", deed{"sends data over the network, or fetches some", RiskMedium}},
		{"ssh", deed{"runs commands on another machine", RiskHigh}},
		{"npm npx pnpm yarn bun bunx pip pip3 pipx uv uvx poetry gem bundle cargo go composer", deed{"may fetch packages, and runs what they and the project say", RiskMedium}},
		{"brew apt apt-get dnf yum pacman apk snap", deed{"changes which programs this machine has", RiskHigh}},
		{"make cmake ninja just gradle mvn ant bazel rake", deed{"runs what the project's files say", RiskMedium}},
		{"python python3 node deno ruby perl php lua osascript awk", deed{"runs a program of its own, which is not looked into here", RiskMedium}},
		{"dd mkfs fdisk parted shred wipefs mount umount", deed{"writes to disks as a whole, or mounts them", RiskHigh}},
		{"shutdown reboot halt poweroff systemctl launchctl service crontab at", deed{"changes what this machine runs", RiskHigh}},
		{"kill pkill killall", deed{"ends programs that run", RiskMedium}},
		{"chmod chown chgrp setfacl", deed{"changes who may use files", RiskMedium}},
		{"docker podman docker-compose", deed{"starts or changes containers, which can reach files of this machine", RiskHigh}},
		{"kubectl helm terraform tofu ansible aws gcloud az gh glab", deed{"acts on systems outside of this machine, with your sign-in", RiskHigh}},
		{"xargs parallel", deed{"runs what follows once for each word that it is given", RiskMedium}},
		{"psql mysql sqlite3 mongosh redis-cli", deed{"reads or changes a database", RiskMedium}},
	} {
		for name := range strings.FieldsSeq(d.names) {
			all[name] = d.deed
		}
	}
	return all
})

// gitDeed is what a command of git does that does more than look.
func gitDeed(words []shell.Word) (does string, r Risk) {
	at := gitCommand(words)
	for _, w := range words[1:at] {
		if text, _ := w.Literal(); text == "-c" || strings.HasPrefix(text, "--config-env") || strings.HasPrefix(text, "--exec-path=") {
			return "runs git with settings of the command's own, which can name programs to run", RiskHigh
		}
	}
	sub, rest := "", ""
	if at < len(words) {
		sub, _ = words[at].Literal()
		rest = " " + wordsText(words[at+1:])
	}
	force := strings.Contains(rest, " -f") || strings.Contains(rest, "--force") || strings.Contains(rest, "--hard") || strings.Contains(rest, "--delete")
	switch sub {
	case "push":
		if force {
			return "replaces or deletes commits in another repository", RiskHigh
		}
		return "sends commits to another repository", RiskHigh
	case "fetch", "pull", "clone", "submodule", "remote":
		return "fetches commits over the network, and may change files here", RiskMedium
	case "clean":
		return "deletes files that git does not keep", RiskHigh
	case "reset", "checkout", "restore", "switch", "stash":
		if force {
			return "throws changes away that no commit holds", RiskHigh
		}
		return "changes files of the working tree, and may throw away what no commit holds", RiskMedium
	case "add", "commit", "merge", "rebase", "cherry-pick", "revert", "tag", "branch", "am", "apply", "mv", "rm", "init":
		return "changes the repository, and runs its hooks where it has some", RiskMedium
	case "config":
		return "changes settings of git, which can name programs to run", RiskHigh
	}
	return "may change the repository", RiskMedium
}
