"""Maps the plugin folders of the checkout into the one installed package, ``kgqa_bench``."""

from setuptools import find_packages, setup

PLUGIN_FOLDERS = ("methods", "benchmarks", "rules")

packages = find_packages(include=["kgqa_bench", "kgqa_bench.*"])
for folder in PLUGIN_FOLDERS:
    packages += [f"kgqa_bench.{name}" for name in find_packages(include=[folder, f"{folder}.*"])]

setup(
    packages=packages,
    package_dir={"kgqa_bench": "kgqa_bench"} | {f"kgqa_bench.{folder}": folder for folder in PLUGIN_FOLDERS},
)
