# Thin: the build is CMakeLists.txt. On Debian 12 the packages come by ./setup.sh, which every target that builds calls
# first.
.PHONY: build demo test test-programs test-release test-full full-release full-asan bench asan clang aarch64 \
    aarch64-read cuda fuzz tidy mutants format install package clean

PREFIX ?= /usr/local
DEMO_FILE ?= tests/corpus/demo.c
FUZZ_SECONDS ?= 30
# nvcc takes minutes: without a GPU to run on, only `make cuda` (in test-full) compiles for one.
TEST_CUDA = $(if $(wildcard /dev/nvidiactl),AUTO,OFF)
CTEST = ctest --output-on-failure --no-tests=error -j $$(nproc)
SUITE = sh tests/support/run_suite.sh
SUMMARY = python3 tests/support/summary.py build/suites

build:
	@./setup.sh build
	@cmake --preset release -DMYTH_CUDA=AUTO
	@cmake --build --preset release --target mythos mythos_docs

demo: build
	@sh tests/corpus/demo.sh build/mythos $(DEMO_FILE)

# All of it runs, also after a failure: the last line counts every suite.
test:
	@rm -rf build/suites
	@code=0; $(MAKE) --no-print-directory -k test-release asan clang aarch64-read || code=1; \
	    $(SUMMARY) release asan || code=1; exit $$code

test-release: test-programs
	$(SUITE) release build

test-programs:
	@./setup.sh test
	@cmake --preset release -DMYTH_TESTS=ON -DMYTH_CUDA=$(TEST_CUDA)
	@cmake --build --preset release

# The same suite under AddressSanitizer and UndefinedBehaviorSanitizer, but for the Vulkan driver's part, whose
# leftovers are not ours to report, and for what looks at the tree or runs another machine's programs.
# What takes longest under them, by running the command often or by numbers, waits for test-full. frontend/session_calls
# and chat hold the conversations of session and tool_choice; frontend/judge asks as judged does; retrieval/index_faults
# reads rows as planted_rows does; engine/slots answers as generate does, engine/plan, sets, seq, grammar, block_types
# and model_golden run the code of plan_ways, set_answers, seq_wide, pushdown, model_types and gemma4. CMake reads the
# expression too, and takes nine groups at most.
LATER_LOG = runlog|runlog_secrets|replay_ranked|repeat
LATER_MANY = many_files|same_prompt|reverted|select_commands|jobs|patch|outputs
LATER_RETRIEVAL = vectors_command|vectors_killed|planted_rows
LATER_INSPECT = $(LATER_LOG)|$(LATER_MANY)|rounds|secrets|injection|command|contract|summary|ask|kept|complete
LATER_ENGINE = gemma4|generate|model_types|plan_ways|pushdown|seq_wide|set_answers
LATER_JOBS = answers|embed|grammars|live|logprobs|moved|residuals|shares|token_sets
LATER_JUDGE = again|finder|judged|judged_memory
LATER_TOOLS = model_tools|session|tool|tool_choice|tool_unseen
LATER_FRONTEND = $(LATER_JOBS)|$(LATER_JUDGE)|$(LATER_TOOLS)|plan_jobs|plan_table|shipped|suggestions
LATER_OTHERS = engine/($(LATER_ENGINE))|retrieval/($(LATER_RETRIEVAL))|frontend/($(LATER_FRONTEND))|eval/eval
ASAN_LATER = ^inspect/($(LATER_INSPECT)|since_command)$$|^($(LATER_OTHERS))$$
asan:
	@./setup.sh test
	@cmake --preset asan -DMYTH_TESTS=ON -DMYTH_VULKAN=OFF -DMYTH_TEST_LATER='$(ASAN_LATER)'
	@cmake --build --preset asan
	$(SUITE) asan build-asan -E '^tree/|vulkan|neon_cross|$(ASAN_LATER)'

# Warnings are errors under the second compiler too, and for the second architecture: both read what is C and ours, and
# make no code of it. In test-full the second architecture has its code, too.
READ = sed -n '/mythos_grammars\|mythos_volk/d; s/\.o: C_COMPILER.*/.o/p'
clang:
	@./setup.sh test
	@cmake --preset clang -DMYTH_TESTS=ON
	@ninja -C build-clang -t targets all | $(READ) | xargs ninja -C build-clang

aarch64-read:
	@./setup.sh test
	@cmake --preset aarch64 -B build-aarch64-read -DMYTH_SYNTAX_ONLY=ON
	@ninja -C build-aarch64-read -t targets all | $(READ) | xargs ninja -C build-aarch64-read

