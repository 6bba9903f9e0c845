package normalize

import (
	"fmt"

	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/token"
)

// The API's limits on images and documents.
const (
	mediaLong  = 600 // in models with a window over 200,000 tokens
	mediaShort = 100
	mediaBytes = 10 << 20 // of one, as base64
	totalBytes = 30 << 20 // of the request: 32 MB less room for JSON escapes
	maxEdge    = 8000     // pixels
	manyImages = 20       // above so many, the edge is limited further
	manyEdge   = 3000
)

func (l Limits) withDefaults(m price.Info) Limits {
	if l.Media == 0 {
		l.Media = mediaShort
		if m.Window > 200_000 {
			l.Media = mediaLong
		}
	}
	if l.MediaBytes == 0 {
		l.MediaBytes = mediaBytes
	}
	if l.TotalBytes == 0 {
		l.TotalBytes = totalBytes
	}
	return l
}

// media returns the image or document, or a text that says why it cannot be sent. It looks at this block only,
// so what it decides never changes.
func (b *builder) media(blk msg.Block, answer bool, from string) msg.Block {
	why := ""
	switch s := blk.Source; {
	case b.Flatten:
		why = "only text is sent"
	case answer:
		why = "answers hold none"
	case s == nil:
		why = "it has no source"
	case s.Type == "base64" && s.Data == "" || s.Type == "text" && blank(s.Data) || s.Type == "url" && s.URL == "" || s.Type == "file" && s.FileID == "":
		why = "it is empty"
	case s.Type == "base64" || s.Type == "text":
		why = b.refuseData(blk)
	case s.Type != "url" && s.Type != "file":
		why = "its source is unknown"
	}
	if why == "" {
		blk.Raw = nil
		return blk
	}
	b.note(8, from, "replaced a %s by a text: %s", blk.Type, why)
	if blk.Type == msg.TypeImage {
		return msg.Text(fmt.Sprintf(badImage, why))
	}
	return msg.Text(fmt.Sprintf(badDocument, why))
}

func (b *builder) refuseData(blk msg.Block) string {
	s := blk.Source
	if blk.Type == msg.TypeDocument {
		switch {
		case s.Type == "base64" && s.MediaType != "application/pdf" || s.Type == "text" && s.MediaType != "text/plain":
			return "its type is not supported"
		case len(s.Data) > b.Limits.TotalBytes:
			return "it is too large"
		}
		return ""
	}
	switch s.MediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return "its type is not supported"
	}
	if s.Type != "base64" {
		return "its source is unknown"
	}
	if len(s.Data) > b.Limits.MediaBytes {
		return "it is too large"
	}
	if len(s.Data) > 64<<10 { // a smaller one cannot have that many pixels and be worth the look
		if w, h, ok := token.ImageSize(s.Data); ok && max(w, h) > maxEdge {
			return "it has too many pixels"
		}
	}
	return ""
}

// unit is one image or document in the request.
type unit struct {
	group int
	block *msg.Block // in a copy that is ours
	bytes int
	image bool
}

// limitMedia drops the oldest images and documents while there are too many (rule 8). Each drop edits what was
// sent before, which costs the cache and the thinking behind it; so they go in steps of a quarter of the limit,
// and between two steps the output stays append-only. Thinking that is older than the step goes with it; what
// came later was made with the edit in place and stays.
func (b *builder) limitMedia() {
	units, total, crossed := b.units()
	if len(units) == 0 {
		return
	}
	drop, edited := 0, -1 // units to drop; the last group that was sent without the edit ends before this one
	if over := len(units) - b.Limits.Media; over > 0 {
		step := max(b.Limits.Media/4, 1)
		steps := (over + step - 1) / step
		drop = min(steps*step, len(units))
		edited = units[b.Limits.Media+(steps-1)*step].group
	}
	if over := total - b.Limits.TotalBytes; over > 0 {
		step := max(b.Limits.TotalBytes/4, 1)
		steps := (over + step - 1) / step
		n, sum := 0, 0
		for n < len(units) && sum < steps*step {
			sum += units[n].bytes
			n++
		}
		drop = max(drop, n)
		edited = max(edited, crossed(b.Limits.TotalBytes+(steps-1)*step))
	}
	for _, u := range units[:drop] {
		u.replace()
	}
	first := 0
	if drop > 0 {
		first = units[0].group
		b.note(8, "", "removed the %d oldest of %d images and documents: over the limit", drop, len(units))
	}
	if at, by := b.limitEdges(units, drop); by >= 0 {
		if drop == 0 {
			first = at
		}
		first, edited = min(first, at), max(edited, by)
	}
	b.dropThinking(first, edited)
}

