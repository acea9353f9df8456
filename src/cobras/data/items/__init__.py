"""Images, texts, time series and vectors."""
