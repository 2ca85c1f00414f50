# Vulkan devices: volk and the headers from their packages (the loader is opened at run time), shaders compiled by
# glslc, validated and embedded. For machines without those packages the target mythos_vulkan_kit gathers shaders, volk
# and headers in <build>/vulkan-kit; MYTH_SPIRV_DIR names such a folder there.
set(MYTH_SPIRV_DIR "" CACHE PATH "Folder of shaders that were compiled elsewhere: a vulkan-kit")
find_program(GLSLC glslc)
find_program(SPIRV_VAL spirv-val)
find_path(VOLK_DIR NAMES volk.c HINTS ${MYTH_SPIRV_DIR})
find_path(VULKAN_HEADERS NAMES vulkan/vulkan_core.h HINTS ${MYTH_SPIRV_DIR})

if(NOT VOLK_DIR OR NOT VULKAN_HEADERS OR NOT (GLSLC OR MYTH_SPIRV_DIR))
    message(STATUS "no glslc, volk or Vulkan headers: Vulkan is left out")
    return()
endif()
set(MYTH_HAS_VULKAN ON)

# spirv.def: SPIRV(name, source, flags)
set(spirv_def ${CMAKE_SOURCE_DIR}/shaders/spirv.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${spirv_def})
file(STRINGS ${spirv_def} spirv_rows REGEX "^SPIRV\\(")
file(GLOB spirv_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/shaders/*.glsl ${CMAKE_SOURCE_DIR}/shaders/shared.h
    ${CMAKE_SOURCE_DIR}/kernels/eights.def ${CMAKE_SOURCE_DIR}/engine/base/types.def)
set(spirv_out ${CMAKE_BINARY_DIR}/spirv)
set(words sh ${CMAKE_SOURCE_DIR}/cmake/spirv_words.sh)
if(MYTH_SPIRV_DIR)
    set(spirv_out ${MYTH_SPIRV_DIR})
endif()
set(spirv_files "")
set(spirv_table "/* Made by cmake/vulkan.cmake from shaders/spirv.def. */\n#include \"shaders/vk.h\"\n\n")
foreach(row IN LISTS spirv_rows)
    if(NOT row MATCHES "^SPIRV\\(([a-z0-9_]+), *([a-z0-9_]+)(, *([^)]*))?\\)")
        message(FATAL_ERROR "shaders/spirv.def: ${row}")
    endif()
    set(name ${CMAKE_MATCH_1})
    set(source ${CMAKE_SOURCE_DIR}/shaders/${CMAKE_MATCH_2}.comp)
    separate_arguments(flags UNIX_COMMAND "${CMAKE_MATCH_4}")
    if(MYTH_SYNTAX_ONLY)
        string(APPEND spirv_table "static const uint32_t code_${name}[] = {0};\n")
        continue()
    endif()
    string(APPEND spirv_table "static const uint32_t code_${name}[] = {\n#include \"${name}.inc\"\n};\n")
    if(MYTH_SPIRV_DIR)
        continue()
    endif()
    set(compile ${GLSLC} --target-env=vulkan1.3 -O -fshader-stage=compute -I ${CMAKE_SOURCE_DIR}/shaders ${flags}
        ${source})
    set(validate COMMAND ${CMAKE_COMMAND} -E true)
    if(SPIRV_VAL)
        set(validate COMMAND ${SPIRV_VAL} --target-env vulkan1.3 --scalar-block-layout ${spirv_out}/${name}.spv)
    endif()
    add_custom_command(OUTPUT ${spirv_out}/${name}.inc
        COMMAND ${compile} -o ${spirv_out}/${name}.spv
        ${validate}
        COMMAND ${words} ${spirv_out}/${name}.spv ${spirv_out}/${name}.inc
        DEPENDS ${source} ${spirv_headers} ${CMAKE_SOURCE_DIR}/cmake/spirv_words.sh
        COMMENT "Shader ${name}" VERBATIM)
    list(APPEND spirv_files ${spirv_out}/${name}.inc)
endforeach()
string(APPEND spirv_table "\nconst struct vk_spirv vk_spirv[VK_SHADER_N] = {\n")
string(APPEND spirv_table "#define SPIRV(name, ...) { #name, code_##name, sizeof(code_##name) },\n")
string(APPEND spirv_table "#include \"shaders/spirv.def\"\n#undef SPIRV\n};\n")
file(MAKE_DIRECTORY ${spirv_out} ${CMAKE_BINARY_DIR}/generated)
file(CONFIGURE OUTPUT generated/vk_spirv.c CONTENT "${spirv_table}" @ONLY)
set_source_files_properties(${CMAKE_BINARY_DIR}/generated/vk_spirv.c PROPERTIES
    OBJECT_DEPENDS "${spirv_files}" INCLUDE_DIRECTORIES "${spirv_out}")

if(NOT MYTH_SPIRV_DIR)
    set(vulkan_kit ${CMAKE_BINARY_DIR}/vulkan-kit)
    add_custom_target(mythos_vulkan_kit
        COMMAND ${CMAKE_COMMAND} -E make_directory ${vulkan_kit}/vulkan
        COMMAND ${CMAKE_COMMAND} -E copy ${spirv_files} ${VOLK_DIR}/volk.c ${VOLK_DIR}/volk.h ${vulkan_kit}
        COMMAND ${CMAKE_COMMAND} -E copy ${VULKAN_HEADERS}/vulkan/vulkan.h ${VULKAN_HEADERS}/vulkan/vulkan_core.h
                                         ${VULKAN_HEADERS}/vulkan/vk_platform.h ${vulkan_kit}/vulkan
        COMMAND ${CMAKE_COMMAND} -E copy_directory ${VULKAN_HEADERS}/vk_video ${vulkan_kit}/vk_video
        DEPENDS ${spirv_files} VERBATIM)
endif()

# volk is not ours: without our warnings; its names are hidden, so cmake/library.cmake makes them local.
add_library(mythos_volk OBJECT ${VOLK_DIR}/volk.c)
target_compile_options(mythos_volk PRIVATE -w -fvisibility=hidden "$<$<CONFIG:Release>:${no_build_path}>")
target_include_directories(mythos_volk SYSTEM PUBLIC ${VOLK_DIR} ${VULKAN_HEADERS})
# Its notice ends the header.
file(READ ${VOLK_DIR}/volk.h volk_notice)
string(REGEX REPLACE "^.*/\\*+\n \\* (Copyright [^/]*and/or sell[^/]*)\\*/.*$" "\\1" volk_notice "${volk_notice}")
string(REGEX REPLACE "\n \\* ?" "\n" volk_notice "${volk_notice}")
file(CONFIGURE OUTPUT generated/volk_notice CONTENT "${volk_notice}" @ONLY)
myth_notice("mythos;dev" volk ${CMAKE_BINARY_DIR}/generated/volk_notice)
file(GLOB vk_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/shaders/*.c)
list(FILTER vk_sources EXCLUDE REGEX "/stub_vk\\.c$")
target_sources(mythos_engine PRIVATE ${vk_sources} ${CMAKE_BINARY_DIR}/generated/vk_spirv.c
    $<TARGET_OBJECTS:mythos_volk>)
target_include_directories(mythos_engine SYSTEM PRIVATE ${VOLK_DIR} ${VULKAN_HEADERS})
target_compile_definitions(mythos_engine PUBLIC MYTH_HAS_VULKAN=1)
list(APPEND engine_needs ${CMAKE_DL_LIBS})
