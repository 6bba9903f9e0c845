package compact

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

// The limits of tool results, in characters.
const (
	resultLimit  = 50_000
	messageLimit = 200_000
	least        = 3_000 // what every result may have, whatever the others took
	headKept     = 4_000
	tailKept     = 2_000
)

// Budget keeps tool results from filling the context: one that is too large, alone or together with the other
// results of the same answer, is stored in a file and replaced by its head, its tail, its size and the path. It
// is safe for concurrent use.
type Budget struct {
	Dir    func() string // where results are stored; "" or nil: nowhere
	Limit  int           // characters of one result; 0: 50,000
	PerMsg int           // of all results of one answer; 0: 200,000
	// Clean takes secrets out of a text that is stored. Nil: it is stored as it is.
	Clean func(text string) string

	mu   sync.Mutex
	used int
}

// next starts the results of another answer.
func (b *Budget) next() {
	b.mu.Lock()
	b.used = 0
	b.mu.Unlock()
}

// Apply shortens the result of a call if it is too large. It never fails: what cannot be stored is cut, and says so.
func (b *Budget) Apply(callID, name string, res *tool.Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit, perMsg := b.Limit, b.PerMsg
	if limit <= 0 {
		limit = resultLimit
	}
	if perMsg <= 0 {
		perMsg = messageLimit
	}
	text := msg.JoinText(res.Blocks)
	n := chars(text)
	allowed := max(min(limit, perMsg-b.used), min(least, limit))
	if n > allowed {
		if b.Clean != nil {
			text = b.Clean(text)
			n = chars(text)
		}
		text = b.replace(callID, name, text, n, allowed)
		res.Blocks = withText(res.Blocks, text)
		n = chars(text)
	}
	b.used += n
}

func chars(s string) int { return utf8.RuneCountInString(s) }

// withText puts one text block in the place of all text blocks.
func withText(blocks []msg.Block, text string) []msg.Block {
	out := []msg.Block{msg.Text(text)}
	for _, blk := range blocks {
		if blk.Type != msg.TypeText {
			out = append(out, blk)
		}
	}
	return out
}

// replace stores the text and returns what the model gets instead.
func (b *Budget) replace(callID, name, text string, n, allowed int) string {
	where := ""
	path, err := b.store(callID, text)
	switch {
	case err != nil:
		where = fmt.Sprintf("It could not be stored (%v), so what is left out here is gone; call the tool again for less.", err)
	case path == "":
		where = "It is not stored, since this session keeps nothing; call the tool again for less."
	default:
		where = "It is stored in " + path + "; read parts of it with Read (offset, limit) or search it with Grep."
	}
	head, tail := headKept, tailKept
	if room := allowed - 600; room < head+tail {
		head, tail = room*2/3, room/3
	}
	first, last := cutHead(text, head), cutTail(text, tail)
	left := n - chars(first) - chars(last)
	return fmt.Sprintf("[This result of %s is too large to show: %d characters in %s. %s Its beginning and its end follow.]\n%s\n[… %d characters left out …]\n%s",
		name, n, tool.Count(strings.Count(text, "\n")+1, "line"), where, first, left, last)
}

// cutHead returns at most n characters from the start, up to a line's end where one is near.
func cutHead(s string, n int) string {
	end := offset(s, n)
	if nl := strings.LastIndexByte(s[:end], '\n'); nl > end/2 {
		end = nl
	}
	return s[:end]
}

// cutTail returns at most n characters from the end, from a line's start where one is near.
func cutTail(s string, n int) string {
	start := len(s)
	for ; n > 0 && start > 0; n-- {
		_, w := utf8.DecodeLastRuneInString(s[:start])
		start -= w
	}
	if nl := strings.IndexByte(s[start:], '\n'); nl >= 0 && nl < (len(s)-start)/2 {
		start += nl + 1
	}
	return s[start:]
}

// offset is the byte position after n characters.
func offset(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, w := utf8.DecodeRuneInString(s[at:])
		at += w
	}
	return at
}

// store writes the text to a file of its own and returns its path; "" when there is no place for it.
func (b *Budget) store(callID, text string) (string, error) {
	dir := ""
	if b.Dir != nil {
		dir = b.Dir()
	}
	if dir == "" {
		return "", nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := createNew(dir, fileName(callID))
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(f.Name()) // half a result would be taken for a whole one
		return "", err
	}
	return f.Name(), nil
}

// createNew makes a file that was not there: ids can come twice.
func createNew(dir, name string) (*os.File, error) {
	for i := 1; ; i++ {
		try := name + ".txt"
		if i > 1 {
			try = fmt.Sprintf("%s-%d.txt", name, i)
		}
		f, err := os.OpenFile(filepath.Join(dir, try), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !os.IsExist(err) || i == 1000 {
			return f, err
		}
	}
}

// fileName makes a file name of a call id, which comes from outside.
func fileName(id string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
	if name = name[:min(len(name), 80)]; name == "" {
		return "result"
	}
	return name
}
