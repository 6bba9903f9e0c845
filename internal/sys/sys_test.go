package sys

import "testing"

func TestInt(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "200": 200, " 64_000 ": 64_000, "2e3": 2000, "-5": -5, "1.5e1": 15} {
		if n, ok := Int(s); n != want || !ok {
			t.Errorf("Int(%q) = %d, %v", s, n, ok)
		}
	}
	for _, s := range []string{"", "x", "1.5", "NaN", "Inf", "1e300", "10s"} {
		if n, ok := Int(s); n != 0 || ok {
			t.Errorf("Int(%q) = %d, %v", s, n, ok)
		}
	}
}
