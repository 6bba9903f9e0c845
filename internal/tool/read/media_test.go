package read

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
)

func noise(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(img.Pix)
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	return img
}

func encoded(t *testing.T, kind string, img image.Image) []byte {
	t.Helper()
	var buf bytes.Buffer
	var err error
	switch kind {
	case "png":
		err = png.Encode(&buf, img)
	case "jpeg":
		err = jpeg.Encode(&buf, img, &jpeg.Options{Quality: 95})
	case "gif":
		err = gif.Encode(&buf, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestImage(t *testing.T) {
	gray := func(w, h int) image.Image {
		img := image.NewGray(image.Rect(0, 0, w, h))
		img.Set(1, 1, color.White)
		return img
	}
	// A 1×1 WebP, lossless.
	webp, _ := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	tests := []struct {
		name  string
		data  []byte
		media string
		same  bool // sent byte for byte
		size  Size
	}{
		{"small png", encoded(t, "png", gray(10, 5)), "image/png", true, Size{10, 5, 10, 5}},
		{"small jpeg", encoded(t, "jpeg", gray(10, 5)), "image/jpeg", true, Size{10, 5, 10, 5}},
		{"small gif", encoded(t, "gif", gray(10, 5)), "image/gif", true, Size{10, 5, 10, 5}},
		{"small webp", webp, "image/webp", true, Size{1, 1, 1, 1}},
		{"wide png", encoded(t, "png", gray(4000, 20)), "image/png", false, Size{4000, 20, 2000, 10}},
		{"heavy png", encoded(t, "png", noise(420, 420)), "image/jpeg", false, Size{420, 420, 420, 420}},
		{"tall jpeg", encoded(t, "jpeg", gray(30, 3000)), "image/jpeg", false, Size{30, 3000, 20, 2000}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			b.write("pic.dat", tc.data) // the content decides, not the name
			res, err := b.read(map[string]any{"file_path": "pic.dat"})
			if err != nil {
				t.Fatal(err)
			}
			out := res.Output.(Output).File.(ImageFile)
			sent, err := base64.StdEncoding.DecodeString(out.Base64)
			if err != nil || len(sent) > maxImage {
				t.Fatal(err, len(sent))
			}
			out.Base64 = ""
			if d := cmp.Diff(ImageFile{Type: tc.media, OriginalSize: int64(len(tc.data)), Dimensions: &tc.size}, out); d != "" {
				t.Error(d)
			}
			if bytes.Equal(sent, tc.data) != tc.same || sniff(sent) != tc.media {
				t.Errorf("sent %d bytes of %s, file has %d", len(sent), sniff(sent), len(tc.data))
			}
			if d := cmp.Diff(msg.Image(tc.media, base64.StdEncoding.EncodeToString(sent)), res.Blocks[0]); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDamagedImage(t *testing.T) {
	b := newBench(t)
	good := encoded(t, "png", noise(10, 10))
	for name, data := range map[string][]byte{"damaged": good[:len(good)/2], "too large": bomb(good)} {
		b.write(name, data)
		if _, err := b.read(map[string]any{"file_path": name}); err == nil || !strings.Contains(err.Error(), "the image is "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// bomb is a PNG whose header claims to be huge.
func bomb(good []byte) []byte {
	out := bytes.Clone(good)
	head := out[12:29] // the type and the fields of IHDR, which begins with width and height
	binary.BigEndian.PutUint32(head[4:], 90000)
	binary.BigEndian.PutUint32(head[8:], 90000)
	binary.BigEndian.PutUint32(out[29:], crc32.ChecksumIEEE(head))
	return out
}

func TestPDF(t *testing.T) {
	b := newBench(t)
	pdf := []byte("%PDF-1.4\n1 0 obj <</Type /Page>> endobj\n%%EOF\n")
	path := b.write("a.pdf", pdf)
	res, err := b.read(map[string]any{"file_path": "a.pdf"})
	if err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString(pdf)
	if d := cmp.Diff([]msg.Block{{Type: msg.TypeDocument, Source: &msg.Source{Type: "base64", MediaType: "application/pdf", Data: data}}}, res.Blocks); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Output{"pdf", PDFFile{path, data, int64(len(pdf))}}, res.Output); d != "" {
		t.Error(d)
	}
	big := append([]byte(strings.Repeat("%PDF-1.4 <</Type /Page>>\n", 11)), make([]byte, maxPDF)...)
	b.write("b.pdf", big)
	if _, err := b.read(map[string]any{"file_path": "b.pdf"}); err == nil || !strings.Contains(err.Error(), "name pages") {
		t.Error(err)
	}
	b.tool.d.LookPath = func(string) (string, error) { return "", errors.New("no") }
	if _, err := b.read(map[string]any{"file_path": "a.pdf", "pages": "1"}); err == nil || !strings.Contains(err.Error(), "neither is installed") {
		t.Error(err)
	}
}

// Stand-ins for the two programs check how they are called and what becomes of their output.
func TestPDFPages(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("SKIPPED: there is no /bin/sh")
	}
	b := newBench(t)
	path := b.write("a.pdf", []byte("%PDF-1.4\n"))
	b.write("page.jpg", encoded(t, "jpeg", noise(8, 8)))
	text := filepath.Join(b.dir, "totext")
	images := filepath.Join(b.dir, "toppm")
	for prog, script := range map[string]string{
		text:   "#!/bin/sh\necho \"text of $2 to $4\"\n",
		images: "#!/bin/sh\nfor last; do :; done\ncp '" + filepath.Join(b.dir, "page.jpg") + "' \"$last.jpg\"\n",
	} {
		if err := os.WriteFile(prog, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	have := map[string]string{"pdftotext": text}
	b.tool.d.LookPath = func(name string) (string, error) {
		if p := have[name]; p != "" {
			return p, nil
		}
		return "", errors.New("no")
	}
	res, err := b.read(map[string]any{"file_path": path, "pages": "2,4"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]msg.Block{msg.Text("Page 2:\ntext of 2 to 2\n"), msg.Text("Page 4:\ntext of 4 to 4\n")}, res.Blocks); d != "" {
		t.Error(d)
	}
	have["pdftoppm"] = images
	res, err = b.read(map[string]any{"file_path": path, "pages": "1"})
	if err != nil || len(res.Blocks) != 2 || res.Blocks[1].Type != msg.TypeImage {
		t.Fatal(err, res.Blocks)
	}
}

func TestNotebook(t *testing.T) {
	b := newBench(t)
	path := b.write("n.ipynb", []byte(`{"cells":[
 {"cell_type":"markdown","id":"m1","metadata":{},"source":["# T\n","x"]},
 {"cell_type":"code","execution_count":3,"metadata":{},"source":"1/0","outputs":[
  {"output_type":"stream","name":"stdout","text":["a\n","b\n"]},
  {"output_type":"display_data","data":{"image/png":"aGk=\n","text/plain":["<Figure>"]}},
  {"output_type":"error","ename":"E","evalue":"v","traceback":["\u001b[31mline\u001b[0m"]}]}],
 "metadata":{"kernelspec":{"language":"python"}},"nbformat":4,"nbformat_minor":5}`))
	res, err := b.read(map[string]any{"file_path": path})
	if err != nil {
		t.Fatal(err)
	}
	three := 3
	if d := cmp.Diff(Output{"notebook", NotebookFile{path, []Cell{
		{CellType: "markdown", Source: "# T\nx", ID: "m1"},
		{CellType: "code", Source: "1/0", ID: "cell-1", Language: "python", Count: &three, Outputs: []string{"a\nb\n", "<Figure>", "E: v\nline"}},
	}}}, res.Output); d != "" {
		t.Error(d)
	}
	text := "<cell id=\"m1\" type=\"markdown\">\n# T\nx\n</cell>\n<cell id=\"cell-1\" type=\"code\">\n1/0\n" +
		"<output>\na\nb\n</output>\n<output>\n<Figure>\n</output>\n<output>\nE: v\nline\n</output>\n</cell>"
	if d := cmp.Diff([]msg.Block{msg.Text(text), msg.Text("Image of cell cell-1:"), msg.Image("image/png", "aGk=")}, res.Blocks); d != "" {
		t.Error(d)
	}
	b.write("n.ipynb", []byte("{\"cells\": [\n"))
	if res, err = b.read(map[string]any{"file_path": path}); err != nil || res.Output.(Output).Type != "text" {
		t.Errorf("a broken notebook is text: %v", err)
	}
}
