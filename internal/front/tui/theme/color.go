package theme

import (
	"strconv"
	"strings"
)

// color is one colour in the forms that terminals take. A zero value is the terminal's own colour.
type color struct {
	set     bool
	rgb     int32 // 0xRRGGBB, or -1
	palette int16 // index among 256, or -1
	ansi    int16 // index among 16, or -1
}

func ansi(n int) color      { return color{set: true, rgb: -1, palette: -1, ansi: int16(n)} }
func pal(n, near int) color { return color{set: true, rgb: -1, palette: int16(n), ansi: int16(near)} }

func rgb(v, near int) color      { return color{set: true, rgb: int32(v), palette: -1, ansi: int16(near)} }
func (c color) fg(d Depth) Style { return c.params(d, 30, "38") }
func (c color) bg(d Depth) Style { return c.params(d, 40, "48") }

// params are the SGR parameters at a depth. What a terminal cannot show becomes the nearest thing it can.
func (c color) params(d Depth, base int, extended string) Style {
	if !c.set || d < ANSI {
		return ""
	}
	if d == True && c.rgb >= 0 {
		r, g, b := c.rgb>>16&0xff, c.rgb>>8&0xff, c.rgb&0xff
		return Style(extended + ";2;" + itoa(r) + ";" + itoa(g) + ";" + itoa(b))
	}
	if d >= Palette && (c.palette >= 0 || c.rgb >= 0) {
		n := int32(c.palette)
		if n < 0 {
			n = nearest(c.rgb)
		}
		return Style(extended + ";5;" + itoa(n))
	}
	n := int(c.ansi)
	switch {
	case n < 0:
		return ""
	case n >= 8:
		return Style(strconv.Itoa(base + 60 + n - 8))
	}
	return Style(strconv.Itoa(base + n))
}

func itoa(n int32) string { return strconv.Itoa(int(n)) }

// cube are the six levels of the 256-colour cube (xterm).
var cube = [6]int32{0, 95, 135, 175, 215, 255}

// nearest is the closest of the fixed colours 16 to 255.
func nearest(v int32) int32 {
	want := [3]int32{v >> 16 & 0xff, v >> 8 & 0xff, v & 0xff}
	best, dist := int32(16), int32(1<<30)
	try := func(n, r, g, b int32) {
		dr, dg, db := r-want[0], g-want[1], b-want[2]
		if d := 2*dr*dr + 4*dg*dg + 3*db*db; d < dist {
			best, dist = n, d
		}
	}
	for r := range int32(6) {
		for g := range int32(6) {
			for b := range int32(6) {
				try(16+36*r+6*g+b, cube[r], cube[g], cube[b])
			}
		}
	}
	for i := range int32(24) {
		try(232+i, 8+10*i, 8+10*i, 8+10*i)
	}
	return best
}

// sixteen is the closest of the 16 colours, by xterm's usual values.
func sixteen(v int32) int {
	values := [16]int32{
		0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
		0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
	}
	best, dist := 7, int32(1<<30)
	for i, w := range values {
		dr, dg, db := w>>16&0xff-v>>16&0xff, w>>8&0xff-v>>8&0xff, w&0xff-v&0xff
		if d := 2*dr*dr + 4*dg*dg + 3*db*db; d < dist {
			best, dist = i, d
		}
	}
	return best
}

var names = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

// parse reads the forms that a theme file may use: #rrggbb, #rgb, rgb(r,g,b), ansi256(n) and ansi:name (ansi:redBright too).
func parse(s string) (color, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	switch {
	case strings.HasPrefix(s, "#"):
		hex := s[1:]
		if len(hex) == 3 {
			hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
		}
		v, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || len(hex) != 6 {
			return color{}, false
		}
		return rgb(int(v), sixteen(int32(v))), true
	case strings.HasPrefix(s, "rgb(") && strings.HasSuffix(s, ")"):
		parts := strings.Split(s[4:len(s)-1], ",")
		v := 0
		for _, p := range parts {
			n, err := strconv.ParseUint(strings.TrimSpace(p), 10, 8)
			if err != nil {
				return color{}, false
			}
			v = v<<8 | int(n)
		}
		return rgb(v, sixteen(int32(v))), len(parts) == 3
	case strings.HasPrefix(s, "ansi256(") && strings.HasSuffix(s, ")"):
		n, err := strconv.ParseUint(strings.TrimSpace(s[8:len(s)-1]), 10, 8)
		if err != nil {
			return color{}, false
		}
		if n < 16 {
			return ansi(int(n)), true
		}
		return pal(int(n), sixteen(ofPalette(int32(n)))), true
	case strings.HasPrefix(s, "ansi:"):
		return parseANSI(strings.TrimPrefix(s, "ansi:"))
	}
	return color{}, false
}

func parseANSI(name string) (color, bool) {
	if name == "gray" || name == "grey" {
		return ansi(8), true
	}
	base, bright := strings.CutSuffix(name, "bright")
	if b, ok := strings.CutPrefix(base, "bright"); ok && !bright {
		base, bright = strings.TrimLeft(b, "-_"), true
	}
	for i, n := range names {
		if n == base {
			if bright {
				i += 8
			}
			return ansi(i), true
		}
	}
	return color{}, false
}

// ofPalette is the value of a fixed colour of the 256.
func ofPalette(n int32) int32 {
	if n >= 232 {
		g := 8 + 10*(n-232)
		return g<<16 | g<<8 | g
	}
	n -= 16
	return cube[n/36]<<16 | cube[n/6%6]<<8 | cube[n%6]
}
