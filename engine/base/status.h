/* status.h - one status enum, one error record, one way to fail.
 *
 * Owner    the caller owns the myth_error; NULL means not interested
 * Errors   a failing function sets the error once; callers pass it up unchanged
 * Text     one line: what a person needs (path, offset, expected and found, the size that would fit)
 * Options  where the cause is a field of the caller's options, `option` is its name and the text spells it the same
 *          way, so that a front end can put its own word in its place (a flag, a key of a configuration)
 * Remedies what the person can do about it is a code beside the text, since each front end has its own way to do it: a
 *          command, a menu, a call. The text makes sense without it */
#ifndef MYTH_STATUS_H
#define MYTH_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum {
    MYTH_OK = 0,
    MYTH_EARG,         /* the caller's input is wrong                       (exit 2)  */
    MYTH_EIO,          /* read, write, sync                                 (exit 74) */
    MYTH_EFORMAT,      /* a byte in a file is wrong                         (exit 65) */
    MYTH_ENOMEM,       /* allocation failed or the ledger's limit is hit    (exit 71) */
    MYTH_EFULL,        /* a fixed capacity is used up, nothing changed                */
    MYTH_EDEVICE,      /* no such device, or it lacks what is asked         (exit 69) */
    MYTH_ENOTFOUND,    /* a file or a name does not exist                   (exit 66) */
    MYTH_ECANCEL,      /* stopped on request                                (exit 3)  */
    MYTH_ENOFIT,       /* the plan does not fit the limit                   (exit 71) */
    MYTH_ELIMIT,       /* a documented limit of ours is exceeded            (exit 3)  */
    MYTH_ELOST,        /* device lost or in a sticky error                  (exit 75) */
    MYTH_EUNSUPPORTED, /* well formed, but not something we run             (exit 65) */
    MYTH_ECREATE,      /* an output file cannot be created                  (exit 73) */
    MYTH_STATUS_N
} myth_status;

/* The next step after an error. */
typedef enum {
    MYTH_REMEDY_NONE = 0,
    MYTH_REMEDY_MAKE_INDEX,     /* make the index, or update it                          */
    MYTH_REMEDY_REBUILD_INDEX,  /* make the index anew                                   */
    MYTH_REMEDY_CHECK_INDEX,    /* check the whole index                                 */
    MYTH_REMEDY_MAKE_VECTORS,   /* make the vectors of the index                         */
    MYTH_REMEDY_REMAKE_VECTORS, /* the same, from the embeddings that are kept           */
    MYTH_REMEDY_EXPLAIN_SCAN,   /* ask why files are left out                            */
    MYTH_REMEDY_GIVE_PATCH,     /* give the change as a patch                            */
    MYTH_REMEDY_NARROW_CHANGE,  /* choose a directory of the change, or nearer revisions */
    MYTH_REMEDY_SEARCH_LINES,   /* search lines for the text as it is written            */
    MYTH_REMEDY_MAKE_IMATRIX,   /* make an importance matrix                             */
    MYTH_REMEDY_EMBED_TEXTS,    /* make embeddings of whole texts                        */
    MYTH_REMEDY_VERIFY_MODEL,   /* check the model's tensors, and its adapters'          */
    MYTH_REMEDY_N
} myth_remedy;

typedef struct {
    myth_status code;
    char msg[256];
    const char *option; /* the field of the options that is the cause, "n_ubatch"; a literal; NULL = none */
    myth_remedy remedy;
} myth_error;

#define MYTH_TRY(expr)                \
    do {                              \
        if ((st = (expr)) != MYTH_OK) \
            goto fail;                \
    } while (0)

/* Sets *err (if any) to code and the formatted line, what a terminal would act on escaped (escape.h), cut at
 * 255 bytes. Returns code. */
myth_status myth_fail(myth_error *err, myth_status code, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The same for an error whose cause is the option `option`, which the text names. */
myth_status myth_fail_option(myth_error *err, myth_status code, const char *option, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

/* The same for an error with a next step. */
myth_status myth_fail_remedy(myth_error *err, myth_status code, myth_remedy remedy, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

/* Sets *err (if any) to an error that was set elsewhere, whole. Returns its code. */
myth_status myth_fail_as(myth_error *err, const myth_error *from);

/* "MYTH_ENOMEM" and so on; never NULL. */
const char *myth_status_name(myth_status code);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
