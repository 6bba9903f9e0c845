package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// pack holds the contents that commands might change, one behind the other in one file: thousands of files are copied
// in a moment so, of which few are ever needed. It lasts as long as the process.
type pack struct {
	f *os.File

	mu    sync.Mutex
	size  int64
	where map[string]span // by hash
}

type span struct{ at, size int64 }

// newPack makes a pack, locked by this process.
func newPack(dir string) (*pack, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := createFile(filepath.Join(dir, fmt.Sprintf("pack-%d-%x", os.Getpid(), time.Now().UnixNano())))
	if err != nil {
		return nil, err
	}
	tryLock(f)
	return &pack{f: f, where: map[string]span{}}, nil
}

func (p *pack) add(sum string, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.where[sum]; ok {
		return nil
	}
	if _, err := p.f.WriteAt(data, p.size); err != nil {
		return err
	}
	p.where[sum] = span{p.size, int64(len(data))}
	p.size += int64(len(data))
	return nil
}

// get reads a content, and makes sure that it is the one.
func (p *pack) get(sum string) ([]byte, error) {
	if p == nil {
		return nil, errors.New("no copy was made of it")
	}
	s, ok := p.find(sum)
	if !ok {
		return nil, errors.New("no copy was made of it")
	}
	data := make([]byte, s.size)
	if _, err := p.f.ReadAt(data, s.at); err != nil {
		return nil, err
	}
	if hash(data) != sum {
		return nil, errors.New("its copy is damaged")
	}
	return data, nil
}

func (p *pack) find(sum string) (span, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.where[sum]
	return s, ok
}

// full reports whether n bytes more are too many.
func (p *pack) full(n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size+n > packMost
}

// close removes the pack.
func (p *pack) close() {
	if p != nil {
		_ = p.f.Close()
		_ = os.Remove(p.f.Name())
	}
}
