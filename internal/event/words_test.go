package event

import "testing"

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		OneLine(" a\n b\tc ", 5): "a b c",
		OneLine("abcdef", 5):     "abcd…",
		Bytes(999):               "999 B",
		Bytes(1000):              "1 kB",
		Bytes(1_500_000):         "1.5 MB",
		Bytes(9_999_000_000):     "9999.0 MB",
		Bytes(10_000_000_000):    "10.0 GB",
		Cut("abc", 3):            "abc",
		Cut("abcd", 3):           "abc…",
		Cut("aé", 2):             "a…", // never half a letter
		Thousands(999):           "999",
		Thousands(1000):          "1.0k",
		Thousands(999_949):       "999.9k",
		Thousands(999_950):       "1.0M", // not 1000.0k
		Thousands(1_234_567):     "1.2M",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