// limitEdges replaces images with too many pixels once there are many; those before skip are gone already. It
// returns the first group that it changed, and the group that made them many; -1 when it changed nothing.
func (b *builder) limitEdges(units []unit, skip int) (first, by int) {
	images := 0
	by = -1
	for _, u := range units {
		if u.image {
			if images++; images == manyImages+1 {
				by = u.group
			}
		}
	}
	if by < 0 {
		return 0, -1
	}
	first = -1
	for _, u := range units[skip:] {
		if !u.image || u.block.Source.Type != "base64" {
			continue
		}
		if w, h, ok := token.ImageSize(u.block.Source.Data); ok && max(w, h) > manyEdge {
			if first < 0 {
				first = u.group
			}
			u.replace()
		}
	}
	if first < 0 {
		return 0, -1
	}
	b.note(8, "", "removed images of more than %d pixels: there are more than %d images", manyEdge, manyImages)
	return first, by
}

func (u unit) replace() {
	if u.image {
		*u.block = msg.Text(goneImage)
		return
	}
	*u.block = msg.Text(goneDocument)
}

// dropThinking drops the thinking of the groups from first on that came before the group end.
func (b *builder) dropThinking(first, end int) {
	for i := first; i < end; i++ {
		g := b.groups[i]
		kept := g.items[:0:0]
		for _, it := range g.items {
			if it.IsThinking() {
				b.note(7, it.from, "dropped thinking behind a removed image or document")
				continue
			}
			kept = append(kept, it)
		}
		g.items = kept
	}
}

// units lists images and documents in order, the bytes of the request, and a function that tells in which group
// the sum of bytes first goes over n.
func (b *builder) units() (units []unit, total int, crossed func(n int) int) {
	sums := make([]int, len(b.groups))
	for gi, g := range b.groups {
		for i := range g.items {
			it := &g.items[i]
			total += size(it.Block)
			if it.Type == msg.TypeImage || it.Type == msg.TypeDocument {
				units = append(units, unit{gi, &it.Block, size(it.Block), it.Type == msg.TypeImage})
			}
			if it.Type != msg.TypeToolResult {
				continue
			}
			copied := false
			for j := range it.Content {
				if t := it.Content[j].Type; t != msg.TypeImage && t != msg.TypeDocument {
					continue
				}
				if !copied {
					it.Content, copied = append([]msg.Block(nil), it.Content...), true
				}
				units = append(units, unit{gi, &it.Content[j], size(it.Content[j]), it.Content[j].Type == msg.TypeImage})
			}
		}
		sums[gi] = total
	}
	return units, total, func(n int) int {
		for gi, s := range sums {
			if s > n {
				return gi
			}
		}
		return len(sums) - 1
	}
}

// size is about what the block takes in the request, in bytes.
func size(blk msg.Block) int {
	if blk.Raw != nil {
		return len(blk.Raw)
	}
	n := len(blk.Text) + len(blk.Signature) + len(blk.Data) + len(blk.Input) + len(blk.Name) + 40
	if blk.Source != nil {
		n += len(blk.Source.Data) + len(blk.Source.URL)
	}
	for _, c := range blk.Content {
		n += size(c)
	}
	return n
}
