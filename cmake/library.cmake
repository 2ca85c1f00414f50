# The library that others link: libmythos_engine.a, or libmythos_engine.so with BUILD_SHARED_LIBS. One object holds all
# of mythos_engine, and what no public header declares is local to it: neither the names of our rooms nor volk's vk*
# variables meet those of a program. The command, tests and benches use more than that; they link mythos_engine itself.
option(BUILD_SHARED_LIBS "The engine for other programs as a shared library" OFF)
if(NOT CMAKE_OBJCOPY)
    message(FATAL_ERROR "no objcopy: install binutils (or LLVM's) for this compiler, or name it with -DCMAKE_OBJCOPY=")
endif()

separate_arguments(compiler_flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
set(one_linker ${CMAKE_C_COMPILER} ${compiler_flags} -r -nostdlib)
if(CMAKE_C_COMPILER_TARGET AND CMAKE_C_COMPILE_OPTIONS_TARGET)
    list(APPEND one_linker ${CMAKE_C_COMPILE_OPTIONS_TARGET}${CMAKE_C_COMPILER_TARGET})
endif()
set(one_object ${CMAKE_BINARY_DIR}/engine_api.o)
add_custom_command(OUTPUT ${one_object}
    COMMAND ${one_linker} -o engine_all.o -Wl,--whole-archive $<TARGET_FILE:mythos_engine> -Wl,--no-whole-archive
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden engine_all.o ${one_object}
    DEPENDS mythos_engine BYPRODUCTS engine_all.o WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
    COMMENT "The engine as one object" VERBATIM)
add_custom_target(mythos_object DEPENDS ${one_object})
set_source_files_properties(${one_object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

# Of the shared library's names the first two numbers of the version are part while the first is 0 (engine/version.h).
set(so_version ${PROJECT_VERSION_MAJOR})
if(so_version EQUAL 0)
    set(so_version 0.${PROJECT_VERSION_MINOR})
endif()
function(myth_library target kind)
    add_library(${target} ${kind} ${one_object})
    add_dependencies(${target} mythos_object)
    target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mythos>)
    target_link_libraries(${target} PRIVATE ${engine_needs} $<BUILD_INTERFACE:myth_flags>)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME mythos_engine EXPORT_NAME engine LINKER_LANGUAGE C)
    if(kind STREQUAL SHARED)
        set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${so_version})
        target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL LINKER:-Bsymbolic-functions
            $<$<NOT:$<OR:$<BOOL:${MYTH_SANITIZE}>,$<BOOL:${MYTH_FUZZ}>>>:LINKER:-z,defs>)
    endif()
endfunction()

set(library_kind STATIC)
if(BUILD_SHARED_LIBS)
    set(library_kind SHARED)
endif()
myth_library(mythos_library ${library_kind})
