# Thin: the build is CMakeLists.txt. On Debian 12 the packages come by ./setup.sh, which every target that builds calls first.
.PHONY: build demo test test-full bench asan clang aarch64 fuzz format install clean

PREFIX ?= /usr/local
DEMO_FILE ?= tests/corpus/demo.c
FUZZ_SECONDS ?= 60
CTEST = ctest --output-on-failure --no-tests=error -j $$(nproc)

build:
	@./setup.sh build
	@cmake --preset release
	@cmake --build --preset release --target mythos mythos_docs

demo: build
	build/mythos inspect-file $(DEMO_FILE); code=$$?; [ $$code -lt 4 ] && [ $$code -ne 2 ]

test:
	@./setup.sh test
	@cmake --preset release -DMYTH_TESTS=ON
	@cmake --build --preset release
	$(CTEST) --test-dir build
	@$(MAKE) --no-print-directory asan clang aarch64

# The same suite under AddressSanitizer and UndefinedBehaviorSanitizer, but for the Vulkan driver's part: its own leftovers are not ours to report.
asan:
	@./setup.sh test
	@cmake --preset asan -DMYTH_TESTS=ON
	@cmake --build --preset asan
	$(CTEST) --test-dir build-asan -E '^tree/|vulkan'

# Warnings are errors under the second compiler too, and for the second architecture.
clang:
	@./setup.sh test
	@cmake --preset clang -DMYTH_TESTS=ON
	@cmake --build --preset clang

aarch64:
	@./setup.sh test
	@cmake --preset aarch64
	@cmake --build --preset aarch64

test-full: test
	@cmake --preset release -DMYTH_TEST_TIMEOUT=4800
	MYTHOS_TEST_FULL=1 $(CTEST) --test-dir build
	@cmake --preset release -DMYTH_TEST_TIMEOUT=600
	@$(MAKE) --no-print-directory fuzz

# Every target from its stored corpus, FUZZ_SECONDS each; what it finds stays in the build folder.
fuzz:
	@./setup.sh test
	@cmake --preset fuzz -DMYTH_TESTS=ON
	@cmake --build --preset fuzz --target fuzzers
	@for target in tests/fuzz/fuzz_*.c; do \
	    name=$$(basename $$target .c); found=build-fuzz/found/$$name; mkdir -p $$found; \
	    echo "fuzz: $$name, $(FUZZ_SECONDS) s"; \
	    (cd build-fuzz && tests/$$name -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
	        found/$$name ../tests/fuzz/corpus/$${name#fuzz_}) || exit 1; \
	done

bench: build
	@cmake --build --preset release --target bench_ops
	build/mythos bench -m random:gemma3-270m:q8_0
	build/bench_ops

format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

install: build
	cmake --install build --prefix $(PREFIX)

clean:
	rm -rf build build-debug build-asan build-fuzz build-clang build-aarch64
