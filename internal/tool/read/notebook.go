package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lathe/internal/file"
	"lathe/internal/msg"
	"lathe/internal/tool"
)

// Limits of notebooks.
const (
	maxOutput = 10_000  // bytes of one output
	maxImages = 20      // images of one notebook
	maxPlot   = 2 << 20 // base64 of one image
)

// NotebookFile is Output.File for a notebook.
type NotebookFile struct {
	FilePath string `json:"filePath"`
	Cells    []Cell `json:"cells"`
}

// Cell is one cell of a notebook as shown.
type Cell struct {
	CellType string   `json:"cellType"`
	Source   string   `json:"source"`
	ID       string   `json:"cell_id"`
	Language string   `json:"language,omitempty"`
	Count    *int     `json:"execution_count,omitempty"`
	Outputs  []string `json:"outputs,omitempty"`
}

// lines is text that a notebook may hold as one string or as an array of lines.
type lines string

func (l *lines) UnmarshalJSON(data []byte) error {
	var list []string
	if json.Unmarshal(data, &list) == nil {
		*l = lines(strings.Join(list, ""))
		return nil
	}
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("notebook text: %w", err)
	}
	*l = lines(s)
	return nil
}

type nbOutput struct {
	Type      string                     `json:"output_type"`
	Text      lines                      `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	Name      string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

type nbFile struct {
	Cells []struct {
		Type    string     `json:"cell_type"`
		ID      string     `json:"id"`
		Source  lines      `json:"source"`
		Count   *int       `json:"execution_count"`
		Outputs []nbOutput `json:"outputs"`
	} `json:"cells"`
	Metadata struct {
		Kernel struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
		Info struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
}

// notebook shows the cells with what they put out.
func (t *Tool) notebook(f *file.File, abs string) (tool.Result, error) {
	text, err := file.Decode(f.Data)
	if err != nil {
		return tool.Result{}, err
	}
	var nb nbFile
	if err := json.Unmarshal([]byte(text.Body), &nb); err != nil {
		return tool.Result{}, fmt.Errorf("read notebook: %w", err)
	}
	if nb.Cells == nil {
		return tool.Result{}, errors.New("read notebook: no cells")
	}
	language := nb.Metadata.Kernel.Language
	if language == "" {
		language = nb.Metadata.Info.Name
	}
	var b strings.Builder
	out := NotebookFile{FilePath: abs, Cells: []Cell{}}
	var images []msg.Block
	hidden := 0
	for i, c := range nb.Cells {
		cell := Cell{CellType: c.Type, Source: string(c.Source), ID: c.ID, Count: c.Count}
		if cell.ID == "" {
			cell.ID = fmt.Sprintf("cell-%d", i)
		}
		if c.Type == "code" {
			cell.Language = language
		}
		for _, o := range c.Outputs {
			s, img := o.show()
			if img != nil && len(images) < maxImages {
				images = append(images, msg.Text("Image of cell "+cell.ID+":"), *img)
			}
			if s != "" {
				cell.Outputs = append(cell.Outputs, s)
			}
		}
		out.Cells = append(out.Cells, cell)
		if s := cell.show(); b.Len()+len(s) <= maxBytes {
			b.WriteString(s)
		} else {
			hidden++
		}
	}
	t.d.Files.Put(f.Path, tool.State(f.Data, f.Info))
	if hidden > 0 {
		fmt.Fprintf(&b, "(not shown, since the notebook is too long: %s; use offset and limit to read its JSON)\n", tool.Count(hidden, "cell"))
	}
	if len(nb.Cells) == 0 {
		b.WriteString("(the notebook has no cells)")
	}
	res := output(strings.TrimSuffix(b.String(), "\n"), Output{"notebook", out})
	res.Blocks = append(res.Blocks, images...)
	return res, nil
}

func (c Cell) show() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<cell id=%q type=%q>\n%s\n", c.ID, c.CellType, strings.TrimSuffix(c.Source, "\n"))
	for _, o := range c.Outputs {
		fmt.Fprintf(&b, "<output>\n%s\n</output>\n", strings.TrimSuffix(o, "\n"))
	}
	b.WriteString("</cell>\n")
	return b.String()
}

// show is an output as text, and as an image when it is one.
func (o nbOutput) show() (string, *msg.Block) {
	if o.Type == "error" {
		return limit(fmt.Sprintf("%s: %s\n%s", o.Name, o.Value, plain(strings.Join(o.Traceback, "\n")))), nil
	}
	var img *msg.Block
	for _, media := range []string{"image/png", "image/jpeg"} {
		var data lines
		if raw, ok := o.Data[media]; ok && img == nil && json.Unmarshal(raw, &data) == nil && len(data) <= maxPlot {
			b := msg.Image(media, strings.ReplaceAll(strings.TrimSpace(string(data)), "\n", ""))
			img = &b
		}
	}
	text := o.Text
	for _, media := range []string{"text/plain", "text/markdown", "text/html"} {
		if raw, ok := o.Data[media]; ok && text == "" && json.Unmarshal(raw, &text) != nil {
			text = ""
		}
	}
	return limit(plain(string(text))), img
}

func limit(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	cut := strings.ToValidUTF8(s[:maxOutput], "")
	return fmt.Sprintf("%s\n… (%d more bytes)", cut, len(s)-len(cut))
}

// plain takes terminal colours out.
func plain(s string) string {
	if !strings.Contains(s, "\x1b[") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = strings.TrimLeft(s[i+2:], "0123456789;?")
		if s != "" {
			s = s[1:]
		}
	}
}
