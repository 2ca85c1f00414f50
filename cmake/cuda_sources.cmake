# The kernels, and which ops have one: CUDA_HAS_<op>=0 or 1 for the device's table.
file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/cuda/*.cu)
file(GLOB cuda_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/cuda/*.cuh ${CMAKE_SOURCE_DIR}/kernels/cuda/*.h
    ${CMAKE_SOURCE_DIR}/kernels/*.h
    ${CMAKE_SOURCE_DIR}/kernels/*.def ${CMAKE_SOURCE_DIR}/engine/base/*.h)

set(cuda_defines "")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/ops.def)
file(STRINGS ${CMAKE_SOURCE_DIR}/kernels/ops.def cuda_ops REGEX "^OP\\(")
foreach(row IN LISTS cuda_ops)
    string(REGEX REPLACE "^OP\\(([a-z0-9_]+)\\).*" "\\1" op "${row}")
    set(has 0)
    if(EXISTS ${CMAKE_SOURCE_DIR}/kernels/cuda/${op}.cu)
        set(has 1)
    endif()
    list(APPEND cuda_defines CUDA_HAS_${op}=${has})
endforeach()
