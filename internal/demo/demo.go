package demo

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"lathe/internal/git"
)

//go:embed repo.txtar
var repo []byte

// Recording is the session that answers.
//
//go:embed recording.jsonl
var Recording []byte

// Prompt is what the user asks in the demo.
const Prompt = "A test in this repository fails. Find the cause, fix it, and show that all tests pass."

// gitLimit is how long the repository's first commit may take.
const gitLimit = 10 * time.Second

// Copy writes the repository into dir and makes it a git repository where git is there.
func Copy(ctx context.Context, dir string) error {
	for _, f := range txtar.Parse(repo).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("copy the demo's repository: %w", err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return fmt.Errorf("copy the demo's repository: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "."},
		{"-c", "user.name=Demo", "-c", "user.email=demo@example.test", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "Count words"},
	} {
		if _, err := git.Run(ctx, dir, args...); err != nil {
			return nil // no git: the demo works without
		}
	}
	return nil
}
