"""The tests: a package, since some libraries install one of this name, which workers would find first."""
