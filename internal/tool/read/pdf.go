package read

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"lathe/internal/file"
	"lathe/internal/msg"
	"lathe/internal/proc"
	"lathe/internal/tool"
)

// Limits of PDFs.
const (
	maxPDF      = 5 << 20  // bytes that are sent whole
	maxPDFPages = 10       // up to this many pages a larger one is sent whole too …
	maxPDFAny   = 22 << 20 // … up to this size: 30 MB as base64, of 32 MB that a request may have
	maxPick     = 20       // pages in one call
)

// PDFFile is Output.File for a PDF that is sent whole.
type PDFFile struct {
	FilePath     string `json:"filePath"`
	Base64       string `json:"base64"`
	OriginalSize int64  `json:"originalSize"`
}

// PartsFile is Output.File for pages of a PDF.
type PartsFile struct {
	FilePath     string `json:"filePath"`
	OriginalSize int64  `json:"originalSize"`
	Count        int    `json:"count"`
	OutputDir    string `json:"outputDir"` // empty: the pages are not kept
}

var pageObject = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/Type\s*/Page[^s]`) })

// pdf shows a PDF whole, or the pages asked for.
func (t *Tool) pdf(ctx context.Context, f *file.File, abs, pages string) (tool.Result, error) {
	name, size := t.d.Workspace.Rel(abs), int64(len(f.Data))
	if pages != "" {
		list, err := parsePages(pages)
		if err != nil {
			return tool.Result{}, err
		}
		return t.pages(ctx, f, abs, list)
	}
	// Objects in compressed streams are not seen: then the count is 0, and the size decides.
	n := len(pageObject().FindAllIndex(f.Data, maxPDFPages+1))
	if size > maxPDF && (n == 0 || n > maxPDFPages || size > maxPDFAny) {
		return tool.Result{}, fmt.Errorf("%s is too large to be read whole (%s); name pages, such as 1-5, at most %d a call", name, file.Size(size), maxPick)
	}
	t.d.Files.Put(f.Path, tool.State(f.Data, f.Info))
	data := base64.StdEncoding.EncodeToString(f.Data)
	doc := msg.Block{Type: msg.TypeDocument, Source: &msg.Source{Type: "base64", MediaType: pdfType, Data: data}}
	return tool.Result{Blocks: []msg.Block{doc}, Output: Output{"pdf", PDFFile{abs, data, size}}}, nil
}

// parsePages reads "3", "1-5" and "6,9".
func parsePages(s string) ([]int, error) {
	bad := fmt.Errorf("pages must be such as 3, 1-5 or 6,9, at most %d; got %q", maxPick, s)
	var list []int
	for _, item := range strings.Split(s, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(item), "-")
		a, err := strconv.Atoi(strings.TrimSpace(from))
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(strings.TrimSpace(to))
		}
		if err != nil || a < 1 || b < a || b-a >= maxPick {
			return nil, bad
		}
		for p := a; p <= b; p++ {
			list = append(list, p)
		}
	}
	if len(list) > maxPick {
		return nil, bad
	}
	return list, nil
}

// pages shows single pages as images, or as text when only that program is there.
func (t *Tool) pages(ctx context.Context, f *file.File, abs string, list []int) (tool.Result, error) {
	look := t.d.LookPath
	if look == nil {
		look = exec.LookPath
	}
	dir, err := os.MkdirTemp("", "lathe-pdf-")
	if err != nil {
		return tool.Result{}, fmt.Errorf("make a directory for PDF pages: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "doc.pdf") // a copy: by its name the program could find another file by then
	if err := os.WriteFile(path, f.Data, 0o600); err != nil {
		return tool.Result{}, fmt.Errorf("copy %s: %w", abs, err)
	}
	res := tool.Result{Output: Output{"parts", PartsFile{FilePath: abs, OriginalSize: int64(len(f.Data)), Count: len(list)}}}
	if prog, err := look("pdftoppm"); err == nil {
		for _, p := range list {
			block, err := pageImage(ctx, prog, path, p)
			if err != nil {
				return tool.Result{}, err
			}
			res.Blocks = append(res.Blocks, msg.Text(fmt.Sprintf("Page %d:", p)), block)
		}
		return res, nil
	}
	prog, err := look("pdftotext")
	if err != nil {
		return tool.Result{}, errors.New("pages of a PDF need pdftoppm or pdftotext, and neither is installed (package poppler-utils, or poppler with Homebrew)")
	}
	room := maxBytes
	for _, p := range list {
		text, err := run(ctx, prog, "-f", strconv.Itoa(p), "-l", strconv.Itoa(p), "-layout", path, "-")
		if err != nil {
			return tool.Result{}, err
		}
		s := fmt.Sprintf("Page %d:\n%s", p, strings.ToValidUTF8(string(text), "\ufffd"))
		if room -= len(s); room < 0 {
			res.Blocks = append(res.Blocks, msg.Text(fmt.Sprintf("(page %d and those after it do not fit; ask for fewer pages)", p)))
			break
		}
		res.Blocks = append(res.Blocks, msg.Text(s))
	}
	return res, nil
}

func pageImage(ctx context.Context, prog, path string, page int) (msg.Block, error) {
	out := filepath.Join(filepath.Dir(path), "page")
	n := strconv.Itoa(page)
	if _, err := run(ctx, prog, "-f", n, "-l", n, "-r", "100", "-jpeg", "-singlefile", path, out); err != nil {
		return msg.Block{}, err
	}
	data, err := os.ReadFile(out + ".jpg")
	if err != nil {
		return msg.Block{}, fmt.Errorf("page %d was not found in the PDF", page)
	}
	data, media, _, err := shrink(data, "image/jpeg")
	if err != nil {
		return msg.Block{}, fmt.Errorf("page %d: %w", page, err)
	}
	return msg.Image(media, base64.StdEncoding.EncodeToString(data)), nil
}

func run(ctx context.Context, prog string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, prog, args...)
	cmd.Env = proc.Env(os.Environ())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(prog), err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
