package proc

import (
	"errors"
	"os"
	"sync"
	"unicode/utf8"
)

// OutputOptions bound an Output.
type OutputOptions struct {
	Keep   int                      // bytes of the head, and bytes of the tail, that stay in memory; 0 is 80 KB
	Save   int64                    // bytes that the file takes at most; 0 is 64 MiB
	Create func() (*os.File, error) // makes the file that takes the whole output; nil keeps none
	// Clean changes the clean text, which comes in pieces of whole lines where lines are not very long. It must not
	// keep what it is given. Nil leaves the text as it is.
	Clean func(p []byte) []byte
}

// Output collects what a program writes, as clean text: head and tail in memory, and all of it in a file as soon
// as memory does not hold it. It is an io.Writer and safe for concurrent use. Offsets and sizes count clean bytes.
type Output struct {
	mu    sync.Mutex
	opt   OutputOptions
	clean cleaner
	head  []byte
	tail  []byte // a ring, once it is full
	next  int    // where the ring goes on
	total int64

	file  *os.File
	path  string
	saved int64
	full  bool  // the file took all it may
	err   error // why there is no file, or no more of it
}

// NewOutput returns an empty Output.
func NewOutput(opt OutputOptions) *Output {
	if opt.Keep <= 0 {
		opt.Keep = 80 << 10
	}
	if opt.Save <= 0 {
		opt.Save = 64 << 20
	}
	o := &Output{opt: opt}
	o.clean.emit = o.take
	if opt.Clean != nil {
		o.clean.emit = func(p []byte) { o.take(opt.Clean(p)) }
	}
	return o
}

// Write never fails: what cannot be saved is still counted, and its tail kept.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clean.write(p)
	return len(p), nil
}

// Flush takes an unfinished last line in as it is.
func (o *Output) Flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clean.flush()
}

// Total is the number of bytes so far, without an unfinished line.
func (o *Output) Total() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// take stores clean text. The caller holds the lock.
func (o *Output) take(p []byte) {
	if o.file == nil && o.err == nil && o.total+int64(len(p)) > int64(2*o.opt.Keep) {
		o.spill()
	}
	o.save(p)
	o.total += int64(len(p))
	if room := o.opt.Keep - len(o.head); room > 0 {
		n := min(room, len(p))
		o.head = append(o.head, p[:n]...)
		p = p[n:]
	}
	if len(p) > o.opt.Keep {
		p = p[len(p)-o.opt.Keep:]
	}
	if room := o.opt.Keep - len(o.tail); room > 0 {
		n := min(room, len(p))
		o.tail = append(o.tail, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(o.tail[o.next:], p)
		p = p[n:]
		o.next = (o.next + n) % o.opt.Keep
	}
}

// spill makes the file and moves to it what came so far, which memory still holds.
func (o *Output) spill() {
	if o.opt.Create == nil {
		return
	}
	if o.file, o.err = o.opt.Create(); o.err != nil {
		o.file = nil
		return
	}
	o.path = o.file.Name()
	o.save(o.head)
	o.save(o.lastBytes())
}

func (o *Output) save(p []byte) {
	if o.file == nil || o.err != nil || o.full || len(p) == 0 {
		return
	}
	if room := o.opt.Save - o.saved; int64(len(p)) > room {
		p = wholeRunes(p[:room])
		o.full = true
	}
	n, err := o.file.Write(p)
	o.saved += int64(n)
	o.err = err
}

// lastBytes returns what the ring holds, in order.
func (o *Output) lastBytes() []byte {
	return append(append(make([]byte, 0, len(o.tail)), o.tail[o.next:]...), o.tail[:o.next]...)
}

// Save makes sure that there is a file with the output so far and tells its path and size. Later output is added
// to it. It fails when there can be no file, or when writing failed; a file that reached its limit is no failure.
func (o *Output) Save() (path string, size int64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clean.flush()
	if o.file == nil && o.err == nil {
		o.spill()
	}
	if o.err == nil && o.path == "" {
		return "", 0, errors.New("no file was asked for")
	}
	return o.path, o.saved, o.err
}

// Excerpt is head and tail of an output. Head is all of it when nothing is omitted.
type Excerpt struct {
	Head, Tail string
	Omitted    int64 // bytes between them
}

// Excerpt returns the output within limit bytes, which are shared evenly by head and tail when that is too few.
// Limits above Keep count as Keep.
func (o *Output) Excerpt(limit int) Excerpt {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clean.flush()
	limit = min(limit, o.opt.Keep)
	last := o.lastBytes()
	if o.total <= int64(limit) {
		return Excerpt{Head: string(o.head) + string(last)}
	}
	head := wholeRunes(o.head[:min(limit/2, len(o.head))])
	all := last
	if o.total <= int64(2*o.opt.Keep) {
		all = append(append([]byte(nil), o.head...), last...)
	}
	tail := runeStart(all[max(0, len(all)-limit/2):])
	return Excerpt{Head: string(head), Tail: string(tail), Omitted: o.total - int64(len(head)+len(tail))}
}

// Since returns the output from offset on, but at most its last limit bytes, and where to go on the next time.
// skipped counts the bytes left out before it. An unfinished line is not part of it.
func (o *Output) Since(offset int64, limit int) (text string, next, skipped int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if offset >= o.total {
		return "", o.total, 0
	}
	last := o.lastBytes()
	if o.total <= int64(2*o.opt.Keep) {
		last = append(append([]byte(nil), o.head...), last...)
	}
	from := max(offset, 0, o.total-int64(min(limit, len(last))))
	part := runeStart(last[int64(len(last))-(o.total-from):])
	return string(part), o.total, o.total - int64(len(part)) - max(offset, 0)
}

// Close closes the file. The Output may still be read.
func (o *Output) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clean.flush()
	if o.file == nil {
		return nil
	}
	err := o.file.Close()
	o.file, o.opt.Create = nil, nil
	return err
}

// wholeRunes cuts a character that is not complete off the end.
func wholeRunes(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// runeStart cuts the rest of a character off the start.
func runeStart(b []byte) []byte {
	for len(b) > 0 && !utf8.RuneStart(b[0]) {
		b = b[1:]
	}
	return b
}
