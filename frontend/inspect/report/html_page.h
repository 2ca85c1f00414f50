/* html_page.h - the style sheet and the script of the HTML page. Both are constants, so the page's policy can name them
 * by their hashes. */
#ifndef MYTH_INSPECT_HTML_PAGE_H
#define MYTH_INSPECT_HTML_PAGE_H

extern const char *const myth_html_style[]; /* pieces, one after the other; NULL = the end */
/* Filters by words, severity, rule and file, and steps from finding to finding. It reads the attributes data-severity,
 * data-rule and data-file of .finding, and hides a .place whose findings are all hidden. */
extern const char *const myth_html_script[]; /* in the same form */

#endif
