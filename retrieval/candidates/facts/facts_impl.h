/* facts_impl.h - what the files of facts share (facts.h). */
#ifndef MYTH_FACTS_IMPL_H
#define MYTH_FACTS_IMPL_H

#include "facts.h"

#define N_OF(list) (sizeof(list) / sizeof(*(list)))

/* What a function does first with a variable that got the result of a call. */
typedef enum {
    MYTH_CHECKED_NONE,
    MYTH_CHECKED_TESTED,
    MYTH_CHECKED_USED,
    MYTH_CHECKED_IGNORED,
    MYTH_CHECKED_RETURNED
} myth_checked;

/* Finds the definition whose variable gets the result of a call; false = none does. */
bool myth_facts_taker(const myth_flow *f, uint32_t call, uint32_t *definition);
/* *line: the line where it is done. */
myth_checked myth_facts_checked(const myth_flow *f, uint32_t definition, uint32_t *line);

/* What is known of a name of the file; NULL = the file has no such name. A field's name begins with a dot. */
const myth_file_name *myth_file_facts_find(const myth_file_facts *ff, const char *text);
void myth_file_facts_field(char dst[MYTH_FLOW_PATH_BYTES + 2], const myth_flow *f, uint32_t path);

/* The last definition of the path, or of what it is a part of, from which control comes to event e; false = none. */
bool myth_facts_definition(const myth_facts *k, uint32_t path, uint32_t e, uint32_t *out);
/* The name of the function that returned the value of event e's path; 0 = it is not the result of a call. */
uint32_t myth_facts_origin_call(const myth_facts *k, uint32_t e);
/* Argument number i of the call e; null where event e is no call, or has fewer arguments. */
TSNode myth_facts_argument(const myth_facts *k, uint32_t e, uint32_t i);
/* The node of the value that a definition gives its target, or a literal its member; null = none. */
TSNode myth_facts_value_node(const myth_flow *f, const myth_event *e);

/* Where a value comes from, in the order of GIVEN in facts.def. */
enum {
    MYTH_GIVEN_NO,
    MYTH_GIVEN_PROGRAM,
    MYTH_GIVEN_CHECKED,
    MYTH_GIVEN_FIELD,
    MYTH_GIVEN_PARAMETER,
    MYTH_GIVEN_SEGMENT,
    MYTH_GIVEN_REQUEST
};
/* Where the values in argument number i of call e come from; of another event, those in its value. */
int myth_facts_given(const myth_facts *k, uint32_t e, uint32_t i);
int myth_fact_given(myth_facts *k, uint32_t e);
int myth_fact_given1(myth_facts *k, uint32_t e);
int myth_fact_given2(myth_facts *k, uint32_t e);
int myth_fact_between(myth_facts *k, uint32_t e);
int myth_fact_given_base(myth_facts *k, uint32_t e);

/* Which part of a request a value is: none, one segment of its path, or any part that the sender chose. */
typedef enum { MYTH_REQUEST_NO, MYTH_REQUEST_SEGMENT, MYTH_REQUEST_ANY } myth_request_part;
/* Whether the name of a path or function says that its value is a part of a request that the sender wrote. */
bool myth_facts_is_request(const char *name);
/* The same; the types of the function's variables are used too. */
bool myth_facts_is_request_in(const myth_flow *f, const char *name);
/* Which part of a request the parameter is that an event defines: by its annotation, its function's route or its
 * callers. */
myth_request_part myth_facts_parameter_of_request(const myth_file_facts *ff, const myth_flow *f, const myth_event *def);
/* Which part of a request an argument of a call is. */
myth_request_part myth_facts_argument_of_request(const myth_facts *k, uint32_t call, uint32_t index);
/* Parameter number `index` of the function `name`; NULL unless the file defines exactly one function of that name. */
myth_file_parameter *myth_file_facts_parameter(const myth_file_facts *ff, const char *name, uint32_t index);
int myth_fact_secret(myth_facts *k, uint32_t e);
myth_file_name *myth_file_facts_put(myth_file_facts *ff, const char *text); /* NULL without memory */
/* Puts a text into `names` and returns its offset. */
uint32_t myth_file_facts_text(myth_file_facts *ff, const char *text);
/* Notes from which byte on a file has tests, by its includes, and whether it may have maps. Called once for a file,
 * with the flow of what is outside of all functions. */
