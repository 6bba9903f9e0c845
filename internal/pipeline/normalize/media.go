package normalize

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"

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

// verdict is what is known of a source: the one to send, or why there is none.
type verdict struct {
	source *msg.Source
	why    string
}

// media returns the image or document, or a text that says why it cannot be sent. It looks at this block only,
// so what it decides never changes.
func (b *builder) media(blk msg.Block, answer bool, from string) msg.Block {
	v := verdict{}
	switch {
	case b.Flatten:
		v.why = "only text is sent"
	case answer:
		v.why = "answers hold none"
	case blk.Source == nil:
		v.why = "it has no source"
	default:
		v = b.judge(blk)
	}
	if v.why == "" {
		return msg.Block{Type: blk.Type, Source: v.source}
	}
	b.note(8, from, "replaced a %s by a text: %s", blk.Type, v.why)
	if blk.Type == msg.TypeImage {
		return msg.Text(fmt.Sprintf(badImage, v.why))
	}
	return msg.Text(fmt.Sprintf(badDocument, v.why))
}

// judge looks at a source once; decoding images on each pass would cost more than all the rest.
func (b *builder) judge(blk msg.Block) verdict {
	if v, ok := b.memo.sources[blk.Source]; ok {
		return v
	}
	v := verdict{source: blk.Source}
	switch s := blk.Source; s.Type {
	case "url":
		if s.URL == "" {
			v.why = "it is empty"
		}
	case "file":
		if s.FileID == "" {
			v.why = "it is empty"
		}
	case "text":
		if blk.Type != msg.TypeDocument || s.MediaType != "text/plain" {
			v.why = "its type is not supported"
		} else if blank(s.Data) {
			v.why = "it is empty"
		}
	case "base64":
		v = b.judgeData(blk.Type, *s)
	default:
		v.why = "its source is unknown"
	}
	b.memo.sources[blk.Source] = v
	return v
}

// judgeData decodes what is sent inline: one damaged image and the API takes the conversation no more.
func (b *builder) judgeData(blockType string, s msg.Source) verdict {
	most := b.Limits.MediaBytes
	if blockType == msg.TypeDocument {
		most = b.Limits.TotalBytes
	}
	if len(s.Data) > most {
		return verdict{why: "it is too large"}
	}
	data, err := base64.StdEncoding.DecodeString(s.Data)
	switch {
	case err != nil:
		return verdict{why: "its data is damaged"}
	case len(data) == 0:
		return verdict{why: "it is empty"}
	case blockType == msg.TypeDocument:
		if s.MediaType != "application/pdf" || !bytes.HasPrefix(data, []byte("%PDF-")) {
			return verdict{why: "its type is not supported"}
		}
		return verdict{source: &s}
	}
	s.MediaType = http.DetectContentType(data) // names lie, and the API compares
	w, h, ok := token.ImageSize(s.Data)
	switch {
	case s.MediaType != "image/png" && s.MediaType != "image/jpeg" && s.MediaType != "image/gif" && s.MediaType != "image/webp":
		return verdict{why: "its type is not supported"}
	case !ok:
		return verdict{why: "its data is damaged"}
	case max(w, h) > maxEdge:
		return verdict{why: "it has too many pixels"}
	}
	return verdict{source: &s}
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
		edited = max(edited, by)
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
