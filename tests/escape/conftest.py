"""A browser for the tests of the pages of runs."""

from tests.flows.review.web.conftest import browser as browser
