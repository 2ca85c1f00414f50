# `make package`: mythos_<version>_<architecture>.deb (the command, its models, man pages and completions) and
# libmythos-dev_<version>_<architecture>.deb (the engine as a static library with its public headers), by CPack.
# The libraries that the command opens while it runs, libgit2 and the Vulkan loader, are no entries of its header:
# the first is named by the package that has its soname, the second is recommended.
set(MYTH_PACKAGE_CONTACT "mythos maintainers <mythos@example.org>" CACHE STRING "Who the packages name as maintainer")
set(package_dir ${CMAKE_BINARY_DIR}/package)
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${CMAKE_SOURCE_DIR}/cmake/debian_changelog.in ${package_dir}/changelog @ONLY)
find_program(GZIP gzip)
if(NOT GZIP OR NOT libgit2_soname)
    return()
endif()

# Debian wants the change log and the man pages compressed, without the time in them.
execute_process(COMMAND ${GZIP} -9nc ${package_dir}/changelog OUTPUT_FILE ${package_dir}/changelog.gz)
foreach(package mythos libmythos-dev)
    string(REPLACE "libmythos-" "" component ${package})
    install(FILES ${package_dir}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
        COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mythos)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")          # each package has a synopsis of its own
set(CPACK_PACKAGE_CONTACT ${MYTH_PACKAGE_CONTACT})
set(CPACK_PACKAGE_DIRECTORY ${package_dir})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL mythos dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_MYTHOS_PACKAGE_NAME mythos)
set(CPACK_DEBIAN_MYTHOS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_MYTHOS_PACKAGE_SHLIBDEPS ON)
string(REGEX REPLACE "^libgit2\\.so\\.(.*)$" "libgit2-\\1" libgit2_package ${libgit2_soname})
set(CPACK_DEBIAN_MYTHOS_PACKAGE_DEPENDS ${libgit2_package})
set(CPACK_DEBIAN_MYTHOS_PACKAGE_RECOMMENDS "libvulkan1, git")
set(CPACK_DEBIAN_MYTHOS_DESCRIPTION "inspects code with a local language model
A hand-written engine runs Gemma models within a memory budget that is
planned before anything is allocated. The inspector finds places in a file,
a change or around a symbol by rules and lets a model judge them, or asks a
model, and prints findings whose citations hold by construction. The
retriever indexes and searches code. Small models that judge, that inspect
as a demonstration, and that embed are included.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libmythos-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libc6-dev")
set(CPACK_DEBIAN_DEV_DESCRIPTION "engine for Gemma models, library and headers
The inference engine of mythos for programs of your own: models, tokenizer,
sequences, forward passes, generation, embeddings and capture of residuals,
with every byte planned before it is taken. CMake and pkg-config find it.")
include(CPack)
