package editor

type Vim struct{}

func NewVim() *Vim                                     { return &Vim{} }
func (v *Vim) Key(e *Editor, name, text string) Result { return e.Key(name, text) }
