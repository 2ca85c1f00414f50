/* facts_impl.h - what the files of facts share (facts.h). */
#ifndef MYTH_FACTS_IMPL_H
#define MYTH_FACTS_IMPL_H

#include "facts.h"

#define N_OF(list) (sizeof(list) / sizeof(*(list)))

/* What is done first with a variable that got the result of a call. */
typedef enum {
    MYTH_CHECKED_NONE,
    MYTH_CHECKED_TESTED,
    MYTH_CHECKED_USED,
    MYTH_CHECKED_IGNORED,
    MYTH_CHECKED_RETURNED
} myth_checked;

/* The definition that takes the result of a call; false = none. */
bool myth_facts_taker(const myth_flow *f, uint32_t call, uint32_t *definition);
/* *line: of what is done. */
myth_checked myth_facts_checked(const myth_flow *f, uint32_t definition, uint32_t *line);

/* NULL = the file has no such name. A field's name has a dot before it. */
const myth_file_name *myth_file_facts_find(const myth_file_facts *ff, const char *text);
void myth_file_facts_field(char dst[MYTH_FLOW_PATH_BYTES + 2], const myth_flow *f, uint32_t path);

/* The last definition of the path, or of what it is a part of, from which control comes to event e; false = none. */
bool myth_facts_definition(const myth_facts *k, uint32_t path, uint32_t e, uint32_t *out);
/* The name of the function whose result the path of event e is; 0 = none. */
uint32_t myth_facts_origin_call(const myth_facts *k, uint32_t e);
/* Argument number i of event e; null where it is no call, or has fewer. */
TSNode myth_facts_argument(const myth_facts *k, uint32_t e, uint32_t i);
/* The value that the target of a definition gets, or a member; null = none. */
TSNode myth_facts_value_node(const myth_flow *f, const myth_event *e);

/* Who gave a value: the values of GIVEN in facts.def. */
enum {
    MYTH_GIVEN_NO,
    MYTH_GIVEN_PROGRAM,
    MYTH_GIVEN_CHECKED,
    MYTH_GIVEN_FIELD,
    MYTH_GIVEN_PARAMETER,
    MYTH_GIVEN_SEGMENT,
    MYTH_GIVEN_REQUEST
};
/* Who gave those of argument number i of call e, or of the value of another event. */
int myth_facts_given(const myth_facts *k, uint32_t e, uint32_t i);
int myth_fact_given(myth_facts *k, uint32_t e);
int myth_fact_given1(myth_facts *k, uint32_t e);
int myth_fact_given2(myth_facts *k, uint32_t e);
int myth_fact_between(myth_facts *k, uint32_t e);
int myth_fact_given_base(myth_facts *k, uint32_t e);

/* What a value is of a request. */
typedef enum { MYTH_REQUEST_NO, MYTH_REQUEST_SEGMENT, MYTH_REQUEST_ANY } myth_request_part;
/* Whether a path or a function, by its name, is a part of a request that its sender wrote. */
bool myth_facts_is_request(const char *name);
/* The same, and by the types of the function's variables. */
bool myth_facts_is_request_in(const myth_flow *f, const char *name);
/* The same of the parameter that an event defines, by its annotation, its function's route or its callers. */
myth_request_part myth_facts_parameter_of_request(const myth_file_facts *ff, const myth_flow *f, const myth_event *def);
/* What an argument of a call is of a request. */
myth_request_part myth_facts_argument_of_request(const myth_facts *k, uint32_t call, uint32_t index);
/* Parameter number `index` of the only function of the file with a name; NULL = nothing is known. */
myth_file_parameter *myth_file_facts_parameter(const myth_file_facts *ff, const char *name, uint32_t index);
int myth_fact_secret(myth_facts *k, uint32_t e);
myth_file_name *myth_file_facts_put(myth_file_facts *ff, const char *text); /* NULL without memory */
/* Puts a text into `names` and returns its offset. */
uint32_t myth_file_facts_text(myth_file_facts *ff, const char *text);
/* Notes from where on a file is one of tests, by what it includes, and whether it may have maps; once, with what is
 * outside of all functions. */
void myth_file_facts_tests(myth_file_facts *ff, const myth_flow *f);
/* Marks the macros that stand for an attribute that releases a variable; once, with what is outside of functions. */
void myth_file_facts_releasing(myth_file_facts *ff, const myth_flow *f);
/* Marks the classes whose destructor closes something; once, with what is outside of functions. */
void myth_file_facts_closers(myth_file_facts *ff, const myth_flow *f);
/* Marks a function that gives what outlives it and is kept; of one that gives what another gave the other stands
 * before it. */
void myth_file_facts_keepers(myth_file_facts *ff, const myth_flow *f);
/* Marks the functions that are declared as such that never return; once, with what is outside of functions. */
void myth_file_facts_ending(myth_file_facts *ff, const myth_flow *f);
/* Counts a call behind which the process ends for one of its results. */
void myth_file_facts_ended(myth_file_facts *ff, const myth_flow *f, uint32_t call);
/* Counts what a function does with its parameters. */
void myth_file_facts_parameters(myth_file_facts *ff, const myth_flow *f);
/* What the function of the file that a call is of does with an argument; NULL = nothing is known. */
const myth_file_parameter *myth_facts_summary(const myth_facts *k, uint32_t call, uint32_t index);
/* Whether event x, a definition or a way out, has a value that is put together with the path. */
bool myth_facts_is_made_of(const myth_flow *f, uint32_t x, uint32_t path);
/* Whether a function is known to read its arguments only. */
bool myth_facts_is_reader(const char *name);
/* Whether a variable is released where its block ends, by an attribute of its declaration: C and C++. */
bool myth_facts_is_released_by_itself(const myth_facts *k, uint32_t path);
/* Whether what call e opened for definition d is closed by somebody else before event `to`: an object of C++, what was
 * made of the descriptor, or the process that becomes another program. */
