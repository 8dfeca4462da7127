"""What every span format shares: ids, texts and documents found in spans, and their assembly into interactions."""
