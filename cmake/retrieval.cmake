# The retriever: retrieval/*.c on the libraries that do what is not ours. It knows nothing of the engine but
# engine/base.
pkg_check_modules(retrieval_libraries REQUIRED IMPORTED_TARGET sqlite3>=3.40 libpcre2-8>=10.40 libxxhash>=0.8
    libzstd>=1.5)
pkg_check_modules(libgit2 REQUIRED libgit2>=1.5)

file(GLOB_RECURSE retrieval_sources CONFIGURE_DEPENDS retrieval/*.c)
add_library(mythos_retrieval STATIC ${retrieval_sources})
target_link_libraries(mythos_retrieval PUBLIC mythos_engine PRIVATE PkgConfig::retrieval_libraries myth_flags)

# libgit2 is loaded when it is needed (retrieval/git/git.h), under the name that the shared library has for itself.
find_library(MYTH_LIBGIT2 git2 HINTS ${libgit2_LIBRARY_DIRS} REQUIRED)
file(STRINGS ${MYTH_LIBGIT2} libgit2_soname REGEX "^libgit2\\.so\\.[0-9.]+$" LIMIT_COUNT 1)
target_include_directories(mythos_retrieval SYSTEM PUBLIC ${libgit2_INCLUDE_DIRS})
if(libgit2_soname)
    set_source_files_properties(retrieval/git/git.c PROPERTIES COMPILE_DEFINITIONS MYTH_GIT_SONAME="${libgit2_soname}")
    target_link_libraries(mythos_retrieval PRIVATE ${CMAKE_DL_LIBS})
else()
    target_link_libraries(mythos_retrieval PRIVATE ${libgit2_LINK_LIBRARIES})
endif()

include(CheckStructHasMember)
set(CMAKE_REQUIRED_INCLUDES ${libgit2_INCLUDE_DIRS})
check_struct_has_member(git_allocator gcalloc git2/sys/alloc.h MYTH_GIT_ALLOCATOR_IS_WIDE)
unset(CMAKE_REQUIRED_INCLUDES)
if(MYTH_GIT_ALLOCATOR_IS_WIDE)
    set_property(SOURCE retrieval/git/git.c APPEND PROPERTY COMPILE_DEFINITIONS MYTH_GIT_ALLOCATOR_IS_WIDE)
endif()

include(cmake/grammars.cmake)
include(cmake/faiss.cmake)