void myth_file_facts_tests(myth_file_facts *ff, const myth_flow *f);
/* Marks the macros that stand for an attribute that releases a variable. Called like the one before. */
void myth_file_facts_releasing(myth_file_facts *ff, const myth_flow *f);
/* Marks the classes whose destructor closes something. Called like the one before. */
void myth_file_facts_closers(myth_file_facts *ff, const myth_flow *f);
/* Marks a function that returns something which a variable that outlives it keeps. A function that returns the result
 * of such a function is marked only if that one comes before it in the file. */
void myth_file_facts_keepers(myth_file_facts *ff, const myth_flow *f);
/* Marks the functions that are declared never to return. Called once for a file, with the flow of what is outside of
 * all functions. */
void myth_file_facts_ending(myth_file_facts *ff, const myth_flow *f);
/* Counts a call after which the process ends if it returned a certain value. */
void myth_file_facts_ended(myth_file_facts *ff, const myth_flow *f, uint32_t call);
/* Counts what a function does with its parameters. */
void myth_file_facts_parameters(myth_file_facts *ff, const myth_flow *f);
/* What the called function does with an argument, if the file defines it; NULL = nothing is known. */
const myth_file_parameter *myth_facts_summary(const myth_facts *k, uint32_t call, uint32_t index);
/* Whether the value of event x, a definition or a way out, is put together from parts of which the path is one. */
bool myth_facts_is_made_of(const myth_flow *f, uint32_t x, uint32_t path);
/* Whether a function is known only to read its arguments. */
bool myth_facts_is_reader(const char *name);
/* Whether a variable is released where its block ends, by an attribute of its declaration: C and C++. */
bool myth_facts_is_released_by_itself(const myth_facts *k, uint32_t path);
/* Whether something else closes what call e opened for definition d before event `to`: the destructor of an object of
 * C++, an object that was made of the descriptor, or exec, which replaces the process. */
bool myth_facts_has_keeper(const myth_facts *k, uint32_t e, uint32_t d, uint32_t to);
/* Whether a call before way out x was given what event d took, and keeps it when it succeeds: the function releases it
 * itself where that call fails, and does so at every call that it gives it to. */
bool myth_facts_is_taken_where_well(const myth_facts *k, uint32_t d, uint32_t x);
/* Whether event c is a call that releases the path, of a function in the row's list (`with`). */
bool myth_facts_releases(const myth_facts *k, uint32_t c, uint32_t path);
/* The same, where closing a part of it is not enough: res.Body.Close() does not release res. */
bool myth_facts_releases_whole(const myth_facts *k, uint32_t c, uint32_t path);
/* Whether the function that returned the value of definition d keeps that value too, if the file defines it. */
bool myth_facts_is_kept_by_callee(const myth_facts *k, uint32_t d);
/* Whether event a gives the path, a descriptor, to a function that locks it. Closing the descriptor would unlock it, so
 * it stays open on purpose. */
bool myth_facts_is_locked(const myth_flow *f, uint32_t a, uint32_t path);
/* Whether a call that does not return follows event d outside of any branch. */
bool myth_facts_never_returns(const myth_flow *f, uint32_t d);
/* Whether event x returns a value at which all callers end the process. All callers must be in this file: the function
 * is not visible outside. */
bool myth_facts_ends_callers(const myth_facts *k, uint32_t x);
/* Whether the path's name says that it is a status, and not the thing that a call returned. */
bool myth_facts_is_status(const myth_flow *f, uint32_t path);
/* Whether the result of a call, which definition d keeps, is only a status: the call stores what it opened through an
 * address, and its result is compared with zero. */
