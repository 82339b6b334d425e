"""From results to points: point maps, strikes, curves, strokes and pins."""
