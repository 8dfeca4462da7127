from tests.quality.sample import measure_sample


def test_nine_in_ten_failures_of_the_sample_are_queued_and_most_of_the_top_fifty_are_real() -> None:
    figures = measure_sample()
    assert figures.failed_found >= 0.9
    assert figures.top_failed >= 0.6
    assert figures.suggested_rightly >= 0.65
