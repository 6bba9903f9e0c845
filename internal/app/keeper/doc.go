// Package keeper keeps in mind what the prompt cache of a conversation holds: it tells a person when an answer shows that the
// cache was missed, why, and what a change that loses it would cost.
//
// In: each request with its answer's usage. Out: notices, and prices. Called by the model stage, and before a change of the
// model.
package keeper
