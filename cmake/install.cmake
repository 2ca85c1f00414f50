# What is installed: the engine as a library with its public headers (component dev), and for the command its
# models and what `mythos eval shop` measures on (component mythos).
include(CMakePackageConfigHelpers)

# The public headers are these and what they include. They keep their folders under include/mythos, so that an installed
# header finds its neighbours. tests/tree/test_install.sh compiles each alone, as C and as C++.
set(public_headers engine/engine.h engine/run/devices.h engine/run/embed.h engine/run/sets.h engine/make/convert.h
    engine/make/imatrix.h engine/make/imatrix_tap.h engine/text/json_tree.h engine/text/pushdown.h)
set(pending ${public_headers})
while(pending)
    list(POP_FRONT pending header)
    get_filename_component(folder ${header} DIRECTORY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${header})
    file(STRINGS ${header} lines REGEX "^#[ ]*include \"")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE ".*\"(.*)\".*" "\\1" name "${line}")
        if(NOT name MATCHES "/")
            set(name ${folder}/${name})
        endif()
        if(NOT name IN_LIST public_headers)
            list(APPEND public_headers ${name})
            list(APPEND pending ${name})
        endif()
    endforeach()
endwhile()
foreach(header IN LISTS public_headers)
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${CMAKE_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mythos/${folder} COMPONENT dev)
endforeach()

set(cmake_files ${CMAKE_INSTALL_LIBDIR}/cmake/mythos)
install(TARGETS mythos_library EXPORT mythos ARCHIVE COMPONENT dev LIBRARY COMPONENT dev)
# CMake strips programs and shared libraries alone. A static one keeps its names, and of its object's other parts what
# a linker reads.
if(NOT BUILD_SHARED_LIBS AND CMAKE_STRIP)
    install(CODE "
        if(CMAKE_INSTALL_DO_STRIP)
            execute_process(COMMAND ${CMAKE_STRIP} --strip-debug --enable-deterministic-archives
                \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:mythos_library>\"
                COMMAND_ERROR_IS_FATAL ANY)
        endif()" COMPONENT dev)
endif()
install(EXPORT mythos NAMESPACE mythos:: FILE mythos-targets.cmake DESTINATION ${cmake_files} COMPONENT dev)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/mythos-config.cmake.in ${CMAKE_BINARY_DIR}/mythos-config.cmake
    INSTALL_DESTINATION ${cmake_files})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/mythos-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/mythos-config.cmake ${CMAKE_BINARY_DIR}/mythos-config-version.cmake
    DESTINATION ${cmake_files} COMPONENT dev)
# The prefix is told from where the file lies: a package and `cmake --install --prefix` put it below another than the
# one the build was configured for.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# What a static library needs, a program links itself. With CUDA that is the static runtime, which stays where the
# toolkit has it.
set(pc_libs "")
set(pc_private " -lm -pthread")
if(MYTH_HAS_CUDA)
    get_filename_component(cuda_dir ${CUDART_STATIC} DIRECTORY)
    string(APPEND pc_private " -L${cuda_dir} -lcudart_static -lrt")
endif()
if(MYTH_HAS_CUDA OR MYTH_HAS_VULKAN)
    string(APPEND pc_private " -ldl")
endif()
if(NOT BUILD_SHARED_LIBS)
    set(pc_libs ${pc_private})
    set(pc_private "")
endif()
set(engine_description "Engine for Gemma models")
configure_file(${CMAKE_SOURCE_DIR}/cmake/mythos.pc.in ${CMAKE_BINARY_DIR}/mythos.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/mythos.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

myth_copyright(dev libmythos-dev)

file(GLOB models CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/models/*.gguf ${CMAKE_SOURCE_DIR}/models/*.md)
install(FILES ${models} DESTINATION ${CMAKE_INSTALL_DATADIR}/mythos/models COMPONENT mythos)
# Rates of other machines, for `plan --as`: one file a machine, and the memory of devices. Other results stay out.
file(GLOB results CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/results/*.csv)
set(rates)
foreach(result IN LISTS results)
    file(STRINGS ${result} columns LIMIT_COUNT 1)
    if(columns MATCHES ",memory_mib," OR columns MATCHES "model,.*test,.*(tok_s|tok_per_cpu_s)")
        list(APPEND rates ${result})
    endif()
endforeach()
install(FILES ${rates} DESTINATION ${CMAKE_INSTALL_DATADIR}/mythos/rates COMPONENT mythos)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tests/corpus/shop DESTINATION ${CMAKE_INSTALL_DATADIR}/mythos/eval
    COMPONENT mythos)
