package token

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"io"
	"strings"
)

// ImageSize reads the size in pixels from the head of base64 image data: PNG, JPEG, GIF or WebP.
func ImageSize(data string) (w, h int, ok bool) {
	r := bufio.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	head, _ := r.Peek(30)
	switch {
	case len(head) >= 24 && string(head[:8]) == "\x89PNG\r\n\x1a\n":
		w, h = int(binary.BigEndian.Uint32(head[16:])), int(binary.BigEndian.Uint32(head[20:]))
	case len(head) >= 10 && (string(head[:6]) == "GIF87a" || string(head[:6]) == "GIF89a"):
		w, h = int(binary.LittleEndian.Uint16(head[6:])), int(binary.LittleEndian.Uint16(head[8:]))
	case len(head) >= 30 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		w, h = webpSize(head)
	case len(head) >= 4 && head[0] == 0xff && head[1] == 0xd8:
		w, h = jpegSize(r)
	}
	return w, h, w > 0 && h > 0
}

func webpSize(b []byte) (w, h int) {
	switch string(b[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(b[26:])) & 0x3fff, int(binary.LittleEndian.Uint16(b[28:])) & 0x3fff
	case "VP8L":
		bits := binary.LittleEndian.Uint32(b[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		return (int(b[24]) | int(b[25])<<8 | int(b[26])<<16) + 1, (int(b[27]) | int(b[28])<<8 | int(b[29])<<16) + 1
	}
	return 0, 0
}

// jpegSize walks the segments to the frame header.
func jpegSize(r *bufio.Reader) (w, h int) {
	if _, err := r.Discard(2); err != nil {
		return 0, 0
	}
	var seg [9]byte
	for {
		if _, err := io.ReadFull(r, seg[:2]); err != nil || seg[0] != 0xff {
			return 0, 0
		}
		for seg[1] == 0xff { // fill bytes
			b, err := r.ReadByte()
			if err != nil {
				return 0, 0
			}
			seg[1] = b
		}
		m := seg[1]
		if m == 0x01 || m >= 0xd0 && m <= 0xd7 {
			continue
		}
		if _, err := io.ReadFull(r, seg[:2]); err != nil {
			return 0, 0
		}
		n := int(binary.BigEndian.Uint16(seg[:2]))
		if n < 2 {
			return 0, 0
		}
		if m >= 0xc0 && m <= 0xcf && m != 0xc4 && m != 0xc8 && m != 0xcc {
			if _, err := io.ReadFull(r, seg[:5]); err != nil {
				return 0, 0
			}
			return int(binary.BigEndian.Uint16(seg[3:])), int(binary.BigEndian.Uint16(seg[1:]))
		}
		if _, err := r.Discard(n - 2); err != nil {
			return 0, 0
		}
	}
}
