package tui

import (
	"lathe/internal/front/tui/markdown"
	"lathe/internal/front/tui/width"
)

// mdStream renders an answer as it comes.
type mdStream struct{ *markdown.Renderer }

func (m mdStream) Write(text string) []width.Line { return m.Feed(text) }

// newStream begins an answer at the width of the moment.
func (u *ui) newStream() streamer {
	th := u.th
	return mdStream{markdown.New(markdown.Options{
		Theme: &th, Width: u.cols - 1, Links: u.links, NoHighlight: u.session != nil && u.session.Settings.NoHighlight,
	})}
}

// relay makes the answer that comes fit the screen of now.
func (u *ui) relay() {
	if u.work.stream == nil {
		return
	}
	u.work.stream.Resize(u.cols - 1)
	if u.full != nil {
		u.work.lines = u.newStream().Write(u.work.streamed.String())
	}
}

// knowsLinks guesses whether the terminal makes links of OSC 8.
func knowsLinks(getenv func(string) string) bool {
	switch getenv("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper", "WarpTerminal":
		return true
	case "Apple_Terminal":
		return false
	}
	return getenv("KITTY_WINDOW_ID") != "" || getenv("WT_SESSION") != "" || getenv("VTE_VERSION") != "" || getenv("FORCE_HYPERLINK") == "1"
}
