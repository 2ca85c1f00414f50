/* macro_calls.h - calls among the tokens of a macro, which a grammar does not parse: adder(2) in
 * println!("{}", adder(2)). Almost every test of Rust calls what it tests inside of assert!.
 *
 * Rule     a name in front of round brackets, with type arguments between them or not: parse::<u8>(x); and the name of
 *          a macro, in front of ! and any brackets. The name behind fn or struct is one that is defined
 * Lost     a pattern, Some(x) in matches!(y, Some(x)), looks like a call and counts as one
 * Threads  any */
#ifndef MYTH_MACRO_CALLS_H
#define MYTH_MACRO_CALLS_H

#include <tree_sitter/api.h>

/* Hands on the name of each call in a tree of tokens, and in those inside of it. text is the whole file. */
void myth_macro_calls(TSNode tokens, const char *text, void (*on_call)(void *arg, TSNode name), void *arg);

#endif
