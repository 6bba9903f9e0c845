package theme

// Theme is a set of styles by meaning. Copy it freely; it is never changed after it was made.
type Theme struct {
	Name  string
	Depth Depth

	Text, Strong, Emph, Strike Style
	Muted, Faint               Style // second and third in importance
	Accent, Permission         Style // what is chosen or pointed at; what asks
	Success, Error, Warning    Style
	Heading, Link, Code, Quote Style // in answers; Code is inline code
	QuoteBar                   Style // its background is the bar, whatever stands on it
	Border, Prompt, Selection  Style // Selection has a background
	Match                      Style // the part of an item that a search found
	PlanMode, AcceptEdits, Shell,
	FastMode Style

	// Diffs: Added and Removed colour whole lines, the Word forms what changed in them, the Sign forms the margin.
	Added, Removed, AddedWord, RemovedWord, AddedSign, RemovedSign Style

	// Highlighted code.
	Keyword, String, Comment, Number, Function, Type, Builtin Style

	// Series are the colours of a picture's categories, in order.
	Series [8]Style
}

// colors are a theme before a depth is known.
type colors struct {
	muted, faint, accent, permission, success, failure, warning, heading, link, code, quote, border, prompt color
	selection, plan, accept, shell, fast                                                                    color
	added, removed, addedWord, removedWord, addedSign, removedSign                                          color
	keyword, str, comment, number, function, typ, builtin                                                   color
	series                                                                                                  [8]color
}

// Names lists the built-in themes.
func Names() []string {
	return []string{"auto", "dark", "light", "dark-daltonized", "light-daltonized", "dark-ansi", "light-ansi", "none"}
}

// Named returns a built-in theme; unknown names give "auto", which is light or dark after the background. "none" has
// no colours whatever the terminal can do.
func Named(name string, depth Depth, dark bool) Theme {
	c, name := base(name, dark)
	if name == "none" {
		depth = min(depth, Mono)
	}
	return c.build(name, depth)
}

func base(name string, dark bool) (colors, string) {
	switch name {
	case "dark":
		return darkColors(), name
	case "light":
		return lightColors(), name
	case "dark-daltonized":
		return daltonize(darkColors(), true), name
	case "light-daltonized":
		return daltonize(lightColors(), false), name
	case "dark-ansi":
		return ansiColors(true), name
	case "light-ansi":
		return ansiColors(false), name
	case "none":
		return colors{}, name
	}
	if dark {
		return darkColors(), "dark"
	}
	return lightColors(), "light"
}

func (c *colors) build(name string, d Depth) Theme {
	bold, dim, italic, underline, strike, reverse := Style("1"), Style("2"), Style("3"), Style("4"), Style("9"), Style("7")
	if d == Plain {
		bold, dim, italic, underline, strike, reverse = "", "", "", "", "", ""
	}
	mono := func(s, instead Style) Style { // what carries meaning without colours
		if s == "" {
			return instead
		}
		return s
	}
	t := Theme{
		Name: name, Depth: d,
		Strong: bold, Emph: italic, Strike: strike,
		Muted: mono(c.muted.fg(d), dim), Faint: mono(c.faint.fg(d), dim),
		Accent: mono(c.accent.fg(d), bold), Permission: mono(c.permission.fg(d), bold),
		Success: c.success.fg(d), Error: mono(c.failure.fg(d), bold), Warning: mono(c.warning.fg(d), bold),
		Heading: bold.With(c.heading.fg(d)), Link: underline.With(c.link.fg(d)), Code: mono(c.code.fg(d), bold), Quote: mono(c.quote.fg(d), italic),
		Border: mono(c.border.fg(d), dim), Prompt: mono(c.prompt.fg(d), bold), Selection: mono(c.selection.bg(d), reverse),
		Match: bold.With(c.accent.fg(d)), PlanMode: c.plan.fg(d), AcceptEdits: c.accept.fg(d), Shell: c.shell.fg(d), FastMode: c.fast.fg(d),
		Added: c.added.bg(d), Removed: c.removed.bg(d),
		AddedWord: mono(c.addedWord.bg(d), underline), RemovedWord: mono(c.removedWord.bg(d), underline),
		AddedSign: c.addedSign.fg(d), RemovedSign: c.removedSign.fg(d),
		Keyword: c.keyword.fg(d), String: c.str.fg(d), Comment: mono(c.comment.fg(d), dim), Number: c.number.fg(d),
		Function: c.function.fg(d), Type: c.typ.fg(d), Builtin: c.builtin.fg(d),
	}
	t.QuoteBar = mono(c.border.fg(d).With(c.border.bg(d)), dim.With(reverse))
	if d == ANSI { // sixteen backgrounds are too loud for whole lines; colour the text instead
		t.Added, t.Removed = c.addedSign.fg(d), c.removedSign.fg(d)
		t.AddedWord, t.RemovedWord = t.Added.With(reverse), t.Removed.With(reverse)
	}
	for i, s := range c.series {
		t.Series[i] = s.fg(d)
	}
	return t
}

