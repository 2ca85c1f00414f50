# Every tests/<room>/test_*.c is one program and one ctest, <room>/<name>; every test_*.sh is a ctest run by sh.
# Tests run in the source tree and learn from the environment where the command is.
# With MYTH_ENGINE_ONLY the programs of the engine's rooms alone, on tests/support/cmocka_small.h.

set(test_patterns "tests/test_*.c")
set(test_library mythos_frontend)
set(test_command "MYTHOS_BIN=$<TARGET_FILE:mythos>")
if(MYTH_ENGINE_ONLY)
    set(CMOCKA_LIBRARY "")
    set(test_patterns "tests/engine/test_*.c" "tests/kernels/test_*.c")
    set(test_library mythos_engine)
    set(test_command "")
elseif(NOT CMOCKA_LIBRARY)
    message(FATAL_ERROR "cmocka is missing: ./setup.sh test installs what the tests need")
endif()

set(asan_options "detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1")
set(test_environment
    ${test_command}
    "MYTHOS_BUILD_DIR=${CMAKE_BINARY_DIR}"
    "MYTHOS_SOURCE_DIR=${CMAKE_SOURCE_DIR}"
    "XDG_STATE_HOME=${CMAKE_BINARY_DIR}/state"
    "MYTHOS_CACHE=off"          # answers of earlier runs hide what the model says
    "ASAN_OPTIONS=${asan_options}"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "MYTHOS_TEST_QUICK=3")      # what follows for one test takes the place of this
# ctest runs a test on every processor, so a model has one thread where a test does not say otherwise: two that share a
# processor mostly wait for each other. Bits do not depend on it; tests of threads name their number.
if(MYTH_TEST_THREADS GREATER 0)
    list(APPEND test_environment "OMP_NUM_THREADS=${MYTH_TEST_THREADS}")
endif()

# The seed of random cases, made from the commit. Written here for builds of single targets and again by every whole
# build, since a commit does not configure anew.
set(test_seed ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUT=${CMAKE_BINARY_DIR}/test_seed
    -P ${CMAKE_SOURCE_DIR}/cmake/test_seed.cmake)
execute_process(COMMAND ${test_seed})
add_custom_target(test_seed ALL COMMAND ${test_seed} VERBATIM)

# tests/engine/run/test_seq.c is engine/seq: the room's name, whatever the folder inside it. The inspector and the
# evaluations are rooms of their own in the names.
function(myth_test_name room_out short_out path)
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR}/tests ${path})
    string(REGEX REPLACE "^frontend/(inspect|eval)/" "\\1/" path ${path})
    string(REGEX REPLACE "^engine/base/" "base/" path ${path})
    string(REGEX REPLACE "/.*" "" room ${path})
    get_filename_component(short ${path} NAME_WE)
    string(REGEX REPLACE "^test_" "" short ${short})
    set(${room_out} ${room} PARENT_SCOPE)
    set(${short_out} ${short} PARENT_SCOPE)
endfunction()

function(myth_register_test name)
    set_tests_properties(${name} PROPERTIES
        SKIP_RETURN_CODE 77
        TIMEOUT ${MYTH_TEST_TIMEOUT}
        WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
        ENVIRONMENT "${test_environment}")
endfunction()

add_custom_target(full_programs)                # what only full runs run, beside all

