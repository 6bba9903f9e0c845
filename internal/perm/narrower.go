package perm

// Narrower is the mode of a sub-agent whose definition wishes for one, below a conversation in mode above. It never
// allows, or asks for, what above would not: a wish counts only where it takes rights away. The modes that were chosen
// to get on without questions (acceptEdits, auto, bypassPermissions) go through, as documented.
func Narrower(above, wish Mode) Mode {
	if above == "" {
		above = ModeDefault
	}
	if above == ModeDefault && (wish == ModePlan || wish == ModeDontAsk) {
		return wish
	}
	return above
}
