package tui

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/keymap"
	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/term"
	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// frameTime is the least time between two pictures that events ask for; keys are shown at once.
const frameTime = 33 * time.Millisecond

// slowFrameTime is the same while only a little more of an answer has come.
const slowFrameTime = 200 * time.Millisecond

// tickTime is after how long without a picture that of running work changes by itself.
const tickTime = 250 * time.Millisecond

// ui is the screen and all of its state. Only the goroutine of Run touches it.
type ui struct {
	o         Options
	ctx       context.Context
	tty       *term.Terminal
	inline    *screen.Inline
	full      *fullView // nil on the inline screen
	th        theme.Theme
	themeName string // as it was chosen: auto is dark or light
	depth     theme.Depth
	dark      bool
	cols      int
	rows      int

	session   *Session
	starting  bool
	never     bool   // there has been no session yet
	failed    string // why there is no session
	inbox     *inbox
	spare     []event.Envelope
	posted    chan func()
	replies   map[string]func(event.Reply)
	silent    bool            // items are not printed
	shownIDs  map[string]bool // messages since the conversation became another; nil: not counted
	lastTyped time.Time       // into the prompt
	later     []func()        // queries for a session that is being built
	nextID    int

	items     []item
	commit    []width.Line // to go into the scrollback with the next picture
	lastKind  kind
	work      work
	status    status
	dialogs   []dialog
	hostCalls map[string]dialog // what the session asked of its host, by the call's id
	prompt    prompt
	queue     []queued
	menu      *menu
	late      []item // that wait until the answer that comes is whole
	spun      struct {
		key  spinKey
		line string
	}
	keys       *keymap.Matcher // of the user's bindings; nil before they are known
	ownBound   *keymap.Matcher // only what the user's file says, for dialogs and the transcript
	bound      []byte          // the file that they are of
	keyAt      time.Time       // of the last key
	modeAsked  string          // the permission mode that the session was asked for and has not answered yet
	modeNext   string          // what it is asked for then
	noMouse    bool            // on the whole screen the mouse is the terminal's
	thinkOff   bool            // the person switched thinking off
	hint       string          // one line below the input, until the next key
	showTodo   bool
	commands   []command
	commandsAt time.Time // when they were asked for
	dismissed  string    // what was typed when a menu was closed
	asking     int       // number of the last question of a menu or a list
	shellID    string    // of the person's command that runs
	temps      []string  // folders of pasted images
	links      bool      // the terminal makes links
	lent       bool      // the transcript stands before the inline screen
	todos      []todo

	inners     map[string]*inner // what sub-agents did, by the call that they work for
	innerAsked bool              // for those of earlier runs

	lastDraw  time.Time
	frame     *time.Timer // for events
	tick      *time.Timer // for running work
	resize    *time.Timer
	resizing  bool
	resizeAt  time.Time // of the last news of it
	confirmed bool      // the terminal was asked again behind it
	moved     bool      // the size has changed since the inline screen was lent
	talk      talk
	kept      []term.Event // what came while answers were waited for
	focused   bool
	armedFor  string // the key that ends the program when it is pressed again
	armedAt   time.Time
	outcome   Outcome
	quit      bool
}

// Run shows the screen until the person leaves. The first picture comes before anything else is done.
func Run(ctx context.Context, o Options) (out Outcome, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.Reader || o.Getenv("TERM") == "dumb" {
		return runPlain(ctx, o)
	}
	tty, err := term.Open(o.In, o.Out, term.Options{})
	if err != nil {
		return Outcome{}, fmt.Errorf("the terminal cannot be used: %w", err)
	}
	defer tty.Close()
	defer func() {
		if p := recover(); p != nil {
			tty.Close()
			panic(fmt.Sprintf("%v\n%s", p, debug.Stack()))
		}
	}()
	u := newUI(ctx, o, tty)
	if o.Fullscreen {
		u.toFull()
	}
	u.starting, u.never = true, true
	u.draw()
	u.greet()
	stop := u.signals()
	defer stop()
	if len(o.Guard) > 0 {
		tty.Protect(o.Guard...)
	}
	u.start(Start{})
	u.loop()
	u.leave()
	return u.outcome, nil
}

func newUI(ctx context.Context, o Options, tty *term.Terminal) *ui {
	cols, rows := tty.Size()
	u := &ui{
		o: o, ctx: ctx, tty: tty, cols: cols, rows: rows, focused: true,
		inline: screen.NewInline(tty, cols, rows, reflow(o.Getenv)), depth: theme.DepthOf(o.Getenv, true),
		posted: make(chan func(), 64), inbox: newInbox(), replies: map[string]func(event.Reply){},
		frame: stopped(), tick: stopped(), resize: stopped(),
	}
	u.dark, _ = theme.DarkBackground(o.Getenv) // until the terminal answers
	u.th, u.themeName = theme.Named("auto", u.depth, u.dark), "auto"
	u.links = knowsLinks(o.Getenv)
	u.prompt = newPrompt()
	u.print(width.Line{Text: u.th.Strong.Paint("Lathe") + u.th.Muted.Paint(" "+o.Version+"  "+width.Inert(o.Cwd))})
	help := "? for keys · / for commands · @ for files · ! for a shell command"
	if cols <= width.Of(help) {
		help = "? keys · / commands · @ files · ! shell"
	}
	u.print(width.Line{Text: u.th.Muted.Paint(help), Prose: true})
	return u
}

