package fakeapi

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"strings"

	"golang.org/x/image/webp"
)

const (
	maxImageBase64   = 10 << 20
	maxImageEdge     = 8000
	maxImageEdgeMany = 3000 // with more than manyImages in one request
	manyImages       = 20
)

// checkMedia checks number, size and content of images and documents, also those inside tool results.
func (c *checker) checkMedia() {
	type found struct {
		path string
		node *node
	}
	var images, docs []found
	visit := func(path string, b *node) {
		switch b.str("type") {
		case "image":
			images = append(images, found{path, b})
		case "document":
			docs = append(docs, found{path, b})
		}
	}
	for i, m := range c.body.get("messages").items() {
		for j, b := range m.get("content").items() {
			path := at(at("messages", i)+".content", j)
			visit(path, b)
			for k, in := range b.get("content").items() {
				visit(at(path+".content", k), in)
			}
		}
	}
	limit := 100
	if c.model.ManyImages {
		limit = 600
	}
	if len(images) > limit {
		c.fail("image", "messages", "too many images: %d > %d", len(images), limit)
	}
	edge := maxImageEdge
	if len(images) > manyImages {
		edge = maxImageEdgeMany
	}
	for _, f := range images {
		c.checkImage(f.path, f.node.get("source"), edge)
	}
	for _, f := range docs {
		c.checkDocument(f.path, f.node.get("source"))
	}
}

func (c *checker) checkImage(path string, src *node, edge int) {
	path += ".image.source"
	switch src.str("type") {
	case "base64":
	case "url", "file":
		return
	default:
		c.fail("image", path, "Input tag '%s' does not match any of 'base64', 'url', 'file'", src.str("type"))
		return
	}
	c.fields(path, src, "type media_type data")
	media, text := src.str("media_type"), src.str("data")
	if !strings.Contains(" image/png image/jpeg image/gif image/webp ", " "+media+" ") || media == "" {
		c.fail("image", path+".media_type", "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'")
		return
	}
	if len(text) > maxImageBase64 {
		c.fail("image", path+".base64", "image exceeds 10 MB maximum: %d bytes > %d bytes", len(text), maxImageBase64)
		return
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data) == 0 {
		c.fail("image", path+".base64", "invalid base64 data")
		return
	}
	if is := http.DetectContentType(data); is != media {
		c.fail("image", path+".base64.data", "The image was specified using the %s media type, but it appears to be %s", media, is)
		return
	}
	cfg, err := imageConfig(media, data)
	if err != nil {
		c.fail("image", path, "Could not process image")
		return
	}
	if cfg.Width > edge || cfg.Height > edge {
		c.fail("image", path+".base64.data", "At least one of the image dimensions exceed max allowed size: %d pixels (it is %dx%d)", edge, cfg.Width, cfg.Height)
	}
}

func imageConfig(media string, data []byte) (image.Config, error) {
	r := bytes.NewReader(data)
	switch media {
	case "image/png":
		return png.DecodeConfig(r)
	case "image/jpeg":
		return jpeg.DecodeConfig(r)
	case "image/gif":
		return gif.DecodeConfig(r)
	}
	return webp.DecodeConfig(r)
}

func (c *checker) checkDocument(path string, src *node) {
	path += ".document.source"
	switch src.str("type") {
	case "base64":
		data, err := base64.StdEncoding.DecodeString(src.str("data"))
		switch {
		case src.str("media_type") != "application/pdf":
			c.fail("document", path+".media_type", "Input should be 'application/pdf'")
		case err != nil:
			c.fail("document", path+".data", "invalid base64 data")
		case !bytes.HasPrefix(data, []byte("%PDF-")):
			c.fail("document", path+".data", "The PDF specified was not valid.")
		}
	case "text":
		if src.str("media_type") != "text/plain" || strings.TrimSpace(src.str("data")) == "" {
			c.fail("document", path, "a text source needs media_type text/plain and data that is not empty")
		}
	case "url", "file", "content":
	default:
		c.fail("document", path, "Input tag '%s' does not match any of the expected tags", src.str("type"))
	}
}
