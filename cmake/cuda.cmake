# CUDA devices: each kernels/cuda/*.cu compiled by nvcc for every architecture, its report of registers and spills kept
# beside the object; the runtime is linked statically and opens the driver at run time. MYTH_CUDA_ARCHS shortens the
# list while developing.
set(MYTH_CUDA_ARCHS "80;89;90a" CACHE STRING
    "Architectures with code of their own; the newest also as PTX for later ones")
find_program(NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)

include(cmake/cuda_sources.cmake)

# The script that is in the path may stand for a toolkit elsewhere: the compiler says where its libraries are.
if(NVCC)
    execute_process(COMMAND ${NVCC} --dryrun -c -x cu /dev/null -o /dev/null ERROR_VARIABLE cuda_dryrun OUTPUT_QUIET
        RESULT_VARIABLE cuda_failed)
    string(REGEX MATCH "TOP=([^\n]+)" cuda_top "${cuda_dryrun}")
    get_filename_component(cuda_top "${CMAKE_MATCH_1}" REALPATH)
    find_library(CUDART_STATIC libcudart_static.a
        HINTS ${cuda_top}/lib64 ${cuda_top}/lib ${cuda_top}/targets/x86_64-linux/lib ${cuda_top}/targets/sbsa-linux/lib
        /usr/local/cuda/lib64)
endif()
if(NOT NVCC OR NOT CUDART_STATIC OR CMAKE_CROSSCOMPILING OR MYTH_SANITIZE OR MYTH_FUZZ)
    message(STATUS "no nvcc, or not for this build: CUDA is left out")
    return()
endif()
set(MYTH_HAS_CUDA ON)

# The library of C++ is not linked: what nvcc generates must not need it.
set(cuda_flags -std=c++17 -O3 -I${CMAKE_SOURCE_DIR} -Xptxas -v
    -Xcompiler -fPIC,-fvisibility=hidden,-fno-exceptions,-fno-threadsafe-statics,-Wall,-Wextra,-Wshadow)
if(MYTH_WERROR)
    list(APPEND cuda_flags -Werror all-warnings)
endif()
if(CMAKE_BUILD_TYPE STREQUAL Release)
    list(APPEND cuda_flags -DNDEBUG)
endif()
foreach(define IN LISTS cuda_defines)
    list(APPEND cuda_flags -D${define})
endforeach()
foreach(arch IN LISTS MYTH_CUDA_ARCHS)
    list(APPEND cuda_flags -gencode arch=compute_${arch},code=sm_${arch})
endforeach()
list(GET MYTH_CUDA_ARCHS -1 cuda_newest)
string(REGEX REPLACE "[a-z]$" "" cuda_newest ${cuda_newest})
list(APPEND cuda_flags -gencode arch=compute_${cuda_newest},code=compute_${cuda_newest})

set(cuda_out ${CMAKE_BINARY_DIR}/cuda)
file(MAKE_DIRECTORY ${cuda_out})
execute_process(COMMAND ${NVCC} --version OUTPUT_VARIABLE cuda_version)
string(REGEX MATCH "V[0-9.]+" cuda_version "${cuda_version}")
file(WRITE ${cuda_out}/nvcc.version "nvcc ${cuda_version}\n")
set(cuda_objects "")
foreach(source IN LISTS cuda_sources)
    get_filename_component(name ${source} NAME_WE)
    set(object ${cuda_out}/${name}.o)
    # ptxas reports on standard error, as warnings come there: shown when the compiler fails, kept when it does not.
    add_custom_command(OUTPUT ${object}
        COMMAND sh ${CMAKE_SOURCE_DIR}/cmake/nvcc_keep.sh ${cuda_out}/${name}.ptxas ${NVCC} ${cuda_flags} -c ${source}
        -o ${object}
        DEPENDS ${source} ${cuda_headers} ${CMAKE_SOURCE_DIR}/cmake/nvcc_keep.sh
        BYPRODUCTS ${cuda_out}/${name}.ptxas
        COMMENT "CUDA ${name}" VERBATIM)
    list(APPEND cuda_objects ${object})
endforeach()
set_source_files_properties(${cuda_objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
target_sources(mythos_engine PRIVATE ${cuda_objects})
# The kernels are C++ without its library; the static runtime wants dl and rt.
list(APPEND engine_needs $<BUILD_INTERFACE:${CUDART_STATIC}> $<INSTALL_INTERFACE:CUDA::cudart_static> dl rt)
