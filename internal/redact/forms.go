package redact

import "strings"

// class is a set of bytes.
type class [256]bool

func classOf(ranges string) *class {
	var c class
	for i := 0; i+1 < len(ranges); i += 2 {
		for b := int(ranges[i]); b <= int(ranges[i+1]); b++ {
			c[b] = true
		}
	}
	return &c
}

// shape is a key that begins with fixed letters and goes on with min to max bytes of a class.
type shape struct {
	name, start string
	body        *class
	min, max    int
}

// addForms puts the forms of common keys into a table.
func addForms(t *table) {
	upper, alnum := classOf("AZ09"), classOf("AZaz09")
	wide := classOf("AZaz09__--")
	shapes := []shape{
		{"AWS access key", "AKIA", upper, 16, 16},
		{"AWS access key", "ASIA", upper, 16, 16},
		{"GitHub token", "github_pat_", wide, 22, 255},
		{"Anthropic key", "sk-ant-", wide, 16, 255},
		{"OpenAI key", "sk-proj-", wide, 20, 255},
		{"Google API key", "AIza", wide, 35, 35},
		{"GitLab token", "glpat-", wide, 20, 60},
		{"npm token", "npm_", alnum, 36, 36},
		{"Stripe key", "sk_live_", alnum, 16, 255},
		{"Stripe key", "rk_live_", alnum, 16, 255},
		{"Hugging Face token", "hf_", alnum, 30, 60},
	}
	for _, c := range "pousr" {
		shapes = append(shapes, shape{"GitHub token", "gh" + string(c) + "_", alnum, 36, 255})
	}
	for _, c := range "bpares" {
		shapes = append(shapes, shape{"Slack token", "xox" + string(c) + "-", wide, 20, 255})
	}
	for _, s := range shapes {
		s.put(t)
	}
	addAny(t, "eyJ", wide, rule{match: jwt})
	any := classOf("\x01\xff")
	addAny(t, "://", any, rule{match: urlPassword})
	t.put("----", rule{match: privateKey})
	for _, s := range []string{"Bear", "bear", "BEAR", "Basi", "basi"} {
		t.put(s, rule{match: bearer})
	}
	for _, s := range []string{"SECR", "TOKE", "PASS", "_KEY"} {
		t.put(s, rule{match: assigned})
	}
}

func (s shape) put(t *table) {
	r := rule{match: s.match}
	if len(s.start) == 3 {
		addAny(t, s.start, s.body, r)
		return
	}
	t.put(s.start, r)
}

// addAny adds a rule for three fixed bytes and any fourth one of a class.
func addAny(t *table, start string, c *class, r rule) {
	for b := range c {
		if c[b] {
			t.put(start+string([]byte{byte(b)}), r)
		}
	}
}

// match finds a key that stands by itself.
func (s shape) match(text string, i int) found {
	if !strings.HasPrefix(text[i:], s.start) || i > 0 && isWord(text[i-1]) {
		return found{}
	}
	from := i + len(s.start)
	end := run(text, from, s.body, s.max+1)
	if n := end - from; n < s.min || n > s.max || strings.HasSuffix(text[i:end], "EXAMPLE") {
		return found{}
	}
	return found{i, end, Mark(s.name)}
}

// run returns where the run of bytes of a class that starts at i ends, after at most limit bytes.
func run(s string, i int, c *class, limit int) int {
	end := i
	for end < len(s) && end-i < limit && c[s[end]] {
		end++
	}
	return end
}

func isWord(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b == '_'
}
