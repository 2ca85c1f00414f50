# Every bench/bench_NAME.c is a program of the engine alone, with the CPU's limits and the environment beside it, and
# bench/NAME/*.c are its parts; bench_retrieval and bench_definitions are of the retriever, where that is built.
# bench_engine measures the limits of a CUDA device where this build has one; bench_emu_engine is the same program on
# the emulated device: what bench/gpu.sh runs where there is no GPU.
if(NOT MYTH_BENCH OR NOT EXISTS ${CMAKE_SOURCE_DIR}/bench/limits.cu)
    return()
endif()
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.c)
if(MYTH_ENGINE_ONLY)
    list(FILTER bench_sources EXCLUDE REGEX "/bench_(retrieval|definitions)\\.c$")
endif()
foreach(source IN LISTS bench_sources)
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "bench_" "" part ${name})
    file(GLOB parts CONFIGURE_DEPENDS bench/${part}/*.c)
    add_executable(${name} ${source} ${parts} frontend/cli/machine_limits.c frontend/cli/environment.c)
    set(retriever "")
    if(name MATCHES "^bench_(retrieval|definitions)$")
        set(retriever mythos_retrieval)
    endif()
    target_link_libraries(${name} PRIVATE mythos_engine ${retriever} myth_flags)
    target_compile_definitions(${name} PRIVATE BENCH_HAS_CUDA=$<BOOL:${MYTH_HAS_CUDA}>)
endforeach()

set(bench_limits ${CMAKE_SOURCE_DIR}/bench/limits.cu)
if(MYTH_HAS_CUDA)
    set(object ${cuda_out}/limits.o)
    add_custom_command(OUTPUT ${object}
        COMMAND sh ${CMAKE_SOURCE_DIR}/cmake/nvcc_keep.sh ${cuda_out}/limits.log ${NVCC} ${cuda_flags} -c
        ${bench_limits} -o ${object}
        DEPENDS ${bench_limits} ${CMAKE_SOURCE_DIR}/bench/limits.h ${cuda_headers}
        ${CMAKE_SOURCE_DIR}/cmake/nvcc_keep.sh
        BYPRODUCTS ${cuda_out}/limits.log
        COMMENT "CUDA limits" VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(bench_engine PRIVATE ${object})
endif()
if(TARGET mythos_cuda_emu)
    set_source_files_properties(${bench_limits} PROPERTIES LANGUAGE CXX)
    add_library(mythos_limits_emu OBJECT ${bench_limits})
    target_link_libraries(mythos_limits_emu PRIVATE myth_emu_flags)
    target_compile_options(mythos_limits_emu PRIVATE ${emu_sanitize})
    file(GLOB parts CONFIGURE_DEPENDS bench/engine/*.c)
    add_executable(bench_emu_engine bench/bench_engine.c ${parts} frontend/cli/machine_limits.c
        frontend/cli/environment.c $<TARGET_OBJECTS:mythos_limits_emu>
        $<TARGET_OBJECTS:mythos_cuda_emu>)
    set_target_properties(bench_emu_engine PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(bench_emu_engine PRIVATE mythos_engine myth_flags)
    target_compile_definitions(bench_emu_engine PRIVATE BENCH_HAS_CUDA=1)
    target_compile_options(bench_emu_engine PRIVATE ${emu_sanitize})
    target_link_options(bench_emu_engine PRIVATE ${emu_sanitize})
endif()
