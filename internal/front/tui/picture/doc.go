// Package picture draws the small pictures of the screen: how full the context is and of what, and numbers
// of tokens for people. In come numbers and a width; out come lines.
//
//	var u picture.Usage
//	_ = json.Unmarshal(reply, &u)                 // the answer to get_context_usage
//	for _, l := range picture.Context(&th, u, cols) { … }
//	picture.Tokens(12345)                         // "12.3k"
package picture