func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// loop takes what comes until the person leaves.
func (u *ui) loop() {
	for !u.quit {
		if len(u.kept) > 0 {
			e := u.kept[0]
			u.kept = u.kept[1:]
			if u.terminal(e) {
				u.draw()
			}
			continue
		}
		select {
		case e := <-u.tty.Events():
			shows := u.terminal(e)
			for more := true; more && !u.quit && len(u.kept) == 0; {
				select {
				case e := <-u.tty.Events():
					shows = u.terminal(e) || shows
				default:
					more = false
				}
			}
			if shows {
				u.draw()
			}
		case <-u.inbox.wake:
			u.soon()
		case f := <-u.posted:
			f()
			u.draw()
		case <-u.frame.C:
			u.draw()
		case <-u.tick.C:
			u.draw()
		case <-u.resize.C:
			u.resized()
		case <-u.ctx.Done():
			u.quit = true
		}
	}
}

// soon draws when the time of a picture has passed since the last.
func (u *ui) soon() {
	wait := frameTime
	if !u.inbox.hurries() {
		wait = slowFrameTime
	}
	if wait -= u.o.Now().Sub(u.lastDraw); wait <= 0 {
		u.draw()
		return
	}
	u.frame.Reset(wait)
}

// post has f run by the loop.
func (u *ui) post(f func()) {
	select {
	case u.posted <- f:
	case <-u.ctx.Done():
	}
}

// draw shows the state. While the terminal changes its size nothing is drawn.
func (u *ui) draw() {
	if u.resizing || u.quit {
		return
	}
	if cols, rows := u.tty.Size(); cols != u.cols || rows != u.rows { // its news may be slow
		u.terminal(term.Resize{Width: cols, Height: rows})
		return
	}
	u.take()
	u.lastDraw = u.o.Now()
	var err error
	if u.full != nil {
		err = u.full.draw(u)
	} else {
		err = u.inline.Draw(u.picture())
	}
	if err != nil { // the terminal has gone
		u.quit, u.outcome.Code = true, 1
	}
	if u.busy() && (u.dialog() == nil || len(u.work.tools) > 0) {
		u.tick.Reset(tickTime)
	}
}

// take handles the events that have come.
func (u *ui) take() {
	list := u.inbox.take(u.spare)
	for i := range list {
		u.event(list[i])
		list[i] = event.Envelope{}
	}
	u.spare = list
}

// print adds lines to the scrollback.
func (u *ui) print(lines ...width.Line) { u.commit = append(u.commit, lines...) }

// leave ends the session and takes the region away.
func (u *ui) leave() {
	switch {
	case u.lent:
		u.closeTranscript()
	case u.full != nil:
		u.toInline()
	}
	u.prompt.saveDraft()
	if u.session != nil {
		_ = u.session.Conn.Send(u.ctx, event.Interrupt{DropQueued: true})
		_ = u.session.Conn.Send(u.ctx, event.Close{})
	}
	for _, dir := range u.temps {
		_ = os.RemoveAll(dir)
	}
	u.fit()
	f := u.picture()
	f.Open, f.Foot, f.Cursor = nil, nil, screen.Cursor{}
	_ = u.inline.Draw(f)
	u.stepAside()
	u.tty.Close()
	if u.session != nil {
		bye := u.goodbye()
		u.outcome.Goodbye = append(u.outcome.Goodbye, bye...)
		u.session.Close()
		if len(bye) > 0 && u.session.Summary != nil {
			u.outcome.Summary = u.session.Summary()
		}
	}
}

// signals ends the program, with the terminal restored, when it is told to end.
func (u *ui) signals() (stop func()) {
	ch := make(chan os.Signal, 2)
	done := make(chan struct{})
	caught := []os.Signal{syscall.SIGTERM, os.Interrupt}
	if !signal.Ignored(syscall.SIGHUP) {
		caught = append(caught, syscall.SIGHUP)
	}
	signal.Notify(ch, caught...)
	go func() {
		for {
			select {
			case s := <-ch:
				if s == os.Interrupt {
					u.post(func() { u.terminal(term.Key{Code: 'c', Mod: term.Ctrl}) })
					continue
				}
				u.tty.Close()
				u.o.Die(143)
			case <-done:
				return
			}
		}
	}()
	return func() { signal.Stop(ch); close(done) }
}
