package jsonl

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
)

// file is a session file, cut into records.
type file struct {
	lines []line
	bad   int  // lines that are no JSON at all
	odd   int  // lines that are JSON, but no object
	torn  bool // the last line has no end
}

// chunkSize is how much one worker reads and scans at a time.
const chunkSize = 1 << 20

// readFile reads a session file as it is now; what others append meanwhile is not seen.
func readFile(path string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open session: %s is not a regular file", path)
	}
	buf, err := readAll(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", path, err)
	}
	return scan(buf), nil
}

// readAll reads size bytes with several workers, which for large files is a good part of the time.
func readAll(f io.ReaderAt, size int64) ([]byte, error) {
	buf := make([]byte, size)
	n := int((size + chunkSize - 1) / chunkSize)
	errs := make([]error, n)
	got := make([]int, n)
	parallel(n, func(i int) {
		start := int64(i) * chunkSize
		end := min(start+chunkSize, size)
		got[i], errs[i] = f.ReadAt(buf[start:end], start)
	})
	total := 0
	for i, err := range errs {
		total += got[i]
		if err == io.EOF { // the file became shorter meanwhile
			return buf[:total], nil
		}
		if err != nil {
			return nil, err
		}
	}
	return buf, nil
}

// scan cuts the bytes of a file into records, in order.
func scan(buf []byte) *file {
	buf = bytes.TrimPrefix(buf, []byte("\ufeff"))
	parts := split(buf)
	files := make([]file, len(parts))
	parallel(len(parts), func(i int) { files[i].scan(parts[i]) })
	if len(files) == 1 {
		files[0].torn = !bytes.HasSuffix(buf, []byte("\n"))
		return &files[0]
	}
	all := &file{torn: len(buf) > 0 && buf[len(buf)-1] != '\n'}
	n := 0
	for i := range files {
		n += len(files[i].lines)
	}
	all.lines = make([]line, 0, n)
	for i := range files {
		all.lines = append(all.lines, files[i].lines...)
		all.bad += files[i].bad
		all.odd += files[i].odd
	}
	return all
}

// split cuts at line ends into parts of about chunkSize.
func split(buf []byte) [][]byte {
	var parts [][]byte
	for len(buf) > chunkSize {
		i := bytes.IndexByte(buf[chunkSize:], '\n')
		if i < 0 {
			break
		}
		parts = append(parts, buf[:chunkSize+i+1])
		buf = buf[chunkSize+i+1:]
	}
	if len(buf) > 0 {
		parts = append(parts, buf)
	}
	return parts
}

func (f *file) scan(part []byte) {
	f.lines = make([]line, 0, len(part)/2048+8)
	for len(part) > 0 {
		text := part
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			text, part = part[:i:i], part[i+1:]
		} else {
			text, part = part[:len(part):len(part)], nil
		}
		f.add(text)
	}
}

func (f *file) add(text []byte) {
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return
	}
	text = text[:len(text):len(text)]
	l, ok := parseLine(text)
	if !ok {
		if isValue(text) {
			f.odd++
			return
		}
		f.bad++
		if l, ok = rescue(text); !ok {
			return
		}
	}
	f.lines = append(f.lines, l)
}

// parallel runs fn(0) to fn(n-1) on all processors and waits for them.
func parallel(n int, fn func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			fn(i)
		}
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				fn(i)
			}
		})
	}
	wg.Wait()
}
