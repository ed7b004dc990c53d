"""The examples are run by the tests that use them; importing them would register them."""

collect_ignore_glob = ["*.py"]
