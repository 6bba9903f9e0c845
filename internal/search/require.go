package search

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// maxAlternatives bounds how many literals a prefilter looks for at once.
const maxAlternatives = 12

// texts is a set of strings, one of which must occur in every match.
type texts struct {
	list []string // lower case where fold; nil when nothing is known
	fold bool     // ASCII letters of either case
}

// need is what is known of the matches of one part of a pattern.
type need struct {
	exact bool  // the matches are exactly the strings in all
	all   texts // when exact
	best  texts // the best set of which one must occur; list nil when none
}

// requiredLiterals returns literals of which one occurs in every match of re. Whole says that to find one is to
// find a match, so no further look is needed. The result is empty when nothing is known.
func requiredLiterals(re *syntax.Regexp) (lits []literal, whole bool) {
	n := needOf(re)
	t := n.best
	if n.exact {
		t = better(t, n.all)
		whole = n.all.usable() && sameTexts(t, n.all)
	}
	if !t.usable() {
		return nil, false
	}
	for _, s := range t.list {
		lits = append(lits, newLiteral(s, t.fold))
	}
	return lits, whole
}

func sameTexts(a, b texts) bool {
	return a.fold == b.fold && len(a.list) == len(b.list) && strings.Join(a.list, "\x00") == strings.Join(b.list, "\x00")
}

// usable reports whether the set can drive a search: it has members and none is empty.
func (t texts) usable() bool {
	for _, s := range t.list {
		if s == "" {
			return false
		}
	}
	return len(t.list) > 0
}

func (t texts) cost() int {
	if !t.usable() {
		return 1 << 30
	}
	worst := 0
	for i, s := range t.list {
		l := newLiteral(s, t.fold)
		if c := l.cost(); i == 0 || c > worst {
			worst = c
		}
	}
	return worst + 12*(len(t.list)-1)
}

func better(a, b texts) texts {
	if b.cost() < a.cost() {
		return b
	}
	return a
}

func needOf(re *syntax.Regexp) need {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return need{exact: true, all: texts{list: []string{""}}}
	case syntax.OpLiteral:
		return needOfLiteral(re)
	case syntax.OpCharClass:
		return needOfClass(re)
	case syntax.OpCapture:
		return needOf(re.Sub[0])
	case syntax.OpConcat:
		return needOfConcat(re.Sub)
	case syntax.OpAlternate:
		return needOfAlternate(re.Sub)
	case syntax.OpPlus:
		return atLeastOne(needOf(re.Sub[0]))
	case syntax.OpRepeat:
		if re.Min == 0 {
			return need{}
		}
		if re.Min == re.Max && re.Min <= 4 {
			same := make([]*syntax.Regexp, re.Min)
			for i := range same {
				same[i] = re.Sub[0]
			}
			return needOfConcat(same)
		}
		return atLeastOne(needOf(re.Sub[0]))
	}
	return need{} // optional parts, any character, assertions
}

func atLeastOne(n need) need {
	if n.exact {
		n.best = better(n.best, n.all)
	}
	return need{best: n.best}
}

// needOfLiteral: a folded literal is known exactly only while its letters are ASCII; the few letters that fold
// beyond ASCII (k, s) are dealt with by matcher.foldTrap, which checks the text for their foreign forms.
func needOfLiteral(re *syntax.Regexp) need {
	if re.Flags&syntax.FoldCase == 0 {
		s := string(re.Rune)
		return need{exact: !strings.ContainsRune(s, unicode.ReplacementChar), all: texts{list: []string{s}}}
	}
	ascii, best, run := true, texts{}, ""
	flush := func() {
		if run != "" {
			best = better(best, texts{list: []string{run}, fold: true})
		}
		run = ""
	}
	for _, r := range re.Rune {
		if r >= 0x80 {
			ascii = false
			flush()
			continue
		}
		run += strings.ToLower(string(r))
	}
	if ascii {
		return need{exact: true, all: texts{list: []string{run}, fold: true}}
	}
	flush()
	return need{best: best}
}

// needOfClass: a small class is a choice between its characters.
func needOfClass(re *syntax.Regexp) need {
	var list []string
	for i := 0; i+1 < len(re.Rune); i += 2 {
		lo, hi := re.Rune[i], re.Rune[i+1]
		if int(hi-lo)+1+len(list) > 4 || hi == unicode.ReplacementChar {
			return need{}
		}
		for r := lo; r <= hi; r++ {
			list = append(list, string(r))
		}
	}
	return need{exact: len(list) > 0, all: texts{list: list}}
}

func needOfConcat(subs []*syntax.Regexp) need {
	out := need{exact: true}
	run := texts{list: []string{""}} // what stands before the next part, as long as it is known exactly
	for _, sub := range subs {
		n := needOf(sub)
		if n.exact {
			if joined, ok := cross(run, n.all); ok {
				run = joined
				continue
			}
			out.best = better(out.best, run)
			out.exact, run = false, n.all
			continue
		}
		out.best = better(better(out.best, run), n.best)
		out.exact, run = false, texts{list: []string{""}}
	}
	if out.exact {
		out.all = run
		return out
	}
	out.best = better(out.best, run)
	return out
}

// cross joins each string of a with each of b. It refuses when there are too many, or when one side folds case
// and the other holds letters that must not.
func cross(a, b texts) (texts, bool) {
	if len(a.list)*len(b.list) > maxAlternatives {
		return texts{}, false
	}
	if a.fold != b.fold && a.hasLetter() && b.hasLetter() {
		return texts{}, false
	}
	out := texts{fold: a.fold && a.hasLetter() || b.fold && b.hasLetter()}
	for _, x := range a.list {
		for _, y := range b.list {
			out.list = append(out.list, x+y)
		}
	}
	return out, true
}

// hasLetter reports whether folding matters to the set.
func (t texts) hasLetter() bool {
	for _, s := range t.list {
		for i := range len(s) {
			if isLower(s[i] | 0x20) {
				return true
			}
		}
	}
	return false
}

func needOfAlternate(subs []*syntax.Regexp) need {
	out := need{exact: true}
	var all, best texts
	for i, sub := range subs {
		n := needOf(sub)
		if !n.exact {
			out.exact = false
		} else {
			n.best = better(n.best, n.all)
		}
		if out.exact {
			out.exact = union(&all, n.all, i == 0)
		}
		if i == 0 || best.list != nil {
			if !n.best.usable() || !union(&best, n.best, i == 0) {
				best = texts{}
			}
		}
	}
	if out.exact {
		out.all = all
	}
	out.best = best
	return out
}

// union adds b to a; it refuses when the set grows too large or when only one of both folds case.
func union(a *texts, b texts, first bool) bool {
	if first {
		*a = texts{list: append([]string(nil), b.list...), fold: b.fold}
		return true
	}
	if len(a.list)+len(b.list) > maxAlternatives {
		return false
	}
	if a.fold != b.fold {
		if a.hasLetter() && b.hasLetter() {
			return false
		}
		a.fold = a.fold && a.hasLetter() || b.fold && b.hasLetter()
	}
	a.list = append(a.list, b.list...)
	return true
}
