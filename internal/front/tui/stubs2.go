package tui

import "lathe/internal/front/tui/width"

func (u *ui) renderShell(it *item, whole bool) []width.Line { return u.renderTool(it, whole) }
