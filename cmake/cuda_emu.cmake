# The CUDA device without a GPU: kernels/cuda/*.cu compiled as C++ and run by tests/cuda_emu, always under
# AddressSanitizer and UndefinedBehaviorSanitizer; once more with every access to shared memory recorded, for the race
# check. Linked before the engine, its objects take the place of the engine's own CUDA device.
if(NOT MYTH_CUDA_EMU OR MYTH_SANITIZE OR MYTH_FUZZ)
    return()
endif()
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
    message(STATUS "no C++ compiler: the emulated CUDA device is left out")
    return()
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O1 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
enable_language(CXX)

include(cmake/cuda_sources.cmake)
file(GLOB emu_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/cuda_emu/*.cc)
set_source_files_properties(${cuda_sources} PROPERTIES LANGUAGE CXX)
set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/cuda_emu/emu_tile.cc PROPERTIES COMPILE_OPTIONS -O3)
set(emu_sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)

add_library(myth_emu_flags INTERFACE)
target_include_directories(myth_emu_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/tests/cuda_emu)
target_compile_definitions(myth_emu_flags INTERFACE ${cuda_defines})
target_compile_options(myth_emu_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-std=c++17> -ffp-contract=off -fno-math-errno
    -fno-strict-aliasing
    -fno-threadsafe-statics -fno-omit-frame-pointer -Wall -Wextra -Wshadow -Wno-unknown-pragmas
    -Wno-maybe-uninitialized    # with sanitizers its guesses are wrong more often than right (gcc manual)
    $<$<BOOL:${MYTH_WERROR}>:-Werror>)

# Frames of fibers stay on their stacks: use-after-return would move each to a heap of its own.
add_library(mythos_cuda_emu OBJECT ${cuda_sources} ${emu_sources})
target_link_libraries(mythos_cuda_emu PRIVATE myth_emu_flags)
target_compile_options(mythos_cuda_emu PRIVATE ${emu_sanitize}
    $<$<CXX_COMPILER_ID:GNU>:--param=asan-use-after-return=0>
    $<$<CXX_COMPILER_ID:Clang>:-fsanitize-address-use-after-return=never>)

# Kernels and device only: the emulation records what they touch (emu_race.cc answers the compiler's calls; no runtime
# of it is linked).
add_library(mythos_cuda_race_kernels OBJECT EXCLUDE_FROM_ALL ${cuda_sources})
target_link_libraries(mythos_cuda_race_kernels PRIVATE myth_emu_flags)
target_compile_options(mythos_cuda_race_kernels PRIVATE -fsanitize=thread
    $<$<CXX_COMPILER_ID:GNU>:--param=tsan-instrument-func-entry-exit=0>)
add_library(mythos_cuda_race OBJECT EXCLUDE_FROM_ALL ${emu_sources})
target_link_libraries(mythos_cuda_race PRIVATE myth_emu_flags)
target_compile_definitions(mythos_cuda_race PRIVATE EMU_RACE=1)

# test_<how>_<name>: a test program of tests/<room> on the emulated device. how: emu or race.
function(myth_add_emu_test how room name)
    set(target test_${how}_${name})
    set(objects $<TARGET_OBJECTS:mythos_cuda_emu>)
    if(how STREQUAL race)
        set(objects $<TARGET_OBJECTS:mythos_cuda_race> $<TARGET_OBJECTS:mythos_cuda_race_kernels>)
    endif()
    file(GLOB_RECURSE source ${CMAKE_SOURCE_DIR}/tests/${room}/test_${name}.c
        ${CMAKE_SOURCE_DIR}/tests/${room}/test_${name}.cc)
    add_executable(${target} ${source} ${objects})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests LINKER_LANGUAGE CXX)
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/cuda_emu)
    target_link_libraries(${target} PRIVATE mythos_test_support ${CMOCKA_LIBRARY})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-ffp-contract=off>
        -O1                     # as the kernels: most of a test's time is theirs, and sanitized code compiles slowly
        $<$<COMPILE_LANGUAGE:CXX>:-std=c++17> -fno-strict-aliasing
        -Wall -Wextra -Wshadow -Wno-unknown-pragmas $<$<BOOL:${MYTH_WERROR}>:-Werror>)
    if(how STREQUAL emu)
        target_compile_options(${target} PRIVATE ${emu_sanitize})
        target_link_options(${target} PRIVATE ${emu_sanitize})
    else()
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=thread>)
        target_compile_definitions(${target} PRIVATE EMU_RACE=1)
    endif()
    # Minutes each under the sanitizers: what is not in cuda_sampled runs with MYTHOS_TEST_FULL=1 only.
    set(command ${target})
    if(NOT "${how} ${name}" IN_LIST cuda_sampled)
        set(command ${full_only} $<TARGET_FILE:${target}>)
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
        add_dependencies(full_programs ${target})
    endif()
    add_test(NAME cuda_${how}/${name} COMMAND ${command})
    myth_register_test(cuda_${how}/${name})
    set_property(TEST cuda_${how}/${name} APPEND PROPERTY ENVIRONMENT ${cuda_alone} "MYTHOS_TEST_GOLDENS=1")
    if(NOT "${how} ${name}" IN_LIST cuda_whole)
        set_property(TEST cuda_${how}/${name} APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_SAMPLE=40")
    endif()
endfunction()

# No Vulkan driver is looked at: what it leaves behind, the sanitizers would report as ours.
set(cuda_alone "MYTHOS_TEST_DEVICES=cuda:0" "VK_DRIVER_FILES=/nonexistent" "VK_ICD_FILENAMES=/nonexistent")
set(cuda_sampled "emu launcher" "emu calls" "emu device" "emu products" "emu ops" "emu not_finite" "emu dequant"
    "emu model_golden")
set(cuda_whole ${cuda_sampled} "race launcher" "race ops")
foreach(row
        "emu cuda launcher" "emu cuda calls" "emu cuda again" "emu cuda device" "emu cuda products" "emu kernels ops"
        "emu kernels not_finite" "emu kernels bits" "emu kernels dequant"
        "emu engine model_golden" "emu engine block_types" "emu engine embed" "emu engine seq" "emu engine sets"
        "emu engine generate"
        "emu engine logits" "emu engine plan" "emu engine run" "emu engine launches" "emu engine endless_chat"
        "emu engine faults" "emu engine experts" "emu engine tiers" "emu engine link" "race cuda launcher"
        "race kernels ops")
    separate_arguments(row)
    myth_add_emu_test(${row})
endforeach()

set_property(TEST cuda_emu/ops APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_QUICK=8")
set_property(TEST cuda_emu/block_types APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_SAMPLE=8")
set_property(TEST cuda_emu/experts APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_SAMPLE=6")

# Chunks, pages, forks and ragged batches against each alone, runs cut in any way, allocations that fail; the rest of
# these is the engine's own.
set_property(TEST cuda_emu/generate APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_NAME=sizes_change_no_id")
set_property(TEST cuda_emu/seq APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_NAME=seven_ragged_sequences_equal_each_alone")
set_property(TEST cuda_emu/faults APPEND PROPERTY ENVIRONMENT "MYTHOS_TEST_NAME=failing_allocations_*")

# Which pages of the experts a step reads, in every run.
set_target_properties(test_emu_experts PROPERTIES EXCLUDE_FROM_ALL OFF)
add_test(NAME cuda_emu/expert_reads COMMAND test_emu_experts)
myth_register_test(cuda_emu/expert_reads)
set_property(TEST cuda_emu/expert_reads APPEND PROPERTY ENVIRONMENT ${cuda_alone}
    "MYTHOS_TEST_NAME=a_step_reads_the_chosen_experts"
    "MYTHOS_TEST_QUICK=6")

# Prefill's products have a path of their own on sm_90a; the other one.
add_test(NAME cuda_emu/ops_sm80 COMMAND test_emu_ops)
myth_register_test(cuda_emu/ops_sm80)
set_property(TEST cuda_emu/ops_sm80 APPEND PROPERTY ENVIRONMENT ${cuda_alone} "MYTHOS_EMU_CC=80" "MYTHOS_TEST_OP=proj")
