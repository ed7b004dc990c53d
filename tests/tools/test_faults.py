"""The list of planted faults fits the code, so that `make mutants` can plant them."""

from mutants import ROOT, Fault, misfits


def test_every_fault_stands_once_in_the_code_and_has_tests():
    wrong = [f"{breaks}: {reason}" for breaks, reason in misfits(ROOT).items()]
    assert not wrong, "\n".join(["faults to mend or to drop:", *wrong])


def test_a_fault_that_does_not_fit_is_told():
    fault = Fault("", "setup.py", "from setuptools", "from", "setup.py")
    assert "invalid syntax" in fault.misfit(ROOT)
    assert "found 'nowhere' 0 times" in fault._replace(old="nowhere").misfit(ROOT)
    plan = Fault("", "letorbench/experiment/plan.py", "chosen.get_params()", "", "setup.py")
    for name in ("nothing_so_called", "Protocol.nothing_so_called"):
        assert "found no nothing_so" in plan._replace(new=name).misfit(ROOT)
    assert fault._replace(tests="tests/gone.py").misfit(ROOT) == "found no tests/gone.py"
