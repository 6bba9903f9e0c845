package event

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// Lines are taken while the other side reads nothing, and come out whole and in their order.
func TestOutput(t *testing.T) {
	r, w := io.Pipe()
	o := NewOutput(w)
	want := ""
	for i := range 1000 {
		line := fmt.Sprintf("line %d", i)
		o.Put([]byte(line))
		want += line + "\n"
	}
	got := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(r)
		got <- string(all)
	}()
	if err := o.Flush(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if g := <-got; g != want {
		t.Errorf("%d bytes of %d", len(g), len(want))
	}
}

// Lines of several goroutines never mix.
func TestOutputTogether(t *testing.T) {
	var b strings.Builder
	o := NewOutput(&b)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				o.Put([]byte("<line>"))
				if i%10 == 0 {
					_ = o.Flush()
				}
			}
		})
	}
	wg.Wait()
	if err := o.Flush(); err != nil {
		t.Fatal(err)
	}
	if b.String() != strings.Repeat("<line>\n", 800) {
		t.Error("lines are mixed or lost")
	}
}

// fails takes two writes.
type fails struct{ n int }

func (f *fails) Write(p []byte) (int, error) {
	if f.n++; f.n > 2 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// After a write that failed nothing is written, and everybody is told of it.
func TestOutputFails(t *testing.T) {
	f := &fails{}
	o := NewOutput(f)
	var err error
	for range 5 {
		o.Put([]byte("x"))
		err = o.Flush()
	}
	if !errors.Is(err, io.ErrClosedPipe) || f.n != 3 {
		t.Errorf("after %d writes: %v", f.n, err)
	}
}