// In code the 16 colours of the terminal are taken where they can be read: their sequences are half as long, and code
// has many.
func darkColors() colors {
	return colors{
		muted: pal(246, 7), faint: pal(240, 8), accent: pal(111, 12), permission: pal(147, 13),
		success: pal(114, 2), failure: pal(210, 9), warning: pal(221, 3),
		heading: pal(117, 14), link: pal(75, 12), code: ansi(3), quote: pal(248, 7), border: pal(240, 8), prompt: pal(111, 12),
		selection: pal(238, 8), plan: pal(79, 6), accept: pal(141, 5), shell: pal(211, 13), fast: pal(214, 3),
		added: rgb(0x16341f, 2), removed: rgb(0x42191e, 1), addedWord: rgb(0x27683a, 2), removedWord: rgb(0x8a2f38, 1),
		addedSign: pal(114, 2), removedSign: pal(210, 1),
		keyword: ansi(5), str: ansi(2), comment: pal(244, 8), number: ansi(3), function: pal(75, 12), typ: ansi(6), builtin: ansi(6),
		series: [8]color{pal(75, 4), pal(176, 5), pal(114, 2), pal(221, 3), pal(210, 1), pal(79, 6), pal(216, 11), pal(147, 13)},
	}
}

func lightColors() colors {
	return colors{
		muted: pal(241, 8), faint: pal(248, 7), accent: pal(26, 4), permission: pal(62, 5),
		success: pal(28, 2), failure: pal(160, 1), warning: pal(130, 3),
		heading: pal(25, 4), link: pal(26, 4), code: pal(94, 3), quote: pal(240, 8), border: pal(248, 7), prompt: pal(26, 4),
		selection: pal(254, 7), plan: pal(30, 6), accept: pal(91, 5), shell: pal(161, 5), fast: pal(166, 3),
		added: rgb(0xe3f8e6, 2), removed: rgb(0xfde7e7, 1), addedWord: rgb(0xa8e6b4, 2), removedWord: rgb(0xf7b3b3, 1),
		addedSign: pal(28, 2), removedSign: pal(160, 1),
		keyword: ansi(5), str: ansi(2), comment: pal(243, 8), number: pal(130, 3), function: pal(26, 4), typ: pal(30, 6), builtin: pal(30, 6),
		series: [8]color{pal(26, 4), pal(91, 5), pal(28, 2), pal(130, 3), pal(160, 1), pal(30, 6), pal(166, 3), pal(62, 5)},
	}
}

// daltonize replaces every pair of red and green by orange and blue, which people of all common kinds of colour
// blindness tell apart.
func daltonize(c colors, dark bool) colors {
	good, bad := pal(25, 4), pal(166, 3)
	addBG, delBG, addWord, delWord := rgb(0xdcebfb, 4), rgb(0xfdeedd, 3), rgb(0x9cc7f2, 4), rgb(0xf6c48e, 3)
	if dark {
		good, bad = pal(75, 12), pal(215, 11)
		addBG, delBG, addWord, delWord = rgb(0x12304d, 4), rgb(0x45290b, 3), rgb(0x1f5f99, 4), rgb(0x8f5514, 3)
	}
	c.success, c.failure, c.addedSign, c.removedSign, c.str, c.shell = good, bad, good, bad, good, bad
	c.added, c.removed, c.addedWord, c.removedWord = addBG, delBG, addWord, delWord
	c.series[2], c.series[4] = good, bad
	return c
}

func ansiColors(dark bool) colors {
	c := lightColors()
	if dark {
		c = darkColors()
	}
	for _, p := range c.all() {
		*p = ansi(int(p.ansi))
	}
	return c
}

func (c *colors) all() []*color {
	out := []*color{
		&c.muted, &c.faint, &c.accent, &c.permission, &c.success, &c.failure, &c.warning, &c.heading, &c.link, &c.code, &c.quote, &c.border,
		&c.prompt, &c.selection, &c.plan, &c.accept, &c.shell, &c.fast, &c.added, &c.removed, &c.addedWord, &c.removedWord,
		&c.addedSign, &c.removedSign, &c.keyword, &c.str, &c.comment, &c.number, &c.function, &c.typ, &c.builtin,
	}
	for i := range c.series {
		out = append(out, &c.series[i])
	}
	return out
}
