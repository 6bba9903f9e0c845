package git

import (
	"context"
	"strconv"
	"strings"
)

// Changed is one file that differs from the last commit.
type Changed struct {
	Path    string `json:"path"`  // relative to the top, with slashes
	Added   int    `json:"added"` // lines; -1 for a binary file
	Removed int    `json:"removed"`
	New     bool   `json:"new,omitempty"` // git does not know it
}

// emptyTree is what a repository without a commit is compared with.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Changes lists what differs from the last commit, and the whole difference of the files that git knows, in at most
// limit bytes. It runs nothing that the repository's own configuration names.
func Changes(ctx context.Context, root string, limit int) (files []Changed, diff string, err error) {
	env, err := withoutFilters(ctx, root)
	if err != nil {
		return nil, "", err
	}
	from := "HEAD"
	if _, err := Run(ctx, root, "rev-parse", "--verify", "-q", "HEAD"); err != nil {
		from = emptyTree
	}
	plain := []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=all", "--submodule=short"}
	stat, err := run(ctx, root, env, append(plain, "--numstat", "-z", from, "--")...)
	if err != nil {
		return nil, "", err
	}
	for _, line := range strings.Split(stat, "\x00") {
		part := strings.SplitN(line, "\t", 3)
		if len(part) == 3 {
			files = append(files, Changed{Path: part[2], Added: number(part[0]), Removed: number(part[1])})
		}
	}
	others, err := Run(ctx, root, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, "", err
	}
	for _, path := range strings.Split(others, "\x00") {
		if path != "" {
			files = append(files, Changed{Path: path, New: true})
		}
	}
	if diff, err = run(ctx, root, env, append(plain, from, "--")...); err != nil {
		return nil, "", err
	}
	if len(diff) > limit {
		cut := strings.LastIndexByte(diff[:limit], '\n')
		diff = diff[:max(0, cut)] + "\n[cut here: " + strconv.Itoa(len(diff)) + " bytes in all]"
	}
	return files, strings.ToValidUTF8(diff, "\ufffd"), nil
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}
