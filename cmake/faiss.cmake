# FAISS computes over the vectors of the index. Debian's library is static and wants a BLAS, a LAPACK and the runtime of
# OpenMP beside it; the one file that knows it is C++. All of them make one library, mythos_faiss.so, which the program
# loads when it needs it. Without any of them the index has no vectors and says so, everything else is built.
option(MYTH_FAISS "Vectors in the index, by FAISS" ON)
include(CheckLanguage)
find_library(FAISS_LIBRARY faiss)
find_path(FAISS_INCLUDE faiss/impl/ScalarQuantizer.h)
find_library(FAISS_BLAS NAMES blas openblas)
find_library(FAISS_LAPACK NAMES lapack openblas)
find_library(FAISS_OPENMP NAMES gomp libgomp.so.1)
check_language(CXX)

set(MYTH_HAS_FAISS OFF)
if(NOT MYTH_FAISS)
    message(STATUS "MYTH_FAISS is off: semantic search is left out")
elseif(FAISS_LIBRARY AND FAISS_INCLUDE AND FAISS_BLAS AND FAISS_LAPACK AND FAISS_OPENMP AND CMAKE_CXX_COMPILER)
    enable_language(CXX)
    set(MYTH_HAS_FAISS ON)
else()
    message(WARNING
        "semantic search is left out: it needs FAISS, a BLAS, a LAPACK, libgomp and a C++ compiler "
        "(Debian: libfaiss-dev g++)")
endif()

if(MYTH_HAS_FAISS)
    set_source_files_properties(retrieval/vectors/stub_faiss.c PROPERTIES HEADER_FILE_ONLY ON)
    add_library(mythos_faiss MODULE retrieval/vectors/vectors_faiss.cc)
    set_target_properties(mythos_faiss PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON PREFIX "" SUFFIX .so
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
    target_include_directories(mythos_faiss PRIVATE ${CMAKE_SOURCE_DIR})
    target_include_directories(mythos_faiss SYSTEM PRIVATE ${FAISS_INCLUDE})
    target_compile_options(mythos_faiss PRIVATE -O2 -fvisibility=hidden -Wall -Wextra -Wpedantic -Wshadow
        $<$<BOOL:${MYTH_WERROR}>:-Werror>)
    if(MYTH_SANITIZE OR MYTH_FUZZ)
        # the library has no tables for it
        target_compile_options(mythos_faiss PRIVATE ${sanitize} -fno-sanitize=vptr)
    endif()
    target_link_libraries(mythos_faiss PRIVATE ${FAISS_LIBRARY} ${FAISS_LAPACK} ${FAISS_BLAS} ${FAISS_OPENMP})
    target_link_options(mythos_faiss PRIVATE -Wl,--exclude-libs,ALL)
    add_dependencies(mythos_retrieval mythos_faiss)
    # Its headers name who wrote it and the licence of MIT, whose text is in no header.
    file(STRINGS ${FAISS_INCLUDE}/faiss/impl/ScalarQuantizer.h holders REGEX "Copyright ")
    file(READ ${CMAKE_SOURCE_DIR}/cmake/expat.txt expat)
    list(TRANSFORM holders REPLACE "^[ *]*Copyright " "Copyright ")
    file(CONFIGURE OUTPUT generated/faiss_notice CONTENT "${holders}\n\n${expat}" @ONLY)
    myth_notice(mythos faiss ${CMAKE_BINARY_DIR}/generated/faiss_notice)
    install(TARGETS mythos_faiss LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/mythos/modules
        COMPONENT mythos)
    # as an installed program looks for it
    file(RELATIVE_PATH module_place ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/mythos/modules)
    set_source_files_properties(retrieval/vectors/vectors_module.c PROPERTIES COMPILE_DEFINITIONS
        MYTH_MODULE_PLACE="${module_place}")
else()
    set_source_files_properties(retrieval/vectors/vectors_module.c PROPERTIES HEADER_FILE_ONLY ON)
endif()
