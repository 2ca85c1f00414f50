# The version of the constants of ranked search: SHA-256 of the lines "NAME=VALUE" of FILE, in the order of the file.
# Units, reasons, comments and spaces are not part of it, so a reworded sentence leaves the version as it is.
#
#   cmake -DFILE=retrieval/rank/weights.def -P cmake/weights_hash.cmake     prints the hash to stderr
function(myth_weights_hash out file)
    file(READ ${file} text)
    string(REGEX REPLACE "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/" "" text "${text}")
    string(REGEX MATCHALL "WEIGHT\\(" rows "${text}")
    string(REGEX MATCHALL "WEIGHT\\([ \n]*[A-Za-z0-9_]+[ \n]*,[ \n]*[-+.0-9A-Za-z]+[ \n]*," weights "${text}")
    list(LENGTH rows n_row)
    list(LENGTH weights n_weight)
    if(NOT n_row EQUAL n_weight OR n_row EQUAL 0)
        message(FATAL_ERROR "${file}: ${n_weight} of ${n_row} rows read as WEIGHT(name, number, ...)")
    endif()
    list(TRANSFORM weights REPLACE "WEIGHT\\([ \n]*([A-Za-z0-9_]+)[ \n]*,[ \n]*([^ \n,]+)[ \n]*," "\\1=\\2\n")
    string(JOIN "" weights ${weights})
    string(SHA256 hash "${weights}")
    set(${out} ${hash} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
    myth_weights_hash(hash ${FILE})
    message(${hash})
endif()
