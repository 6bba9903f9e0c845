// Package sys holds the seams to the outside that tests must replace: the clock for stamps, ids, the
// environment and the program's folders. It is filled once in package place and passed by value.
package sys
