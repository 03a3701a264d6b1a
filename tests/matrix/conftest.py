# SPDX-License-Identifier: MIT
"""A browser without a network, with the window of a desktop and of a phone."""

import os
import shutil

import pytest

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if not (CHROMIUM and DRIVER):
        pytest.skip("chromium or chromium-driver is not installed")
    from support.browser import ARGUMENTS

    options = selenium.ChromeOptions()
    options.binary_location = CHROMIUM
    profile = tmp_path_factory.mktemp("profile")
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    service = selenium.ChromeService(DRIVER, env={**os.environ, "HOME": str(profile)})
    driver = selenium.Chrome(options, service)
    try:
        driver.execute_cdp_cmd("Network.enable", {})
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
        yield driver
    finally:
        driver.quit()


@pytest.fixture(params=["desk", "phone"])
def browser(request, chromium):
    from support.browser import VIEWPORTS

    chromium.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {
            **dict(zip(("width", "height"), VIEWPORTS[request.param], strict=True)),
            "deviceScaleFactor": 1,
            "mobile": request.param == "phone",
        },
    )
    chromium.viewport = request.param
    return chromium
