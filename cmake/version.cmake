# Writes OUT with the version and the commit of SOURCE; leaves the file alone when nothing changed.
execute_process(COMMAND git -c safe.directory=${SOURCE} -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR commit STREQUAL "")
    set(commit unknown)
endif()
set(text "#define MYTHOS_VERSION \"${VERSION}\"\n#define MYTHOS_COMMIT \"${commit}\"\n")
if(EXISTS ${OUT})
    file(READ ${OUT} old)
endif()
if(NOT text STREQUAL "${old}")
    file(WRITE ${OUT} "${text}")
endif()
