"""Rules as models of formats that other runtimes execute."""
