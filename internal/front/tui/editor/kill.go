package editor

const maxRing = 60

// kill removes [from, to) into the kill ring. Kills in a row are joined on the side they came from.
func (e *Editor) kill(from, to int) {
	if from >= to {
		return
	}
	joined, text, backwards := e.killed && len(e.ring) > 0, e.text[from:to], to == e.cur
	e.begin(other)
	switch {
	case !joined:
		e.remember(text)
	case backwards:
		e.ring[len(e.ring)-1] = text + e.ring[len(e.ring)-1]
	default:
		e.ring[len(e.ring)-1] += text
	}
	e.splice(from, to, "")
	e.killed = true
}

func (e *Editor) remember(text string) {
	if e.ring = append(e.ring, text); len(e.ring) > maxRing {
		e.ring = e.ring[1:]
	}
}

// yank puts the newest kill in.
func (e *Editor) yank() {
	if len(e.ring) == 0 {
		return
	}
	e.yankRing = len(e.ring) - 1
	e.putYank(e.cur, e.cur)
}

// yankPop replaces what was yanked by the kill before it; it does nothing unless the last key yanked.
func (e *Editor) yankPop() {
	if e.yankAt < 0 {
		return
	}
	e.yankRing = (e.yankRing + len(e.ring) - 1) % len(e.ring)
	e.putYank(e.yankAt, e.yankEnd)
}

func (e *Editor) putYank(from, to int) {
	text := e.ring[e.yankRing]
	e.begin(other)
	e.splice(from, to, text)
	e.yankAt, e.yankEnd = from, e.cur
}
