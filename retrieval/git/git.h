/* git.h - libgit2, loaded when it is first needed, because it loads eight libraries for TLS and SSH that take
 * longer to start than most commands run.
 *
 * Use      call its functions by their own names, between myth_git_start and myth_git_stop only
 * Version  that of the headers: the library is loaded by the name that the build found (soname)
 * Owner    the library stays loaded once it was
 * Threads  any; libgit2 counts starts and stops
 * Errors   MYTH_EUNSUPPORTED the library is missing; MYTH_ENOMEM */
#ifndef MYTH_GIT_H
#define MYTH_GIT_H

#include "engine/base/status.h"
#include "git_memory.h"

#include <git2.h>
#include <stdbool.h>

/* clang-format off */
#define MYTH_GIT_FUNCTIONS(F) \
    F(apply) F(blob_free) F(blob_lookup) F(blob_rawcontent) F(blob_rawsize) F(buf_dispose) F(commit_create) \
    F(commit_free) F(commit_lookup) F(commit_parent) F(commit_parent_id) F(commit_parentcount) F(commit_summary) \
    F(commit_time) F(commit_tree) F(commit_tree_id) F(config_add_file_ondisk) F(config_find_global) \
    F(config_find_system) F(config_find_xdg) F(config_free) F(config_get_bool) F(config_get_path) F(config_get_string) \
    F(config_new) F(diff_find_options_init) F(diff_find_similar) F(diff_free) F(diff_from_buffer) F(diff_get_delta) \
    F(diff_num_deltas) F(diff_options_init) F(diff_to_buf) F(diff_tree_to_index) F(diff_tree_to_tree) \
    F(diff_tree_to_workdir_with_index) F(error_last) F(filter_list_apply_to_buffer) F(filter_list_free) \
    F(filter_list_load) F(index_add) F(index_add_bypath) F(index_entrycount) F(index_free) F(index_get_byindex) \
    F(index_get_bypath) F(index_write) F(index_write_tree) F(libgit2_init) F(libgit2_opts) F(libgit2_shutdown) \
    F(merge_base) F(merge_file) F(merge_file_result_free) F(object_free) F(object_id) F(object_lookup) F(object_peel) \
    F(odb_free) F(odb_read_header) F(oid_cmp) F(oid_fromstr) F(oid_tostr) F(patch_free) F(patch_from_blob_and_buffer) \
    F(patch_from_buffers) F(patch_to_buf) F(reference_free) F(reference_target) F(repository_config_snapshot) \
    F(repository_free) F(repository_head) F(repository_head_unborn) F(repository_index) F(repository_init) \
    F(repository_is_shallow) F(repository_odb) F(repository_open_ext) F(repository_path) F(repository_workdir) \
    F(revparse) \
    F(revwalk_free) F(revwalk_new) F(revwalk_next) F(revwalk_push) F(revwalk_sorting) F(signature_free) \
    F(signature_new) F(tree_entry_byindex) F(tree_entry_bypath) F(tree_entry_filemode) F(tree_entry_free) \
    F(tree_entry_id) F(tree_entry_name) F(tree_entry_type) F(tree_entrycount) F(tree_free) F(tree_id) F(tree_lookup)
/* clang-format on */

typedef struct {
#define F(name) __typeof__(git_##name) *name;
    MYTH_GIT_FUNCTIONS(F)
#undef F
} myth_git_table;

extern myth_git_table myth_git;

/* MYTH_EUNSUPPORTED: the library is missing or has other functions. MYTH_ENOMEM: it could not start. */
myth_status myth_git_start(myth_error *err);
void myth_git_stop(void);
/* libgit2's message about the last failed call in this thread, valid until its next call. */
const char *myth_git_says(void);

/* Whether git_repository_open_ext failed with rc because the repository belongs to another user. libgit2 1.5 says so by
 * GIT_EOWNER, or by not finding safe.directory in the user's settings. */
bool myth_git_is_foreign(int rc);

