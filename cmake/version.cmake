# Writes OUT with the version and the commit of SOURCE; leaves the file alone when nothing changed.
# The commit is git's, or, in an archive that git made, the one git wrote into cmake/archive_commit.txt; else "unknown".
execute_process(COMMAND git -c safe.directory=${SOURCE} -C ${SOURCE} rev-parse --show-prefix --short=12 HEAD
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
set(commit unknown)
file(STRINGS ${SOURCE}/cmake/archive_commit.txt archived LIMIT_COUNT 1)
if(NOT archived MATCHES "Format")
    set(commit ${archived})
elseif(NOT failed AND answer MATCHES "^\n?([0-9a-f]+)$")     # an empty prefix: SOURCE is the top of its repository
    set(commit ${CMAKE_MATCH_1})
endif()
set(text "#define MYTHOS_VERSION \"${VERSION}\"\n#define MYTHOS_COMMIT \"${commit}\"\n")
if(EXISTS ${OUT})
    file(READ ${OUT} old)
endif()
if(NOT text STREQUAL "${old}")
    file(WRITE ${OUT} "${text}")
endif()
