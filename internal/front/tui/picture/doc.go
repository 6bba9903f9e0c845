// Package picture draws the small pictures of the screen: how full the context is and of what, progress bars, the spinner,
// the bar of key hints, and numbers for people. In come numbers and a width; out come lines.
//
//	var u picture.Usage
//	_ = json.Unmarshal(reply, &u)                 // the answer to get_context_usage
//	for _, l := range picture.Context(&th, u, cols) { … }
//	picture.Bar(&th, 0.62, 20)                    // "████████████▍       "
//	picture.Spinner(elapsed, !reducedMotion)      // "⠹"
//	picture.Hints(&th, []picture.Hint{{"Enter", "send"}, {"Esc", "stop"}}, cols)
//	picture.Tokens(12345), picture.Elapsed(65*time.Second) // "12.3k", "1m 05s"
package picture
