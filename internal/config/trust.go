package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Trust is the user's list of directories whose settings may grant and run things. It is a file in the state
// directory, which only the user can write.
type Trust struct{ file string }

// NewTrust returns the list below a state directory.
func NewTrust(state string) Trust { return Trust{file: filepath.Join(state, "trust.json")} }

// Trusted is one entry: when the directory was trusted, and what with.
type Trusted struct {
	At   time.Time `json:"at"`
	Hash string    `json:"hash"` // of the grants that were approved, see GrantsHash

	// Rules says that the directory itself was never trusted: only what the user's own lasting answers saved in its
	// settings was approved, and the settings grant nothing else.
	Rules bool `json:"rules,omitempty"`

	// Seen is what was approved, to tell later what is new.
	Seen Seen `json:"seen,omitempty"`
}

type trustFile struct {
	Directories map[string]Trusted `json:"directories"` // by absolute path
}

// Get returns the entry of the directory itself: the root of a repository, or the directory that the session starts
// in where there is none. A directory above it does not count.
func (t Trust) Get(dir string) (Trusted, bool) {
	f, err := t.read()
	if err != nil {
		return Trusted{}, false
	}
	e, ok := f.Directories[dir]
	return e, ok
}

// Add trusts a directory, with what its files grant now.
func (t Trust) Add(dir string, grants []Grant, now time.Time) error {
	return t.add(dir, Trusted{At: now.UTC(), Hash: GrantsHash(grants, dir), Seen: seenOf(Parts(grants), dir)})
}

// AddRules approves what the settings of a directory grant now, without trust in the directory.
func (t Trust) AddRules(dir string, grants []Grant, now time.Time) error {
	return t.add(dir, Trusted{At: now.UTC(), Hash: GrantsHash(grants, dir), Seen: seenOf(Parts(grants), dir), Rules: true})
}

func (t Trust) add(dir string, e Trusted) error {
	f, err := t.read()
	if err != nil {
		return err
	}
	f.Directories[dir] = e
	return t.write(f)
}

// Remove no longer trusts a directory.
func (t Trust) Remove(dir string) error {
	f, err := t.read()
	if err != nil {
		return err
	}
	delete(f.Directories, dir)
	return t.write(f)
}

// List returns the trusted directories.
func (t Trust) List() (map[string]Trusted, error) {
	f, err := t.read()
	return f.Directories, err
}

func (t Trust) read() (trustFile, error) {
	out := trustFile{Directories: map[string]Trusted{}}
	b, err := os.ReadFile(t.file)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("read the list of trusted directories: %w", err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return out, fmt.Errorf("%s is damaged: %w. Remove it and trust your directories again", t.file, err)
	}
	if out.Directories == nil {
		out.Directories = map[string]Trusted{}
	}
	return out, nil
}

func (t Trust) write(f trustFile) error {
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.file), 0o700); err != nil {
		return fmt.Errorf("keep trust: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(t.file), ".trust-*") // 0600
	if err != nil {
		return fmt.Errorf("keep trust: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(b, '\n'))
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), t.file)
	}
	if err != nil {
		return fmt.Errorf("keep trust: %w", err)
	}
	return nil
}
