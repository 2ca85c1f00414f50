# Headers keep their folders under include/mythos, so that an installed header finds its neighbours.
include(CMakePackageConfigHelpers)

foreach(folder engine engine/base engine/model engine/text engine/run engine/make kernels)
    file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.h ${CMAKE_SOURCE_DIR}/${folder}/*.def)
    list(FILTER headers EXCLUDE REGEX "_impl\\.h$")
    install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mythos/${folder})
endforeach()
install(TARGETS mythos_engine EXPORT mythos ARCHIVE)
install(EXPORT mythos NAMESPACE mythos:: FILE mythos-targets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mythos)

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/mythos-config.cmake.in ${CMAKE_BINARY_DIR}/mythos-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mythos)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/mythos-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/mythos-config.cmake ${CMAKE_BINARY_DIR}/mythos-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mythos)

configure_file(${CMAKE_SOURCE_DIR}/cmake/mythos.pc.in ${CMAKE_BINARY_DIR}/mythos.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/mythos.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB models CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/models/*.gguf ${CMAKE_SOURCE_DIR}/models/*.md)
install(FILES ${models} DESTINATION ${CMAKE_INSTALL_DATADIR}/mythos/models)

# What `mythos eval shop` measures on.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tests/corpus/shop DESTINATION ${CMAKE_INSTALL_DATADIR}/mythos/eval)
