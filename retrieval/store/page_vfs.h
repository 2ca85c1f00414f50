/* page_vfs.h - SQLite's file layer with a checksum on every database page, so that a changed byte gives an error
 * and not a wrong answer.
 *
 * Page     the last MYTH_PAGE_SUM_BYTES bytes are XXH3-64 of the rest, seeded with the page's offset in the file,
 *          so that a page in another page's place fails too. SQLITE_FCNTL_RESERVE_BYTES, before the first write,
 *          keeps these bytes free
 * Files    only the database has these sums; the log (WAL) has SQLite's own. A page of zeros was never written and
 *          is accepted
 * Errors   SQLITE_IOERR_DATA from the call that reads the page; MYTH_EUNSUPPORTED from registering where SQLite has
 *          no file layer for this system
 * Threads  any; registering happens once
 * Source   SQLite's cksumvfs does the same */
#ifndef MYTH_PAGE_VFS_H
#define MYTH_PAGE_VFS_H

#include "engine/base/status.h"

#include <sqlite3.h>

enum { MYTH_PAGE_BYTES = 4096, MYTH_PAGE_SUM_BYTES = 8 };

#define MYTH_PAGE_VFS "mythos-pages"

/* Registers the layer with SQLite; a second call does nothing. */
myth_status myth_page_vfs_register(myth_error *err);

#endif
