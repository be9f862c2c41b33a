# Toolchain file: 64-bit Arm Linux by Debian's cross compiler, its tests by qemu's user emulation.
# Needs the packages crossbuild-essential-arm64 and qemu-user, and the libraries as NAME:arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;/usr/aarch64-linux-gnu)
