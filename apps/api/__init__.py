"""The REST door: one module a noun, one table of errors. Views read the request, call one service, show the answer."""
