package search

import (
	"context"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
)

// task is one folder to read or, with files set, a part of a large folder's files.
type task struct {
	abs   string // the folder
	rel   string // relative to the search root, slashes, "" for the root
	scope *scope
	state []int   // glob: how far the pattern has come (see glob.go)
	files []entry // set: only these files of the folder
}

func (t *task) child(name string) task {
	return task{abs: filepath.Join(t.abs, name), rel: joinPath(t.rel, name), scope: t.scope}
}

// crew shares tasks among workers. A worker that has none left waits for the others; when all wait, all is done.
type crew struct {
	mu      sync.Mutex
	more    sync.Cond
	tasks   []task
	waiting int
	size    int
	stopped atomic.Bool
}

// crewSize is how many workers search: one a processor, since the files of a project are mostly in memory.
func crewSize() int { return min(max(runtime.GOMAXPROCS(0), 2), 16) }

// walk gives first and everything that is pushed to workers, until nothing is left or ctx ends. start is called
// once for each worker, on its goroutine, and returns what handles a task and what to do at the end. Handlers run
// concurrently. walk returns when all workers have.
func walk(ctx context.Context, first task, start func(c *crew) (handle func(task), finish func())) error {
	c := &crew{size: crewSize(), tasks: []task{first}}
	c.more.L = &c.mu
	stop := context.AfterFunc(ctx, c.stop)
	defer stop()
	var wg sync.WaitGroup
	for range c.size {
		wg.Go(func() {
			handle, finish := start(c)
			defer finish()
			for {
				t, ok := c.next()
				if !ok {
					return
				}
				handle(t)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

func (c *crew) stop() {
	c.mu.Lock()
	c.stopped.Store(true)
	c.more.Broadcast()
	c.mu.Unlock()
}

func (c *crew) next() (task, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.tasks) == 0 && !c.stopped.Load() {
		c.waiting++
		if c.waiting == c.size {
			c.stopped.Store(true)
			c.more.Broadcast()
			return task{}, false
		}
		c.more.Wait()
		c.waiting--
	}
	if c.stopped.Load() {
		return task{}, false
	}
	t := c.tasks[len(c.tasks)-1]
	c.tasks[len(c.tasks)-1] = task{}
	c.tasks = c.tasks[:len(c.tasks)-1]
	return t, true
}

// push adds tasks.
func (c *crew) push(t ...task) {
	if len(t) == 0 {
		return
	}
	c.mu.Lock()
	c.tasks = append(c.tasks, t...)
	if c.waiting > 0 {
		c.more.Broadcast()
	}
	c.mu.Unlock()
}