bool myth_facts_is_told_beside(const myth_flow *f, uint32_t call, uint32_t d);
/* Whether the condition of test t is a call that asserts the path: if (!log_assert(p, "no memory")) */
bool myth_facts_is_asserted(const myth_flow *f, const myth_event *t);
/* Whether event x is only reached when closing a file has failed, by the condition around it. */
bool myth_facts_is_failed_close(const myth_flow *f, uint32_t x);
/* Whether event x follows a call that ends the process, in the same block. */
bool myth_facts_is_behind_end(const myth_flow *f, uint32_t x);
/* Whether a variable belongs to the file and not to the function, as the function's text says (Python: global x). */
bool myth_facts_is_global(const myth_flow *f, uint32_t path);
/* Whether call e shrinks memory, as the condition around it says: such a call does not fail. */
bool myth_facts_is_shrunk(const myth_flow *f, uint32_t e);
/* Go: whether the function around a scope is run as a command of a program, by its parameters. The process ends after
 * it. */
bool myth_facts_is_command(const myth_flow *f, uint32_t scope);
/* Whether a call gives a descriptor to an object that owns it from then on, or sends it to another process:
 * create_engine(fd), send_message(peer, TYPE, fd). In Go: whether it closes what it gets, or writes logs to it. */
bool myth_facts_is_given_to_new(const myth_flow *f, const myth_event *x);
/* ---- facts_settled.c: reasons why the result of call e, which definition d keeps, needs no test ---- */

/* The result is the value that was read, and no count or status: pop_node_set(), bit_read(&r, 4). */
bool myth_facts_is_value(const myth_facts *k, uint32_t e, uint32_t d);
/* The first use of the result, event x, hands it to a script as a number: sqlite3_result_int64(c, n). */
bool myth_facts_is_reported(const myth_flow *f, uint32_t d, uint32_t x);
/* The call writes a text into memory of exactly the size that the call is given, which was measured before. */
bool myth_facts_fits(const myth_facts *k, uint32_t e);
/* The result is a copy of a text for the caller, and nothing in this function reads it. */
bool myth_facts_is_given(const myth_flow *f, uint32_t e, uint32_t d);
/* The function is static, stores the result through a parameter, and all callers test it before they use it. */
bool myth_facts_is_asked_by_callers(const myth_flow *f, uint32_t d);
/* The variable gets another value before anything reads it: a pointer by a definition, any variable by a function that
 * is given its address and makes a value there. */
bool myth_facts_is_set_again(const myth_flow *f, uint32_t d);
/* The call stores its status through an address, and the status is tested before event `next`, the first use of the
 * result. */
bool myth_facts_is_told(const myth_flow *f, uint32_t e, uint32_t next);
/* Call e scans a file of the kernel, which always has the same form: a line of "/proc/stat". */
bool myth_facts_is_of_kernel(const myth_facts *k, uint32_t e);
/* Call e scans a network address of four numbers that a function of the library has written or accepted before. */
bool myth_facts_is_of_address(const myth_facts *k, uint32_t e);
/* Call e scans a constant text of the program: sscanf(PACKAGE_VERSION, "%d", &major). */
bool myth_facts_is_of_constant(const myth_facts *k, uint32_t e);
/* Whether a name has the word as one of its parts: at its beginning or after a sign, and not followed by a small
 * letter. */
bool myth_facts_has_part(const char *name, const char *word);
/* Whether a word in a function's name says that it keeps what it is given. */
bool myth_facts_takes_over(const char *name);

/* Whether a file of Java is compiled to JavaScript by GWT, where == compares texts by their value. */
bool myth_facts_is_for_browser(const myth_flow *f);

