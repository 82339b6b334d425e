"""The organizer's console: a night run from a phone, by forms that call the slices' writes."""
