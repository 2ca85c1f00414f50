# The retriever: retrieval/*.c on the libraries that do what is not ours. It knows nothing of the engine but engine/base.
pkg_check_modules(retrieval_libraries REQUIRED IMPORTED_TARGET sqlite3>=3.40 libpcre2-8>=10.40 libxxhash>=0.8 libzstd>=1.5 libgit2>=1.5)

file(GLOB retrieval_sources CONFIGURE_DEPENDS retrieval/*.c)
add_library(mythos_retrieval STATIC ${retrieval_sources})
target_link_libraries(mythos_retrieval PUBLIC mythos_engine PRIVATE PkgConfig::retrieval_libraries myth_flags)
include(cmake/grammars.cmake)
include(cmake/faiss.cmake)