# What several tests share: tests/support/*.c and headers beside the tests.
file(GLOB support_sources CONFIGURE_DEPENDS tests/support/*.c)
if(MYTH_ENGINE_ONLY)                            # else it is in mythos_frontend
    list(APPEND support_sources ${CMAKE_SOURCE_DIR}/frontend/cli/environment.c)
endif()
add_library(mythos_test_support STATIC ${support_sources} ${CMAKE_SOURCE_DIR}/cmake/empty.c)
target_include_directories(mythos_test_support PUBLIC ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(mythos_test_support PUBLIC ${test_library} PRIVATE myth_flags)
target_compile_definitions(mythos_test_support PUBLIC $<$<BOOL:${MYTH_ENGINE_ONLY}>:MYTH_CMOCKA_SMALL=1>)
# Hundreds of programs are linked, most of them with all libraries: the linker that does it in the least time.
include(CheckLinkerFlag)
check_linker_flag(C -fuse-ld=gold MYTH_HAS_GOLD)
if(MYTH_HAS_GOLD AND NOT MYTH_FUZZ AND NOT MYTH_ENGINE_ONLY)
    target_link_options(mythos_test_support PUBLIC -fuse-ld=gold)
endif()

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS ${test_patterns})
list(FILTER test_sources EXCLUDE REGEX "/tests/corpus/")
# on the emulated device only: cmake/cuda_emu.cmake
list(FILTER test_sources EXCLUDE REGEX "/tests/cuda/test_(again|calls|device|products)\\.c$")
if(NOT MYTH_HAS_VULKAN)                         # long to compile, and nothing to test
    list(FILTER test_sources EXCLUDE REGEX "/tests/vulkan/")
endif()
if(NOT grammar_core)
    list(FILTER test_sources EXCLUDE REGEX "/tests/retrieval/parse/test_patterns\\.c$")
endif()
foreach(source IN LISTS test_sources)
    myth_test_name(room short ${source})
    set(target test_${room}_${short})
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(${target} PRIVATE mythos_test_support ${CMOCKA_LIBRARY} myth_flags)
    if(room MATCHES "^(frontend|inspect|eval)$") # hundreds of tests, which mostly run the command
        target_compile_options(${target} PRIVATE -O0)
    endif()
    add_test(NAME ${room}/${short} COMMAND ${target})
    myth_register_test(${room}/${short})
    if("${room}/${short}" MATCHES "${MYTH_TEST_LATER}")
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
        add_dependencies(full_programs ${target})
    endif()
endforeach()
if(TARGET test_frontend_session_calls)          # says itself what the model says
    target_link_options(test_frontend_session_calls PRIVATE LINKER:--wrap=myth_generate)
endif()
if(TARGET test_retrieval_patterns)
    target_link_libraries(test_retrieval_patterns PRIVATE mythos_grammars)              # the parsers' own headers
endif()

# Tests of the engine that run on any device: on the CPU under their own name, once more for every other device that
# tests can have.
set(device_tests model_golden adapters block_types embed seq sets set_answers branches generate logits run launches
    endless_chat faults plan plan_ways parts tiers link experts)
list(TRANSFORM device_tests PREPEND engine_ OUTPUT_VARIABLE all_device_tests)
list(JOIN all_device_tests "\n" all_device_tests)
# bench/gpu.sh
file(WRITE ${CMAKE_BINARY_DIR}/device_tests
    "kernels_ops\nkernels_bits\nkernels_not_finite\nkernels_dequant\nkernels_replay\nkernels_capture_sum\n"
    "${all_device_tests}\n")
# before a program: with MYTHOS_TEST_FULL=1 only
set(full_only sh ${CMAKE_SOURCE_DIR}/tests/support/full_only.sh)
# most of their time goes into the programs of their engines
set(vulkan_later generate parts experts seq set_answers branches faults logits endless_chat)
foreach(short IN LISTS device_tests)
    if(NOT TARGET test_engine_${short})
        continue()
    endif()
    set_property(TEST engine/${short} APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_DEVICES=cpu")
    if(MYTH_HAS_VULKAN)
        set(command test_engine_${short})
        if(short IN_LIST vulkan_later)
            set(command ${full_only} $<TARGET_FILE:test_engine_${short}>)
        endif()
        add_test(NAME engine/${short}_vulkan COMMAND ${command})
        myth_register_test(engine/${short}_vulkan)
        set_property(TEST engine/${short}_vulkan APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_DEVICES=vulkan:0")
        if(NOT short STREQUAL model_golden AND NOT short STREQUAL block_types)
            set_property(TEST engine/${short}_vulkan APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_SAMPLE=4")
        endif()
    endif()
endforeach()

# Minutes of a software device, in `make test`.
if(MYTH_HAS_VULKAN AND NOT MYTH_ENGINE_ONLY)
    set_property(TEST vulkan/bits APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_SAMPLE=6")
    foreach(row "vulkan/bits 8" "vulkan/ops 5" "vulkan/replay 5" "engine/run_vulkan 8" "engine/plan_vulkan 32"
            "engine/adapters_vulkan 4")
        separate_arguments(row)
        list(GET row 0 name)
        list(GET row 1 share)
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_QUICK=${share}")
    endforeach()
    set_property(TEST engine/faults_vulkan APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_NAME=failing_allocations_*")
    set_property(TEST engine/model_golden_vulkan APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_GOLDENS=4")
    set_property(TEST engine/block_types_vulkan APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_QUICK=6")
endif()

# The CPU runs every case of the ops and of what holds sequences together; the rest of these rooms, a third of it. Of
# these tests of the command only the sanitizers run a share.
get_property(whole_tests DIRECTORY PROPERTY TESTS)
list(FILTER whole_tests INCLUDE REGEX
    "^kernels/|^engine/(seq|parts|capture|evict)$|^frontend/(answers|mistakes)$")
set_property(TEST ${whole_tests} APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_QUICK=1")

# Minutes under the sanitizers.
if(MYTH_SANITIZE)
    get_property(sanitized_tests DIRECTORY PROPERTY TESTS)
    set_property(TEST ${sanitized_tests} APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_QUICK=5")
    foreach(short capture evict)
        set_property(TEST engine/${short} APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_SAMPLE=4")
    endforeach()
    foreach(name kernels/ops kernels/bits engine/model_types engine/plan engine/block_types engine/gemma4
        engine/generate engine/plan_ways engine/slots retrieval/chunk retrieval/candidates_hostile
        engine/pushdown)
        if(name IN_LIST sanitized_tests)
            set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_QUICK=12")
        endif()
    endforeach()
endif()

# Ops on a Vulkan device have programs of their own, tests/vulkan, under the validation layer.
if(MYTH_HAS_VULKAN AND NOT MYTH_ENGINE_ONLY)
    foreach(short ops bits replay)
        set_property(TEST kernels/${short} APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_DEVICES=cpu")
    endforeach()

    # On a processor products read weights through texel buffers; the programs of GPUs, by address.
    foreach(row "vulkan ops" "vulkan bits" "engine model_golden")
        separate_arguments(row)
        list(GET row 0 room)
        list(GET row 1 short)
        add_test(NAME vulkan/${short}_by_address COMMAND ${full_only} $<TARGET_FILE:test_${room}_${short}>)
        myth_register_test(vulkan/${short}_by_address)
        set_property(TEST vulkan/${short}_by_address APPEND PROPERTY ENVIRONMENT
            "MYTHOS_TEST_DEVICES=vulkan:0" "MYTHOS_VK_TEXELS=0" "MYTHOS_TEST_SAMPLE=4" "MYTHOS_TEST_QUICK=5"
            "MYTHOS_TEST_GOLDENS=3")
    endforeach()
endif()

# The software driver leaves memory behind in libraries that are gone when the leak check looks; ours is what the ledger
# counts. engine/no_cache and the jobs ask for all devices.
if(MYTH_HAS_VULKAN AND MYTH_SANITIZE)
    get_property(vulkan_tests DIRECTORY PROPERTY TESTS)
    list(FILTER vulkan_tests INCLUDE REGEX
        "^vulkan/|_vulkan$|^inspect/devices$|^engine/no_cache$|^frontend/(logprobs|answers|residuals)$")
    set_property(TEST ${vulkan_tests} APPEND PROPERTY ENVIRONMENT
        "ASAN_OPTIONS=${asan_options}:detect_leaks=0")
endif()

if(MYTH_CUDA_EMU)
    include(cmake/cuda_emu.cmake)
endif()
if(MYTH_ENGINE_ONLY)
    return()
endif()

if(NOT BUILD_SHARED_LIBS AND NOT MYTH_SANITIZE AND NOT MYTH_FUZZ)     # tests/tree/test_shared.sh
    myth_library(mythos_shared SHARED)
endif()
file(GLOB_RECURSE test_scripts CONFIGURE_DEPENDS tests/test_*.sh)
list(FILTER test_scripts EXCLUDE REGEX "/tests/corpus/")
foreach(script IN LISTS test_scripts)
    myth_test_name(room short ${script})
    add_test(NAME ${room}/${short} COMMAND sh ${script})
    myth_register_test(${room}/${short})
endforeach()

# A fuzz target is a program that replays its stored corpus; with MYTH_FUZZ it is the fuzzer itself.
file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
add_custom_target(fuzzers)
foreach(source IN LISTS fuzz_sources)
    get_filename_component(base ${source} NAME_WE)
    string(REGEX REPLACE "^fuzz_" "" short ${base})
    add_executable(${base} ${source})
    add_dependencies(fuzzers ${base})
    set_target_properties(${base} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(${base} PRIVATE mythos_test_support myth_flags)
    if(MYTH_FUZZ)
        target_link_options(${base} PRIVATE -fsanitize=fuzzer)
        add_test(NAME fuzz/${short} COMMAND ${base} -runs=0 ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${short})
    else()
        target_sources(${base} PRIVATE tests/fuzz/replay.c)
        add_test(NAME fuzz/${short} COMMAND ${base} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${short})
    endif()
    myth_register_test(fuzz/${short})
endforeach()

# The software driver compiles every program once and keeps it: the first test that needs them all goes alone.
get_property(all_tests DIRECTORY PROPERTY TESTS)
set(after_vulkan ${all_tests})
list(FILTER after_vulkan INCLUDE REGEX
    "^vulkan/(bits|replay|faults|.*_by_address)$|_vulkan$|^inspect/devices$|^tree/gpu_script$")
if("vulkan/ops" IN_LIST all_tests)
    set_property(TEST ${after_vulkan} PROPERTY DEPENDS vulkan/ops)
endif()

# The longest start first, so that no processor waits for one of them at the end. Seconds of a full run on two cores,
# roughly.
foreach(row
        "inspect/inspect 460" "cuda_emu/calls 340" "cuda_emu/model_golden 700" "retrieval/scan_git 540"
        "vulkan/faults 120" "tree/drivers 380" "cuda_emu/faults 300" "retrieval/chunk 290" "inspect/findings 285"
        "vulkan/bits 270" "inspect/render_forms 65" "engine/seq 255" "retrieval/grep 250" "engine/endless_chat 200"
        "cuda_emu/bits 175" "cuda_emu/endless_chat 170" "retrieval/index_faults 150" "engine/faults_vulkan 145"
        "tree/gpu_script 135" "engine/evict 125" "inspect/patch 55" "cuda_emu/embed 115" "cuda_emu/ops 110"
        "inspect/runlog 110" "inspect/command 105" "cuda_race/ops 105" "cuda_emu/run 100" "cuda_emu/generate 95"
        "engine/seq_wide 95" "cuda_emu/seq 90" "kernels/bits 90" "engine/model_golden_vulkan 300"
        "engine/block_types_vulkan 120" "cuda_emu/block_types 200" "engine/seq_vulkan 75" "inspect/devices 75"
        "vulkan/ops 2000" "kernels/ops 70" "inspect/contract 65" "vulkan/ops_by_address 60" "vulkan/bits_by_address 60"
        "engine/model_types 55" "engine/parts_vulkan 50" "cuda_emu/experts 300" "engine/experts_vulkan 45"
        "engine/generate_vulkan 45" "engine/gemma4 40" "inspect/rounds 112" "engine/capture 30" "eval/eval 30"
        "cuda_emu/ops_sm80 25" "vulkan/replay 20" "frontend/judged 60" "frontend/out_of_memory 150" "frontend/live 75"
        "frontend/answers 115" "frontend/session 300" "inspect/same_prompt 350" "engine/plan_ways 350"
        "frontend/shares 175" "engine/slots 170" "inspect/ask 110" "frontend/cage 140" "frontend/tool_choice 85"
        "frontend/residuals 28" "engine/generate 27" "retrieval/planted_rows 160"
        "frontend/embed 23" "engine/pushdown 190" "inspect/summary 120" "inspect/jobs 65" "retrieval/chunk_worker 18"
        "tree/headers 17" "inspect/reverted 17")
    separate_arguments(row)
    list(GET row 0 name)
    list(GET row 1 seconds)
    if(name IN_LIST all_tests)
        set_property(TEST ${name} PROPERTY COST ${seconds})
    endif()
endforeach()
