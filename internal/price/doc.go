// Package price knows models: what fits in them, what they can do and what they cost. All of it is one table,
// models.json, read on first use; settings override it (Table.With). An id that the table does not have gets
// careful defaults, never a refusal: 200,000 tokens of window, 32,000 of output, the price of its family if the
// name tells one.
//
// Everything that asks about a model comes here: stage 5 (window), stage 6 (limits, thinking, effort), stage 10
// (cost) and the model option.
package price
