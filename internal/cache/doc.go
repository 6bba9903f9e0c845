// Package cache explains misses of the prompt cache. In go two requests of a conversation, one after the other, as they
// were sent, with what their answers said of their use; out comes whether less was read from the cache than the first
// had put there, which byte of which block differs, which setting or stage did that, and how many tokens it took. It
// works on what was recorded as well as on what has just been sent: all of it is pure functions.
//
// Package app calls it after each answer, and for lathe inspect.
package cache