int myth_fact_address(myth_facts *k, uint32_t e);
int myth_fact_freed(myth_facts *k, uint32_t e);
int myth_fact_guarded(myth_facts *k, uint32_t e);
int myth_fact_way(myth_facts *k, uint32_t e);
int myth_fact_shared(myth_facts *k, uint32_t e);
int myth_fact_released(myth_facts *k, uint32_t e);
int myth_fact_release_later(myth_facts *k, uint32_t e);
int myth_fact_escapes(myth_facts *k, uint32_t e);
int myth_fact_ends(myth_facts *k, uint32_t e);
int myth_fact_leaves(myth_facts *k, uint32_t e);
int myth_fact_unlocked(myth_facts *k, uint32_t e);
int myth_fact_second_later(myth_facts *k, uint32_t e);
int myth_fact_held(myth_facts *k, uint32_t e);
int myth_fact_unset(myth_facts *k, uint32_t e);
/* Whether a variable of the function outlives it. */
bool myth_facts_is_static(const myth_flow *f, const myth_path *p);
int myth_fact_by_dot(myth_facts *k, uint32_t e);
int myth_fact_made_in(myth_facts *k, uint32_t e);
int myth_fact_handed_on(myth_facts *k, uint32_t e);
int myth_fact_usually_tested(myth_facts *k, uint32_t e);
int myth_fact_memory(myth_facts *k, uint32_t e);
int myth_fact_memory_ends(myth_facts *k, uint32_t e);
int myth_fact_vetted(myth_facts *k, uint32_t e);
int myth_fact_asked_after(myth_facts *k, uint32_t e);
int myth_fact_waived(myth_facts *k, uint32_t e);
int myth_fact_settled(myth_facts *k, uint32_t e);
int myth_fact_read_bare(myth_facts *k, uint32_t e);
int myth_fact_form_asked(myth_facts *k, uint32_t e);
int myth_fact_library(myth_facts *k, uint32_t e);
int myth_fact_preset(myth_facts *k, uint32_t e);
int myth_fact_rights(myth_facts *k, uint32_t e);
int myth_fact_minor(myth_facts *k, uint32_t e);
int myth_fact_always_there(myth_facts *k, uint32_t e);
int myth_fact_last(myth_facts *k, uint32_t e);
int myth_fact_empty(myth_facts *k, uint32_t e);
int myth_fact_excused(myth_facts *k, uint32_t e);
int myth_fact_parting(myth_facts *k, uint32_t e);
int myth_fact_tries(myth_facts *k, uint32_t e);
/* The node whose source the facts `tried` and `origin_text` are; null = none. */
TSNode myth_facts_tried(const myth_facts *k, uint32_t e);
TSNode myth_facts_origin_node(const myth_facts *k, uint32_t e);
/* The function inside of the function that a scope is in; 0 = none. */
uint32_t myth_facts_nested(const myth_flow *f, uint32_t scope);

int myth_fact_target(myth_facts *k, uint32_t e);
int myth_fact_measured(myth_facts *k, uint32_t e);
int myth_fact_mentioned(myth_facts *k, uint32_t e);
int myth_fact_own_size(myth_facts *k, uint32_t e);
int myth_fact_fills(myth_facts *k, uint32_t e);
int myth_fact_spent(myth_facts *k, uint32_t e);
int myth_fact_adds_up(myth_facts *k, uint32_t e);
int myth_fact_element(myth_facts *k, uint32_t e);
int myth_fact_size_from(myth_facts *k, uint32_t e);
int myth_fact_scans(myth_facts *k, uint32_t e);
int myth_fact_behind(myth_facts *k, uint32_t e);
int myth_fact_fills_rest(myth_facts *k, uint32_t e);
int myth_fact_unended(myth_facts *k, uint32_t e);
int myth_fact_wrong_size(myth_facts *k, uint32_t e);
int myth_fact_followed(myth_facts *k, uint32_t e);
int myth_fact_longest(myth_facts *k, uint32_t e);
int myth_fact_file(myth_facts *k, uint32_t e);
int myth_fact_format(myth_facts *k, uint32_t e);
int myth_fact_owned(myth_facts *k, uint32_t e);
int myth_fact_bytes(myth_facts *k, uint32_t e);
int myth_fact_hands(myth_facts *k, uint32_t e);
int myth_fact_factors(myth_facts *k, uint32_t e);
int myth_fact_wraps(myth_facts *k, uint32_t e);
int myth_fact_wire(myth_facts *k, uint32_t e);
int myth_fact_half_set(myth_facts *k, uint32_t e);
int myth_fact_counted(myth_facts *k, uint32_t e);
int myth_fact_signed_byte(myth_facts *k, uint32_t e);
int myth_fact_unit(myth_facts *k, uint32_t e);
int myth_fact_next_of(myth_facts *k, uint32_t e);
int myth_fact_goes_on(myth_facts *k, uint32_t e);
int myth_fact_gets_secret(myth_facts *k, uint32_t e);
int myth_fact_len_less(myth_facts *k, uint32_t e);
int myth_fact_unasked(myth_facts *k, uint32_t e);
int myth_fact_asked_rights(myth_facts *k, uint32_t e);
int myth_fact_of_pattern(myth_facts *k, uint32_t e);

