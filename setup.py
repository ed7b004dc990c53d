"""Packaging; the facts are in setup.cfg."""

import sys

from setuptools import Distribution, setup

if sys.version_info >= (3, 11):
    setup()
else:
    # pip 23.0, which comes with Python 3.10, downloads what a package requires before it compares
    # the version of Python; of a package that requires nothing it refuses that at once
    Distribution.find_config_files = lambda self: []
    setup(name="letorbench", packages=[], python_requires=">=3.11")
