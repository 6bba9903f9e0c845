package inspect

// fit brings the estimates of what filled a context to the total that the API counted for it, so that no part of it is
// larger than the whole. What a transcript knows without a trace lacks the system prompt and the tools: it is fitted only
// where it is too large.
func (r *Request) fit() {
	counted, sum := r.counted(), 0
	for _, s := range r.Shares {
		sum += s.Tokens
	}
	if counted == 0 || sum == 0 || !r.Traced && sum <= counted {
		return
	}
	r.Fitted = true
	before, given := 0, 0 // the sums so far: each part gets what keeps them in proportion, so that all together are exact
	for i := range r.Shares {
		before += r.Shares[i].Tokens
		upTo := int(int64(before) * int64(counted) / int64(sum))
		r.Shares[i].Tokens, given = upTo-given, upTo
	}
}

// counted is the size of the prompt of the last call, in tokens; 0 where none was answered.
func (r *Request) counted() int {
	for i := len(r.Calls) - 1; i >= 0; i-- {
		if u := r.Calls[i].Usage; u != nil && u.Prompt() > 0 {
			return u.Prompt()
		}
	}
	if r.Traced {
		return 0
	}
	return r.Usage.Prompt()
}
