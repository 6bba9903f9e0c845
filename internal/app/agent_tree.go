package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/internal/agent"
	"lathe/internal/file"
	"lathe/internal/git"
	"lathe/internal/hook"
	"lathe/internal/perm"
	"lathe/internal/tool"
)

// treeLimit ends a git that hangs while a work tree is made or taken away.
const treeLimit = 2 * time.Minute

// agentTree is a work tree of git of a sub-agent's own. Its JSON form is kept with the sub-agent's transcript.
type agentTree struct {
	Root   string `json:"root"`             // the checkout that it is beside
	Path   string `json:"path"`             // where it is
	Branch string `json:"branch,omitempty"` // "": a hook has made it
	Base   string `json:"base,omitempty"`   // the commit that it began with; "": not known
	Head   string `json:"head,omitempty"`   // of a hook's: the branch that it began on

	Ignored string `json:"ignored,omitempty"` // stands for the ignored files that it began with

	note *os.File // held while a sub-agent works there; see agent_sweep.go

	mu   sync.Mutex
	book *rulebook     // the rules that set was made of
	set  *perm.Ruleset // they, for this tree
}

// isolates reports whether sub-agents can have a work tree here.
func (r *run) isolates() bool { return r.place.Root != "" }

// lockTrees waits until no other git makes a work tree or takes one away.
func (w *work) lockTrees(ctx context.Context) (unlock func(), err error) {
	select {
	case w.trees <- struct{}{}:
		return func() { <-w.trees }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// openTree gives the sub-agent its work tree, and makes it where it works. One that goes on gets the tree that it had.
func (r *run) openTree(ctx context.Context) error {
	a := r.agent
	ctx, cancel := context.WithTimeout(ctx, treeLimit)
	defer cancel()
	unlock, err := r.root().work.lockTrees(ctx)
	if err != nil {
		return fmt.Errorf("isolation %s: %w", agent.Worktree, err)
	}
	defer unlock()
	if err := r.haveTree(ctx); err != nil {
		return fmt.Errorf("isolation %s: %w", agent.Worktree, err)
	}
	t := a.tree
	below, err := filepath.Rel(t.Root, r.place.Sys.Dirs.Work)
	if err != nil || !filepath.IsLocal(below) {
		below = "."
	}
	start := filepath.Join(t.Path, below)
	if !isDir(start) { // not in the commit
		start = t.Path
	}
	r.place.Move(start, t.Path)
	return nil
}

// haveTree makes the sub-agent's tree where it is not there.
func (r *run) haveTree(ctx context.Context) error {
	a := r.agent
	if a.tree != nil {
		a.tree.hold(ctx)
	}
	switch {
	case a.tree != nil && isDir(a.tree.Path):
		return nil
	case a.tree != nil && a.tree.Branch != "":
		if err := git.AddWorktree(ctx, a.tree.Root, a.tree.Path, a.tree.Branch, a.tree.Base, r.place.Trusted); err != nil {
			a.tree.letGo()
			return fmt.Errorf("its work tree %s is gone and cannot be made again: %w", a.tree.Path, err)
		}
		return nil
	case a.tree != nil && !a.parent.makesTrees():
		return fmt.Errorf("its work tree %s is gone, and no WorktreeCreate hook is there any more to make another", a.tree.Path)
	}
	tree, err := r.newTree(ctx)
	if err != nil {
		return err
	}
	a.moved = a.tree != nil
	a.tree = tree
	return nil
}

// knowsTree says why a tree that a transcript names is not one that this session would have made: a transcript may have come
// from elsewhere, and what it names would be where the sub-agent reads and writes without a question.
func (r *run) knowsTree(t *agentTree) error {
	top := r.place.Root
	if t.Root != first(top, r.place.Sys.Dirs.Work) {
		return errors.New("which belongs to another checkout than this session")
	}
	real, err := file.Resolve(t.Path)
	switch {
	case err != nil || real != filepath.Clean(t.Path):
		return errors.New("which leads elsewhere by a link")
	case t.Branch != "" && (filepath.Dir(t.Path) != filepath.Join(top, ".claude", "worktrees") || !strings.HasPrefix(t.Branch, "worktree-agent-")):
		return errors.New("which is not where work trees are made")
	case t.Branch == "" && !r.makesTrees():
		return errors.New("and no WorktreeCreate hook is there any more that could have made it")
	case within(t.Path, r.place.Sys.Dirs.Home) || within(t.Path, t.Root):
		return errors.New("which holds more than a work tree")
	}
	return nil
}

// makesTrees reports whether a hook makes the work trees of sub-agents.
func (r *run) makesTrees() bool { return r.hooks != nil && r.hooks.bus.Has(hook.WorktreeCreate, "") }

// newTree makes a tree: a WorktreeCreate hook does, else git.
func (r *run) newTree(ctx context.Context) (*agentTree, error) {
	a := r.agent
	name := "agent-" + a.id
	if a.parent.makesTrees() {
		return a.parent.hooks.createTree(ctx, name)
	}
	root := a.parent.place.Root
	if root == "" {
		return nil, fmt.Errorf("%s is in no git repository", r.place.Sys.Dirs.Work)
	}
	trusted := r.place.Trusted
	base := git.Commit(ctx, root, "HEAD")
	if r.treeBase() == "fresh" {
		base = first(git.Commit(ctx, root, "refs/remotes/origin/HEAD"), base)
	}
	if base == "" {
		return nil, errors.New("the repository has no commit yet")
	}
	dir, err := treesDir(r.root().place.Root, root)
	if err != nil {
		return nil, err
	}
	t := &agentTree{Root: root, Base: base}
	for n := 1; ; n++ { // a run that left no transcript may have left its tree
		t.Path, t.Branch = filepath.Join(dir, name), "worktree-"+name
		if n > 1 {
			t.Path, t.Branch = fmt.Sprintf("%s-%d", t.Path, n), fmt.Sprintf("%s-%d", t.Branch, n)
		}
		if _, err := os.Lstat(t.Path); err != nil && git.Commit(ctx, root, "refs/heads/"+t.Branch) == "" {
			break
		}
	}
	t.hold(ctx)
	if err := git.AddWorktree(ctx, root, t.Path, t.Branch, base, trusted); err != nil {
		t.letGo()
		return nil, err
	}
	return t, nil
}

// treesDir is the folder of the work trees, in the repository and ignored by git.
func treesDir(top, root string) (string, error) {
	top = first(top, root)
	dir := filepath.Join(top, ".claude", "worktrees")
	if !staysBelow(top, dir) {
		return "", fmt.Errorf("a link leads out of the project, in %s", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return dir, nil
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString("*\n")
	return dir, errors.Join(err, f.Close())
}

// treeBase is the setting worktree.baseRef: fresh (what the remote's default branch was when it was last fetched) or head.
func (r *run) treeBase() string {
	for _, l := range r.place.Settings.Layers { // highest first
		var in struct {
			BaseRef string `json:"baseRef"`
		}
		if json.Unmarshal(l.Keys["worktree"], &in) == nil && in.BaseRef != "" {
			return in.BaseRef
		}
	}
	return "fresh"
}

// createTree has a hook make a tree.
func (h *hooks) createTree(ctx context.Context, name string) (*agentTree, error) {
	o := h.bus.Fire(ctx, hook.Payload{Event: hook.WorktreeCreate, Fields: map[string]any{"name": name}})
	switch {
	case o.Decision != nil && o.Decision.Verdict == perm.Deny:
		return nil, errors.New("a WorktreeCreate hook refused: " + o.Decision.Reason)
	case len(o.Problems) > 0:
		return nil, errors.New(strings.Join(o.Problems, "; "))
	case !filepath.IsAbs(o.Path) || !isDir(o.Path):
		return nil, fmt.Errorf("the WorktreeCreate hook named no folder that is there, but %q", o.Path)
	}
	path, err := filepath.EvalSymlinks(o.Path)
	if err != nil {
		return nil, err
	}
	t := &agentTree{Root: first(h.r.place.Root, h.r.place.Sys.Dirs.Work), Path: path}
	if t.Ignored, err = git.Ignored(ctx, path, h.r.place.Trusted); err == nil { // else it is kept: there is no telling what is new
		t.Base, t.Head = git.Commit(ctx, path, "HEAD"), git.Branch(path)
	}
	return t, nil
}

// closeTree takes a sub-agent's tree away where nothing has come of it. Else it returns a sentence that tells where it is
// kept. What cannot be judged is kept.
func (r *run) closeTree(o *agentOutcome) (kept string) {
	t := r.agent.tree
	if t == nil {
		return ""
	}
	defer t.letGo()
	if !isDir(t.Path) {
		return ""
	}
	if err := r.dropTree(t); err != nil {
		r.warn("the work tree of a sub-agent is kept: " + err.Error())
	}
	if !isDir(t.Path) {
		return ""
	}
	o.completed.Worktree, o.completed.Branch = t.Path, t.Branch
	kept = "It worked in a git work tree of its own, which is kept: " + t.Path
	if t.Branch != "" {
		kept += ", branch " + t.Branch
	}
	return kept + "."
}

// dropTree takes a tree away if it is as it began.
func (r *run) dropTree(t *agentTree) error {
	ctx, cancel := context.WithTimeout(context.Background(), treeLimit)
	defer cancel()
	unlock, err := r.root().work.lockTrees(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if t.Base == "" {
		return nil
	}
	trusted := r.place.Trusted
	was := git.Begun{Base: t.Base, Branch: first(t.Branch, t.Head), Ignored: t.Ignored}
	untouched, err := git.Untouched(ctx, t.Path, was, trusted)
	switch {
	case err != nil || !untouched:
		return err
	case t.Branch != "":
		return git.RemoveWorktree(ctx, t.Root, t.Path, t.Branch, t.Base, trusted)
	}
	r.agent.parent.hooks.removeTree(ctx, t.Path)
	return nil
}

// removeTree has a hook take a tree away.
func (h *hooks) removeTree(ctx context.Context, path string) {
	if h != nil && h.bus.Has(hook.WorktreeRemove, "") {
		h.tell(h.bus.Fire(ctx, hook.Payload{Event: hook.WorktreeRemove, Fields: map[string]any{"worktree_path": path}}))
	}
}

// tree is the work tree that a conversation works in: its own, or that of a sub-agent above it; nil: the session's place.
func (r *run) tree() *agentTree {
	for ; r.agent != nil; r = r.agent.parent {
		if r.agent.tree != nil {
			return r.agent.tree
		}
	}
	return nil
}

// workspace is where a sub-agent with a tree works: nowhere else.
func (t *agentTree) workspace(start, home string) *tool.Workspace {
	ws := tool.NewWorkspace(t.Path, home)
	ws.SetCwd(start)
	return ws
}

// ruleset is the rules of a moment as they stand for the tree: what they say of the project holds for the copy, too.
func (r *run) ruleset() *perm.Ruleset {
	book, t := r.book.Load(), r.tree()
	if t == nil {
		return book.set
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.book == book {
		return t.set
	}
	d := r.place.Sys.Dirs
	rules := slices.Clone(book.rules)
	for i, rule := range rules {
		rules[i].Dir = t.moved(rule.Dir)
	}
	for _, rule := range book.rules { // those that name the project by its whole path
		for _, head := range []string{t.Root, strings.Replace(t.Root, d.Home, "~", 1)} {
			from := "(/" + filepath.ToSlash(head) + "/"
			if strings.HasPrefix(head, "~") {
				from = "(" + filepath.ToSlash(head) + "/"
			}
			if strings.Contains(rule.Text, from) {
				rule.Text = strings.Replace(rule.Text, from, "(/"+filepath.ToSlash(t.Path)+"/", 1)
				rules = append(rules, rule)
				break
			}
		}
	}
	set, _ := perm.Compile(rules, perm.Options{
		Start: t.moved(r.root().place.Sys.Dirs.Work), Home: d.Home, ProjectRoot: t.moved(r.root().place.Sys.Dirs.Work), Platform: platform(), Trusted: r.place.Counts(),
	})
	t.book, t.set = book, set
	return set
}

// moved is the place in the tree of a folder of the checkout; others stay where they are.
func (t *agentTree) moved(dir string) string {
	if dir == t.Root {
		return t.Path
	}
	if rel, err := filepath.Rel(t.Root, dir); dir != "" && err == nil && filepath.IsLocal(rel) && !within(t.Path, dir) {
		return filepath.Join(t.Path, rel)
	}
	return dir
}

func within(dir, path string) bool { return path == dir || file.Below(dir, path) }

// judge decides on a call. In a work tree what the rules say of the checkout itself holds beside what they say of the
// copy, and files of the checkout are not changed by the file tools: that is what the tree is for.
// The rules in more count in both looks; env has them already.
func (r *run) judge(req perm.Request, env perm.Env, more ...perm.Rule) perm.Decision {
	d := perm.Decide(req, env)
	t := r.tree()
	if t == nil || d.Verdict == perm.Deny {
		return d
	}
	if path := r.writes(req); path != "" && !within(t.Path, path) && within(t.Root, path) {
		return perm.Decision{
			Verdict: perm.Deny, Source: perm.Source{Kind: "tool"},
			Reason: fmt.Sprintf("this sub-agent works in a work tree of its own, %s: write there, not in %s", t.Path, t.Root),
		}
	}
	env.Rules = r.skillSet(r.book.Load().set).With(more...)
	if o := perm.Decide(req, env); o.Source.Kind == "rule" && (o.Verdict == perm.Deny || o.Verdict == perm.Ask && d.Verdict == perm.Allow) {
		return o
	}
	return d
}

// writes is the file that a call of a file tool would change, links resolved where the tools stage has done that.
func (r *run) writes(req perm.Request) string {
	var in struct {
		Path     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
	}
	switch req.Tool {
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		if json.Unmarshal(req.Input, &in) == nil && first(in.Path, in.Notebook) != "" {
			return first(req.Target, r.tools.workspace.Abs(first(in.Path, in.Notebook)))
		}
	}
	return ""
}