int myth_fact_reads_xml(myth_facts *k, uint32_t e);
int myth_fact_filter(myth_facts *k, uint32_t e);
int myth_fact_entry(myth_facts *k, uint32_t e);
int myth_fact_unpacks(myth_facts *k, uint32_t e);
int myth_fact_uploaded(myth_facts *k, uint32_t e);
int myth_fact_text_page(myth_facts *k, uint32_t e);
int myth_fact_own_host(myth_facts *k, uint32_t e);
int myth_fact_safe_loader(myth_facts *k, uint32_t e);
int myth_fact_made_for(myth_facts *k, uint32_t e);
int myth_fact_put_to_use(myth_facts *k, uint32_t e);
int myth_fact_at_end(myth_facts *k, uint32_t e);
int myth_fact_for_server(myth_facts *k, uint32_t e);
int myth_fact_used_before(myth_facts *k, uint32_t e);

int myth_fact_own_parts(myth_facts *k, uint32_t e);
int myth_fact_unfailing(myth_facts *k, uint32_t e);
int myth_fact_parted(myth_facts *k, uint32_t e);
int myth_fact_own_values(myth_facts *k, uint32_t e);
int myth_fact_seen(myth_facts *k, uint32_t e);
int myth_fact_when_none(myth_facts *k, uint32_t e);
int myth_fact_scheme(myth_facts *k, uint32_t e);

int myth_fact_in_tests(myth_facts *k, uint32_t e);
int myth_fact_chosen(myth_facts *k, uint32_t e);
int myth_fact_rechecked(myth_facts *k, uint32_t e);
int myth_fact_verified(myth_facts *k, uint32_t e);
int myth_fact_sent(myth_facts *k, uint32_t e);
int myth_fact_guessable(myth_facts *k, uint32_t e);
int myth_fact_hollow(myth_facts *k, uint32_t e);
int myth_fact_fixed0(myth_facts *k, uint32_t e);
int myth_fact_fixed1(myth_facts *k, uint32_t e);
int myth_fact_fixed2(myth_facts *k, uint32_t e);
int myth_fact_fixed4(myth_facts *k, uint32_t e);
int myth_fact_wide(myth_facts *k, uint32_t e);
int myth_fact_one_block(myth_facts *k, uint32_t e);
int myth_fact_fallback(myth_facts *k, uint32_t e);
/* The name of the innermost function around event e; null = none. */
TSNode myth_facts_within(const myth_facts *k, uint32_t e);

/* The whole condition that a test event is in, of which a part of a chain (a && b) is a test of its own. */
static inline const myth_test *myth_facts_outermost(const myth_flow *f, const myth_event *t)
{
    uint32_t i = t->test;
    while (f->test[i - 1].outer)
        i = f->test[i - 1].outer;
    return &f->test[i - 1];
}

static inline const myth_event *myth_facts_event(const myth_facts *k, uint32_t i) { return &k->flow->event[i]; }
static inline bool is_for_there(int how) { return how == MYTH_TEST_TRUE || how == MYTH_TEST_NOT_NULL; }
static inline bool is_for_gone(int how) { return how == MYTH_TEST_FALSE || how == MYTH_TEST_NULL; }

#endif
