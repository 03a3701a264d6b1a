# SPDX-License-Identifier: MIT
"""``FUNCTION:mod:MODULE``."""

import pytest

from harness.errors import UsageError
from harness.isa import CallSite, Form
from harness.tracer.module_filter import change, choose, title

FUNCTIONS = {
    "": ["leaf", "qsort", "send"],
    "net": ["leaf", "send", "send_all"],
    "net_test": ["run"],
    "empty": [],
}


class Image:
    """As much of a `RunningImage` as a filter looks at."""

    def __init__(self):
        self.modules = {name: None for name in FUNCTIONS if name}
        self.where = {}
        self.sites = []
        for module, functions in FUNCTIONS.items():
            for function in functions:
                address = 4 * len(self.sites)
                self.where[address] = module
                self.sites.append(CallSite(address, Form.MCOUNT, function, address))

    def module_at(self, address):
        return self.where[address]


@pytest.fixture
def image():
    return Image()


@pytest.mark.parametrize(
    ("globs", "found"),
    [
        ([], []),
        (["leaf"], ["leaf", "leaf [net]"]),
        (["s*"], ["send", "send [net]", "send_all [net]"]),
        (["s*:mod:net"], ["send [net]", "send_all [net]"]),
        ([":mod:net"], ["leaf [net]", "send [net]", "send_all [net]"]),
        (["*:mod:net_test"], ["run [net_test]"]),
        (["*:mod:net*"], ["leaf [net]", "send [net]", "send_all [net]", "run [net_test]"]),
        ([":mod:*"], ["leaf [net]", "send [net]", "send_all [net]", "run [net_test]"]),
        (["s*:mod:"], ["send [net]", "send_all [net]"]),
        (["send:mod:!net"], ["send"]),
        ([":mod:!net"], ["leaf", "qsort", "send", "run [net_test]"]),
        ([":mod:!"], ["leaf", "qsort", "send"]),
        ([":mod:!*"], ["leaf", "qsort", "send"]),
        (["qsort", "leaf:mod:net"], ["qsort", "leaf [net]"]),
    ],
)
def test_chosen(image, globs, found):
    chosen = sorted(choose(image, globs), key=lambda site: site.address)
    assert [title(image, site) for site in chosen] == found


@pytest.mark.parametrize(
    ("glob", "message", "advice"),
    [
        (":mod:ent", "no loaded module matches 'ent'", "Loaded: net, net_test, empty. "),
        ("x:mod:!ent", "no loaded module matches 'ent'", "Load it first: harness record"),
        (":mod:empty", "no module that matches ':mod:empty' has traceable functions", ""),
        ("sent:mod:net", "no traceable function matches 'sent'", "Did you mean send"),
        ("run:mod:net", "no traceable function matches 'run'", "harness list functions"),
        ("leaf:mad:net", "no traceable function matches 'leaf:mad:net'", "leaf"),
    ],
)
def test_refused(image, glob, message, advice):
    with pytest.raises(UsageError) as caught:
        choose(image, ["leaf", glob])
    assert caught.value.message.startswith(message)
    assert advice in caught.value.advice


def test_no_module_is_loaded(image):
    image.modules = {}
    with pytest.raises(UsageError, match=r"Loaded: none\. Load it first"):
        choose(image, [":mod:net"])


def test_an_exclamation_mark_removes_from_what_is_there(image):
    before = choose(image, ["leaf"])
    now = change(image, before, ["send*", "!leaf:mod:net", "!send:mod:!net"])
    assert sorted(title(image, site) for site in now) == ["leaf", "send [net]", "send_all [net]"]
    assert change(image, now, ["!*"]) == frozenset()
    with pytest.raises(UsageError):
        change(image, now, ["!nosuch"])


def test_a_number_is_a_place_in_the_list(image):
    assert [title(image, site) for site in choose(image, ["4"])] == ["leaf [net]"]
    for wrong in ("0", "8", "9" * 40):
        with pytest.raises(UsageError):
            choose(image, [wrong])
