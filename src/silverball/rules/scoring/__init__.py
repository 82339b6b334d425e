"""What a result is worth: point maps, strikes, curves, strokes."""
