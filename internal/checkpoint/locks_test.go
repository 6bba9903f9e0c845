package checkpoint_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"
)

// An edit beside a rewind holds the lock of its file when it has the file kept: neither waits for the other for ever.
func TestRewindBesideEdit(t *testing.T) {
	w := newWorld(t)
	w.outside("a.txt", "one")
	w.begin("p1")
	w.edit("a.txt", "two")
	var path sync.Mutex // of a.txt
	path.Lock()
	waits, edited, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := w.store.Apply(context.Background(), "p1", false, func(string) func() {
			close(waits)
			path.Lock()
			return path.Unlock
		})
		done <- err
	}()
	<-waits
	go func() {
		w.edit("a.txt", "three")
		path.Unlock()
		close(edited)
	}()
	select {
	case <-edited:
	case <-time.After(20 * time.Second):
		t.Fatal("the edit and the rewind wait for each other")
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(w.path("a.txt")); err != nil || string(data) != "three" {
		t.Errorf("what was written meanwhile is left alone: %q, %v", data, err)
	}
}
