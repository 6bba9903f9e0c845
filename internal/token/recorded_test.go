package token

import (
	"bufio"
	"encoding/json"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/testkit"
)

type colour = color.Color

var grey = color.Gray{Y: 100}

// answer is one model call of a transcript, with what followed it.
type answer struct {
	id     string
	prompt int
	blocks []msg.Block
	after  []msg.Block
	plain  bool // nothing in it that the estimate does not see
}

// TestAgainstRecordedUsage compares estimates of what was added between two calls (an answer and its results)
// with what the provider counted: the growth of the prompt.
func TestAgainstRecordedUsage(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(testkit.Shared(t, "data/transcripts"), "v*.jsonl"))
	var ours, quarter []float64
	var sum, real int
	for _, f := range files {
		answers := readAnswers(t, f)
		for i := 1; i < len(answers); i++ {
			a, grown := answers[i-1], answers[i].prompt-answers[i-1].prompt
			all := append(slices.Clone(a.blocks), a.after...)
			chars := len(msg.AppendBlocks(nil, all))
			if !a.plain || grown <= 0 || chars < 600 || len(a.after) == 0 {
				continue
			}
			est := Counter{}.Blocks(all)
			if r := float64(est) / float64(grown); r < 0.5 || r > 2 {
				continue // hidden reminders, or a branch: not the same content
			}
			ours = append(ours, math.Abs(float64(est)/float64(grown)-1))
			quarter = append(quarter, math.Abs(float64(chars)/4/float64(grown)-1))
			sum, real = sum+est, real+grown
		}
	}
	slices.Sort(ours)
	slices.Sort(quarter)
	n := len(ours)
	if n < 100 {
		t.Fatalf("only %d usable calls", n)
	}
	bias := float64(sum)/float64(real) - 1
	t.Logf("%d calls, %d tokens: median error %.1f %%, 9 in 10 below %.1f %%, sum %+.1f %%; characters/4: median %.1f %%",
		n, real, 100*ours[n/2], 100*ours[n*9/10], 100*bias, 100*quarter[n/2])
	if ours[n/2] > 0.12 || ours[n*9/10] > 0.35 || math.Abs(bias) > 0.15 {
		t.Error("the estimate got worse")
	}
}

func readAnswers(t *testing.T, file string) []answer {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []answer
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var rec struct {
			Type        string `json:"type"`
			IsSidechain bool   `json:"isSidechain"`
			Message     struct {
				ID      string          `json:"id"`
				Content json.RawMessage `json:"content"`
				Usage   *msg.Usage      `json:"usage"`
			} `json:"message"`
		}
		if json.Unmarshal(lines.Bytes(), &rec) != nil || rec.IsSidechain {
			continue
		}
		blocks, err := msg.DecodeContent(rec.Message.Content)
		if err != nil {
			continue
		}
		switch last := len(out) - 1; {
		case rec.Type == "assistant" && rec.Message.Usage != nil:
			if last < 0 || out[last].id != rec.Message.ID {
				out = append(out, answer{id: rec.Message.ID, prompt: rec.Message.Usage.Prompt(), plain: true})
				last++
			}
			out[last].blocks = append(out[last].blocks, blocks...)
			for _, b := range blocks {
				out[last].plain = out[last].plain && !b.IsThinking()
			}
		case rec.Type == "user" && last >= 0:
			out[last].after = append(out[last].after, blocks...)
		}
	}
	return out
}