bool myth_facts_has_keeper(const myth_facts *k, uint32_t e, uint32_t d, uint32_t to);
/* Whether a call before way out x got what event d took and keeps it where all goes well: where it fails, the function
 * releases it, and does so wherever it gives it away. */
bool myth_facts_is_taken_where_well(const myth_facts *k, uint32_t d, uint32_t x);
/* Whether event c is a call that releases the path, one of the list of the row. */
bool myth_facts_releases(const myth_facts *k, uint32_t c, uint32_t path);
/* Whether what definition d got is kept by the function of the file that gave it. */
bool myth_facts_is_kept_by_callee(const myth_facts *k, uint32_t d);
/* Whether event a gives the path, a descriptor, to a function that locks it: closing it would unlock. */
bool myth_facts_is_locked(const myth_flow *f, uint32_t a, uint32_t path);
/* Whether behind event d, in no branch, stands a call that does not return. */
bool myth_facts_never_returns(const myth_flow *f, uint32_t d);
/* Whether event x returns a value for which all callers of this function end the process; only its file knows it. */
bool myth_facts_ends_callers(const myth_facts *k, uint32_t x);
/* Whether the path, by its name, says how a call went and is not what it gave. */
bool myth_facts_is_status(const myth_flow *f, uint32_t path);
/* Whether the result of a call, which definition d keeps, only says how it went: it opens something behind an address,
 * and the result is compared with zero. */
bool myth_facts_is_told_beside(const myth_flow *f, uint32_t call, uint32_t d);
/* Whether test t is of a call that asserts its path: if (!log_assert(p, "no memory")) */
bool myth_facts_is_asserted(const myth_flow *f, const myth_event *t);
/* Whether event x is where closing a file has failed, by the condition that it depends on. */
bool myth_facts_is_failed_close(const myth_flow *f, uint32_t x);
/* Whether event x stands behind a call that ends the process, in the same block. */
bool myth_facts_is_behind_end(const myth_flow *f, uint32_t x);
/* Whether a variable is one of the file, by the words of the function: Python. */
bool myth_facts_is_global(const myth_flow *f, uint32_t path);
/* Whether the call e takes less memory than there is, by the condition around it. */
bool myth_facts_is_shrunk(const myth_flow *f, uint32_t e);
/* Go: whether the function around a scope is run as a command of a program, by what it is given: the process ends
 * behind it. */
bool myth_facts_is_command(const myth_flow *f, uint32_t scope);
/* Whether a call makes something of a descriptor, which has it then, or sends it on: create_engine(fd), and
 * send_message(peer, TYPE, fd). In Go: closes what it gets, or writes logs to it. */
bool myth_facts_is_given_to_new(const myth_flow *f, const myth_event *x);
/* Why the result of call e, which definition d keeps, needs no test: facts_settled.c. It is what was asked for itself,
 * and no count or state: pop_node_set(), bit_read(&r, 4). */
bool myth_facts_is_value(const myth_facts *k, uint32_t e, uint32_t d);
/* Event x, the first that is about it, hands it to a script as a number: sqlite3_result_int64(c, n). */
bool myth_facts_is_reported(const myth_flow *f, uint32_t d, uint32_t x);
/* It is a text in memory of the very size that the call says, and that was added up before. */
bool myth_facts_fits(const myth_facts *k, uint32_t e);
/* It is the copy of a text for whoever gave a parameter, and nothing here reads it. */
bool myth_facts_is_given(const myth_flow *f, uint32_t e, uint32_t d);
/* All callers of a static function ask first for what it stores behind their argument. */
bool myth_facts_is_asked_by_callers(const myth_flow *f, uint32_t d);
/* It gets another value before anything reads it: a pointer by a definition, any by a function that makes one behind
 * its address. */
bool myth_facts_is_set_again(const myth_flow *f, uint32_t d);
/* The call says how it went behind an address, and that is asked for before event `next`, the first use of the
 * result. */
bool myth_facts_is_told(const myth_flow *f, uint32_t e, uint32_t next);
/* What call e scans is a file of the kernel, which has always the same form: a line of "/proc/stat". */
bool myth_facts_is_of_kernel(const myth_facts *k, uint32_t e);
/* It is an address in four numbers that a function of the library has written or accepted before. */
bool myth_facts_is_of_address(const myth_facts *k, uint32_t e);
/* It is a text of the program itself: sscanf(PACKAGE_VERSION, "%d", &major). */
bool myth_facts_is_of_constant(const myth_facts *k, uint32_t e);
/* Whether a name has the word between borders: at its begin or behind a sign, and no small letter behind it. */
bool myth_facts_has_part(const char *name, const char *word);
/* Whether a function keeps what it is given, by a word in its name. */
bool myth_facts_takes_over(const char *name);

/* Whether a file of Java is compiled to JavaScript by GWT, where texts are compared by their value. */
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
