"""Accounts as others see them."""
