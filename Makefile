# SPDX-License-Identifier: MIT
#
# make demo    record a trace from a live guest of each architecture and print it
# make check   run the whole suite
#
# Both install what is missing first: the system packages of bindep.txt through apt (with sudo
# where not root) and a virtual environment in .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SUDO   := $(if $(filter 0,$(shell id -u)),,sudo)

DEMO_CONFIGS := mips-malta aarch64-virt
DEMO_DIR     := $(or $(TMPDIR),/tmp)

.PHONY: demo check setup packages clean
.DELETE_ON_ERROR:

demo: setup
	@set -e; out=$$(mktemp -d $(DEMO_DIR)/harness-demo.XXXXXX); \
	trap 'rm -rf "$$out"' EXIT; \
	for config in $(DEMO_CONFIGS); do \
		echo "== $$config: harness record -p function --workload calls"; \
		$(BIN)/harness record -c $$config -p function --workload calls -o $$out/$$config.dat; \
		$(BIN)/harness report $$out/$$config.dat; \
		echo "== $$config: the same file, read by trace-cmd report"; \
		trace-cmd report -i $$out/$$config.dat -O parent | tail -n 5; \
	done

check: setup
	$(BIN)/tox run

setup: packages $(BIN)/harness

# The first word of each line of bindep.txt is a Debian package, or a virtual one.
packages: bindep.txt
	@missing=; \
	installed=$$(dpkg-query -W -f '$${db:Status-Abbrev} $${Package}, $${Provides},\n' | grep '^.i'); \
	for package in $$(sed -e 's/#.*//' bindep.txt | awk '{ print $$1 }'); do \
		case "$$installed" in \
		*" $$package,"* | *" $$package ("*) ;; \
		*) missing="$$missing $$package" ;; \
		esac; \
	done; \
	if [ -n "$$missing" ]; then \
		echo "installing:$$missing"; \
		$(SUDO) apt-get update -q && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -q --no-install-recommends $$missing; \
	fi

$(BIN)/harness: pyproject.toml | packages
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable . tox
	@touch $@

clean:
	rm -rf $(VENV) .tox dist
