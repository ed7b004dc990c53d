"""Speed and memory beside other libraries, one file a claim; `python -m benchmarks` runs all."""
