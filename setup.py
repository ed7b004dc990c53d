"""Packaging; the facts are in setup.cfg."""

from setuptools import setup

setup()
