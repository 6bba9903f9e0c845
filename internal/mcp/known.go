package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"lathe/internal/file"
)

// Known remembers what the servers of one project said of themselves when they were first met: the definitions of their
// tools and their instructions. The user trusted the entry of a server, and with it these; a server that says something
// else later is not believed until the user agrees. It is a file of the state directory. Its methods are safe for
// concurrent use.
type Known struct {
	file    string
	project string

	mu      sync.Mutex
	read    bool
	servers map[string]map[string]string // by server, by name of the tool: a hash
	fresh   map[string]map[string]string // of these, what is not in the file yet
}

// knownInstructions stands for a server's instructions; no tool has this name.
const knownInstructions = " instructions"

// knownPrograms stands for the project's own programs that a server's entry starts.
const knownPrograms = " programs"

// Meet takes what servers would start for what the user agreed to. It comes after Forget.
func (k *Known) Meet(servers []Config, programs func(command string, args []string) string) error {
	for _, c := range servers {
		k.admits(c.Name, knownPrograms, programs(c.runs()))
	}
	return k.save()
}

// knownFile is the file: by project, by server.
type knownFile map[string]map[string]map[string]string

// NewKnown returns what is known of a project's servers. Nothing is read before it is needed.
func NewKnown(state, project string) *Known {
	return &Known{file: filepath.Join(state, "mcp-known.json"), project: project}
}

// admits reports whether a server says of something what it said at first.
func (k *Known) admits(server, name, said string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.read {
		k.read = true
		if k.servers = k.load()[k.project]; k.servers == nil { // a file that cannot be read knows nothing
			k.servers = map[string]map[string]string{}
		}
		k.fresh = map[string]map[string]string{}
	}
	sum := sha256.Sum256([]byte(said))
	now := hex.EncodeToString(sum[:])
	if before, ok := k.servers[server][name]; ok {
		return before == now
	}
	for _, m := range []map[string]map[string]string{k.servers, k.fresh} {
		if m[server] == nil {
			m[server] = map[string]string{}
		}
		m[server][name] = now
	}
	return true
}

func (t Tool) said() string {
	return string(t.Schema) + "\x00" + t.Title + "\x00" + t.Description
}

func (k *Known) load() knownFile {
	all, _ := k.parse()
	return all
}

func (k *Known) parse() (knownFile, error) {
	all := knownFile{}
	b, err := os.ReadFile(k.file)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil || all == nil {
		return knownFile{}, err
	}
	return all, nil
}

// save writes down what was met for the first time.
func (k *Known) save() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.fresh) == 0 {
		return nil
	}
	err := k.change(func(mine map[string]map[string]string) {
		for server, names := range k.fresh {
			if mine[server] == nil {
				mine[server] = map[string]string{}
			}
			for name, sum := range names {
				mine[server][name] = sum
			}
		}
	})
	if err == nil {
		k.fresh = map[string]map[string]string{}
	}
	return err
}

// Forget takes a server at its word anew, the next time that it is asked: the user agrees to what it says then. Without a
// name it does so for all servers of the project.
func (k *Known) Forget(server string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	forget := func(m map[string]map[string]string) {
		if server == "" {
			clear(m)
		}
		delete(m, server)
	}
	forget(k.servers)
	forget(k.fresh)
	return k.change(forget)
}

// change rewrites the project's part of the file.
func (k *Known) change(f func(mine map[string]map[string]string)) error {
	if err := os.MkdirAll(filepath.Dir(k.file), 0o700); err != nil {
		return fmt.Errorf("remember the MCP servers of the project: %w", err)
	}
	defer file.Lock(context.Background(), k.file)()
	all, err := k.parse()
	if err != nil {
		return fmt.Errorf("%s is damaged: %w. Remove it", k.file, err)
	}
	if all[k.project] == nil {
		all[k.project] = map[string]map[string]string{}
	}
	f(all[k.project])
	if len(all[k.project]) == 0 {
		delete(all, k.project)
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = replaceFile(k.file, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("remember the MCP servers of the project: %w", err)
	}
	return nil
}

// proven reports whether the project's own programs that an entry of it starts are those that the user agreed to.
func (sv *server) proven() error {
	d := sv.set.deps
	if d.Known == nil || d.Programs == nil || sv.cfg.Scope != Project || d.Known.admits(sv.cfg.Name, knownPrograms, d.Programs(sv.cfg.runs())) {
		return nil
	}
	return unprovenError{sv.cfg.Name}
}

// unprovenError says that what an entry of the project starts is not what the user agreed to.
type unprovenError struct{ server string }

func (e unprovenError) Error() string {
	return fmt.Sprintf("it was not started: a program of the project that its entry names is not the one that you trusted; look at it, and agree by /mcp accept %s, or lathe trust", e.server)
}

// believes reports whether what the server says of something may count.
func (c *connection) believes(name, said string) bool {
	k := c.sv.set.deps.Known
	return k == nil || c.sv.cfg.Scope != Project || k.admits(c.sv.cfg.Name, name, said)
}
