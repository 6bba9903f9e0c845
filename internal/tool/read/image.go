package read

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"lathe/internal/file"
	"lathe/internal/msg"
	"lathe/internal/tool"
)

// Limits of images. The API takes more; what it scales down itself is not worth sending.
const (
	maxEdge   = 2000       // pixels
	maxPlain  = 500 << 10  // bytes that are sent as they are
	maxImage  = 3750 << 10 // bytes, 5 MB as base64
	maxPixels = 60 << 20   // to decode at all
)

const pdfType = "application/pdf"

// ImageFile is Output.File for an image.
type ImageFile struct {
	Base64       string `json:"base64"`
	Type         string `json:"type"` // media type
	OriginalSize int64  `json:"originalSize"`
	Dimensions   *Size  `json:"dimensions,omitempty"`
}

// Size is the size of an image in pixels: of the file, and as shown.
type Size struct {
	OriginalWidth  int `json:"originalWidth"`
	OriginalHeight int `json:"originalHeight"`
	DisplayWidth   int `json:"displayWidth"`
	DisplayHeight  int `json:"displayHeight"`
}

// sniff tells the media type of images and PDFs by their content, or "".
func sniff(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "image/gif"
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "image/webp"
	case bytes.HasPrefix(data, []byte("%PDF-")):
		return pdfType
	}
	return ""
}

type decoder struct {
	config func(*bytes.Reader) (image.Config, error)
	decode func(*bytes.Reader) (image.Image, error)
}

func decoderOf(media string) decoder {
	switch media {
	case "image/png":
		return decoder{func(r *bytes.Reader) (image.Config, error) { return png.DecodeConfig(r) }, func(r *bytes.Reader) (image.Image, error) { return png.Decode(r) }}
	case "image/jpeg":
		return decoder{func(r *bytes.Reader) (image.Config, error) { return jpeg.DecodeConfig(r) }, func(r *bytes.Reader) (image.Image, error) { return jpeg.Decode(r) }}
	case "image/gif":
		return decoder{func(r *bytes.Reader) (image.Config, error) { return gif.DecodeConfig(r) }, func(r *bytes.Reader) (image.Image, error) { return gif.Decode(r) }}
	}
	return decoder{func(r *bytes.Reader) (image.Config, error) { return webp.DecodeConfig(r) }, func(r *bytes.Reader) (image.Image, error) { return webp.Decode(r) }}
}

// image shows a picture, made smaller where it is larger than the model can use.
func (t *Tool) image(f *file.File, name, media string) (tool.Result, error) {
	data, media, size, err := shrink(f.Data, media)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", name, err)
	}
	t.d.Files.Put(f.Path, tool.State(f.Data, f.Info))
	text := base64.StdEncoding.EncodeToString(data)
	blocks := []msg.Block{msg.Image(media, text)}
	if size.DisplayWidth != size.OriginalWidth {
		blocks = append(blocks, msg.Text(fmt.Sprintf("(%s: %d×%d pixels, shown as %d×%d)",
			name, size.OriginalWidth, size.OriginalHeight, size.DisplayWidth, size.DisplayHeight)))
	}
	return tool.Result{Blocks: blocks, Output: Output{"image", ImageFile{
		Base64: text, Type: media, OriginalSize: int64(len(f.Data)), Dimensions: &size,
	}}}, nil
}

// shrink brings an image within the limits. Small ones stay byte for byte.
func shrink(data []byte, media string) (out []byte, outMedia string, size Size, err error) {
	d := decoderOf(media)
	conf, err := d.config(bytes.NewReader(data))
	if err != nil {
		return nil, "", size, fmt.Errorf("the image is damaged: %w", err)
	}
	size = Size{conf.Width, conf.Height, conf.Width, conf.Height}
	if int64(conf.Width)*int64(conf.Height) > maxPixels {
		return nil, "", size, fmt.Errorf("the image is too large: %d×%d pixels; make it smaller first (convert, sips, ffmpeg)", conf.Width, conf.Height)
	}
	// Decoded even when it is sent as it is: the API refuses a damaged image, and with it the whole conversation.
	src, err := d.decode(bytes.NewReader(data))
	if err != nil {
		return nil, "", size, fmt.Errorf("the image is damaged: %w", err)
	}
	if max(conf.Width, conf.Height) <= maxEdge && len(data) <= maxPlain {
		return data, media, size, nil
	}
	for edge := maxEdge; edge >= 100; edge = edge * 3 / 4 {
		img := scale(src, edge)
		size.DisplayWidth, size.DisplayHeight = img.Bounds().Dx(), img.Bounds().Dy()
		if out, outMedia, err = encode(img, media); err != nil {
			return nil, "", size, err
		}
		if len(out) <= maxImage {
			return out, outMedia, size, nil
		}
	}
	return nil, "", size, fmt.Errorf("the image does not fit into %s", file.Size(maxImage))
}

func scale(src image.Image, edge int) image.Image {
	b := src.Bounds()
	long := max(b.Dx(), b.Dy())
	if long <= edge {
		return src
	}
	dst := image.NewRGBA(image.Rect(0, 0, max(1, b.Dx()*edge/long), max(1, b.Dy()*edge/long)))
	draw.ApproxBiLinear.Scale(dst, dst.Bounds(), src, b, draw.Src, nil)
	return dst
}

// encode keeps pictures with sharp edges lossless while that is small, and makes the others JPEG.
func encode(img image.Image, media string) ([]byte, string, error) {
	var buf bytes.Buffer
	if media != "image/jpeg" {
		if err := png.Encode(&buf, img); err != nil {
			return nil, "", fmt.Errorf("encode the image: %w", err)
		}
		if buf.Len() <= maxPlain {
			return buf.Bytes(), "image/png", nil
		}
		buf.Reset()
		img = onWhite(img)
	}
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: 85}); err != nil {
		return nil, "", fmt.Errorf("encode the image: %w", err)
	}
	return buf.Bytes(), "image/jpeg", nil
}

// onWhite puts white behind what is transparent, which JPEG would show black.
func onWhite(img image.Image) image.Image {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return img
	}
	dst := image.NewRGBA(img.Bounds())
	draw.Draw(dst, dst.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(dst, dst.Bounds(), img, img.Bounds().Min, draw.Over)
	return dst
}
