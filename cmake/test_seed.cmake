# cmake -DSOURCE=... -DOUT=... -P test_seed.cmake: writes the seed of random tests into OUT. It is the first eight
# digits of the commit, so that every commit runs other cases and each run of one commit the same; 0 without git or a
# commit.
execute_process(COMMAND git -c safe.directory=${SOURCE} -C ${SOURCE} rev-parse --short=8 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
set(seed 0)
if(failed)
    message(STATUS "no git commit here: tests take their random cases from seed 0")
else()
    string(SUBSTRING ${commit} 0 8 commit)
    math(EXPR seed "0x${commit}")
endif()
set(old "")
if(EXISTS ${OUT})
    file(READ ${OUT} old)
endif()
if(NOT old STREQUAL "${seed}\n")
    file(WRITE ${OUT} "${seed}\n")
endif()
