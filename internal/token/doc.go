// Package token estimates how many tokens a model will count for text, blocks, images and tools, without asking
// it. Characters by four is off by 20 to 40 % on what an agent sends (code, JSON, numbered lines); weights for kinds of
// characters, fitted to recorded usage, are off by about 8 % in the median and cost one table lookup a byte.
// TestAgainstRecordedUsage prints the error.
//
// It is called where no count of the provider's exists yet: stage 5 for what came since the last answer, the
// budget check before a call, the result budget, and traces.
package token