aarch64:
	@./setup.sh test
	@cmake --preset aarch64
	@cmake --build --preset aarch64

# Every kernel for every architecture, where nvcc is: no warnings, no spills, registers as in tests/cuda/ptxas.csv, one
# binary.
cuda:
	@if command -v nvcc >/dev/null; then \
	    cmake --preset release -B build-cuda -DMYTH_CUDA=ON -DMYTH_CUDA_EMU=OFF -DMYTH_TESTS=ON -DMYTH_BENCH=OFF && \
	    cmake --build build-cuda --target mythos test_cuda_code_bytes test_engine_run && \
	    $(CTEST) --test-dir build-cuda -R '^cuda/|^tree/drivers|^vulkan/ldd|^engine/run$$'; \
	else \
	    echo "cuda: no nvcc here"; \
	fi

test-full:
	@rm -rf build/suites
	@code=0; $(MAKE) --no-print-directory -k full-release full-asan clang aarch64 tidy cuda fuzz || code=1; \
	    $(SUMMARY) full asan asan-later || code=1; exit $$code

full-release: test-programs
	@./setup.sh full
	@[ -d build/mcp-sdk ] || python3 -m pip install --quiet --target build/mcp-sdk mcp || \
	    echo "the test frontend/mcp_sdk is skipped: pip has no package mcp"
	@cmake --preset release -DMYTH_TEST_TIMEOUT=4800 -DMYTH_TEST_THREADS=0
	@cmake --build --preset release --target full_programs
	MYTHOS_TEST_FULL=1 $(SUITE) full build
	@sh tests/support/tolerances.sh build/Testing/Temporary/LastTest.log
	@cmake --preset release -DMYTH_TEST_TIMEOUT=600 -DMYTH_TEST_THREADS=1

full-asan: asan
	@cmake --build --preset asan --target full_programs
	$(SUITE) asan-later build-asan -R '$(ASAN_LATER)'

# The checks of .clang-tidy over every C file that this build compiles; one to two minutes on two processors. TIDY: a
# part of the paths, to look at a few files only.
tidy: test-programs
	@./setup.sh full
	@python3 tests/support/tidy.py build $(TIDY)

# Every target from its stored corpus, FUZZ_SECONDS each; what it finds stays in the build folder.
fuzz:
	@./setup.sh test
	@cmake --preset fuzz -DMYTH_TESTS=ON
	@cmake --build --preset fuzz --target fuzzers
	@ls tests/fuzz/fuzz_*.c | xargs -P $$(nproc) -I{} sh -c ' \
	    name=$$(basename {} .c); mkdir -p build-fuzz/found/$$name; cd build-fuzz && \
	    tests/$$name -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
	        found/$$name ../tests/fuzz/corpus/$${name#fuzz_} > found/$$name.txt 2>&1 && \
	    echo "fuzz: $$name, $(FUZZ_SECONDS) s:" $$(grep -a "^stat::number_of_executed_units" found/$$name.txt) \
	        || { tail -40 found/$$name.txt; echo "fuzz: $$name failed: build-fuzz/found/$$name.txt"; exit 255; }'

# Does a test notice each of the errors in tests/mutants/mutants.txt? About an hour on one processor; a run that was
# stopped goes on where it was.
mutants:
	@./setup.sh test
	@python3 tests/mutants/mutants.py

bench: build
	@cmake --build --preset release --target bench_ops
	build/mythos bench -m random:gemma3-270m:q8_0
	build/bench_ops

format:
	git ls-files '*.c' '*.h' '*.cc' '*.cu' '*.cuh' | grep -v '^tests/corpus' | xargs clang-format -i

# build/package: mythos and libmythos-dev as .deb, and the sources of the engine alone, which build with a compiler and
# CMake.
package: build
	cd build && cpack
	@version=$$(sed -n 's/^#define MYTH_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' engine/version.h | paste -sd.) && \
	    git archive --prefix=mythos-engine-$$version/ -o build/package/mythos-engine-$$version.tar.gz HEAD \
	        CMakeLists.txt CMakePresets.json LICENSE SECURITY.md cmake engine examples kernels shaders && \
	    ls -l build/package/*.deb build/package/*.tar.gz

install: build
	cmake --install build --prefix $(PREFIX)

clean:
	rm -rf build build-debug build-asan build-fuzz build-clang build-aarch64 build-aarch64-read build-cuda build-mutants
