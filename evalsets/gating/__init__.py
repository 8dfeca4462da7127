"""Whether a run may pass: bars, a baseline, and which half of the pipeline to mend."""