#ifndef MYTH_GIT_TABLE_ONLY
#define git_apply                           (*myth_git.apply)
#define git_blob_free                       (*myth_git.blob_free)
#define git_blob_lookup                     (*myth_git.blob_lookup)
#define git_blob_rawcontent                 (*myth_git.blob_rawcontent)
#define git_blob_rawsize                    (*myth_git.blob_rawsize)
#define git_buf_dispose                     (*myth_git.buf_dispose)
#define git_commit_create                   (*myth_git.commit_create)
#define git_commit_free                     (*myth_git.commit_free)
#define git_commit_lookup                   (*myth_git.commit_lookup)
#define git_commit_parent                   (*myth_git.commit_parent)
#define git_commit_parent_id                (*myth_git.commit_parent_id)
#define git_commit_parentcount              (*myth_git.commit_parentcount)
#define git_commit_summary                  (*myth_git.commit_summary)
#define git_commit_time                     (*myth_git.commit_time)
#define git_commit_tree                     (*myth_git.commit_tree)
#define git_commit_tree_id                  (*myth_git.commit_tree_id)
#define git_config_add_file_ondisk          (*myth_git.config_add_file_ondisk)
#define git_config_find_global              (*myth_git.config_find_global)
#define git_config_find_system              (*myth_git.config_find_system)
#define git_config_find_xdg                 (*myth_git.config_find_xdg)
#define git_config_free                     (*myth_git.config_free)
#define git_config_get_bool                 (*myth_git.config_get_bool)
#define git_config_get_path                 (*myth_git.config_get_path)
#define git_config_get_string               (*myth_git.config_get_string)
#define git_config_new                      (*myth_git.config_new)
#define git_diff_find_options_init          (*myth_git.diff_find_options_init)
#define git_diff_find_similar               (*myth_git.diff_find_similar)
#define git_diff_free                       (*myth_git.diff_free)
#define git_diff_from_buffer                (*myth_git.diff_from_buffer)
#define git_diff_get_delta                  (*myth_git.diff_get_delta)
#define git_diff_num_deltas                 (*myth_git.diff_num_deltas)
#define git_diff_options_init               (*myth_git.diff_options_init)
#define git_diff_to_buf                     (*myth_git.diff_to_buf)
#define git_diff_tree_to_index              (*myth_git.diff_tree_to_index)
#define git_diff_tree_to_tree               (*myth_git.diff_tree_to_tree)
#define git_diff_tree_to_workdir_with_index (*myth_git.diff_tree_to_workdir_with_index)
#define git_error_last                      (*myth_git.error_last)
#define git_filter_list_apply_to_buffer     (*myth_git.filter_list_apply_to_buffer)
#define git_filter_list_free                (*myth_git.filter_list_free)
#define git_filter_list_load                (*myth_git.filter_list_load)
#define git_index_add                       (*myth_git.index_add)
#define git_index_add_bypath                (*myth_git.index_add_bypath)
#define git_index_entrycount                (*myth_git.index_entrycount)
#define git_index_free                      (*myth_git.index_free)
#define git_index_get_byindex               (*myth_git.index_get_byindex)
#define git_index_get_bypath                (*myth_git.index_get_bypath)
#define git_index_write                     (*myth_git.index_write)
#define git_index_write_tree                (*myth_git.index_write_tree)
#define git_libgit2_init                    (*myth_git.libgit2_init)
#define git_libgit2_opts                    (*myth_git.libgit2_opts)
#define git_libgit2_shutdown                (*myth_git.libgit2_shutdown)
#define git_merge_base                      (*myth_git.merge_base)
#define git_merge_file                      (*myth_git.merge_file)
#define git_merge_file_result_free          (*myth_git.merge_file_result_free)
#define git_object_free                     (*myth_git.object_free)
#define git_object_id                       (*myth_git.object_id)
#define git_object_lookup                   (*myth_git.object_lookup)
#define git_object_peel                     (*myth_git.object_peel)
#define git_odb_free                        (*myth_git.odb_free)
#define git_odb_read_header                 (*myth_git.odb_read_header)
#define git_oid_cmp                         (*myth_git.oid_cmp)
#define git_oid_fromstr                     (*myth_git.oid_fromstr)
#define git_oid_tostr                       (*myth_git.oid_tostr)
#define git_patch_free                      (*myth_git.patch_free)
#define git_patch_from_blob_and_buffer      (*myth_git.patch_from_blob_and_buffer)
#define git_patch_from_buffers              (*myth_git.patch_from_buffers)
#define git_patch_to_buf                    (*myth_git.patch_to_buf)
#define git_reference_free                  (*myth_git.reference_free)
#define git_reference_target                (*myth_git.reference_target)
#define git_repository_config_snapshot      (*myth_git.repository_config_snapshot)
#define git_repository_free                 (*myth_git.repository_free)
#define git_repository_head                 (*myth_git.repository_head)
#define git_repository_head_unborn          (*myth_git.repository_head_unborn)
#define git_repository_index                (*myth_git.repository_index)
#define git_repository_init                 (*myth_git.repository_init)
#define git_repository_is_shallow           (*myth_git.repository_is_shallow)
#define git_repository_odb                  (*myth_git.repository_odb)
#define git_repository_open_ext             (*myth_git.repository_open_ext)
#define git_repository_path                 (*myth_git.repository_path)
#define git_repository_workdir              (*myth_git.repository_workdir)
#define git_revparse                        (*myth_git.revparse)
#define git_revwalk_free                    (*myth_git.revwalk_free)
#define git_revwalk_new                     (*myth_git.revwalk_new)
#define git_revwalk_next                    (*myth_git.revwalk_next)
#define git_revwalk_push                    (*myth_git.revwalk_push)
#define git_revwalk_sorting                 (*myth_git.revwalk_sorting)
#define git_signature_free                  (*myth_git.signature_free)
#define git_signature_new                   (*myth_git.signature_new)
#define git_tree_entry_byindex              (*myth_git.tree_entry_byindex)
#define git_tree_entry_bypath               (*myth_git.tree_entry_bypath)
#define git_tree_entry_filemode             (*myth_git.tree_entry_filemode)
#define git_tree_entry_free                 (*myth_git.tree_entry_free)
#define git_tree_entry_id                   (*myth_git.tree_entry_id)
#define git_tree_entry_name                 (*myth_git.tree_entry_name)
#define git_tree_entry_type                 (*myth_git.tree_entry_type)
#define git_tree_entrycount                 (*myth_git.tree_entrycount)
#define git_tree_free                       (*myth_git.tree_free)
#define git_tree_id                         (*myth_git.tree_id)
#define git_tree_lookup                     (*myth_git.tree_lookup)
#endif

#endif
