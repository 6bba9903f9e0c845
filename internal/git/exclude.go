package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Exclude makes git leave out a file of the work tree, in the list that is the user's alone (info/exclude of the
// repository). It does nothing where git ignores the file already. root is the top of the work tree, path is below it.
func Exclude(ctx context.Context, root, path string) error {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s is not in the work tree %s", path, root)
	}
	if _, err := Run(ctx, root, "check-ignore", "--quiet", "--", filepath.ToSlash(rel)); err == nil {
		return nil
	}
	dir, err := commonDir(root)
	if err != nil {
		return err
	}
	return addLine(filepath.Join(dir, "info", "exclude"), "/"+literal(filepath.ToSlash(rel)))
}

// literal quotes what a pattern of an exclude list would take for something else.
func literal(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// commonDir is the folder that the work trees of a repository share.
func commonDir(root string) (string, error) {
	dir := filepath.Dir(IndexFile(root))
	if link, err := readRegular(filepath.Join(dir, "commondir")); err == nil { // of a further work tree
		common := strings.TrimSpace(string(link))
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		dir = filepath.Clean(common)
	}
	if _, err := readRegular(filepath.Join(dir, "HEAD")); err != nil {
		return "", fmt.Errorf("%s is no git repository: %w", dir, err)
	}
	return dir, nil
}

// addLine adds a line to a file, unless it is there. Only a regular file is written.
func addLine(name, line string) error {
	old, err := readRegular(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	for l := range bytes.Lines(old) {
		if strings.TrimRight(string(l), "\r\n") == line {
			return nil
		}
	}
	if len(old) > 0 && old[len(old)-1] != '\n' {
		line = "\n" + line
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}
