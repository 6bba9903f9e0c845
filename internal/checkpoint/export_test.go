package checkpoint

// Slack is by how much clocks may differ.
const Slack = slack

// Abandon does to a watch what the end of the process does: its locks are gone, its files stay.
func Abandon(w *Watch) {
	_ = w.pending.Close()
	if w.pack != nil {
		_ = w.pack.f.Close()
	}
}
