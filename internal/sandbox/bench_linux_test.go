package sandbox

import "testing"

// What the sandbox adds to the start of a command. See bench/README.md.
func BenchmarkStart(b *testing.B) {
	b.Run("none", func(b *testing.B) {
		r := newRig(b, func(r *rig) { r.settings.Mode = Off })
		for b.Loop() {
			r.run("true")
		}
	})
	b.Run("bubblewrap", func(b *testing.B) {
		needBubblewrap(b)
		r := newRig(b)
		r.run("true")
		for b.Loop() {
			r.run("true")
		}
	})
	b.Run("landlock", func(b *testing.B) {
		st := needLandlock(b)
		r := newRig(b, func(r *rig) { r.status = &st })
		for b.Loop() {
			r.run("true")
		}
	})
	b.Run("policy", func(b *testing.B) {
		r := newRig(b)
		in, err := r.sandbox.input()
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := derive(in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("probe", func(b *testing.B) {
		for b.Loop() {
			probeOnce(b)
		}
	})
}
