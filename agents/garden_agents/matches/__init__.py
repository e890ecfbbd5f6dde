"""Agents play games against each other."""
