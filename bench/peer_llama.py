"""Calls llama.cpp's functions for the peer_*.py scripts, through the low-level part of its Python package, which is
outside the tree."""

import ctypes
import glob
import importlib
import os
import subprocess
import sys
import types

PEER = os.environ["PEER"]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MYTHOS = os.environ.get("MYTHOS", os.path.join(ROOT, "build", "mythos"))
SILENT = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda level, text, user: None)


def open_peer():
    """Imports only the package's file of functions, because the rest needs more than numpy."""
    os.environ["LLAMA_CPP_LIB_PATH"] = os.path.join(PEER, "build-cpu", "bin")
    package = types.ModuleType("llama_cpp")
    package.__path__ = [os.path.join(sorted(glob.glob(os.path.join(PEER, "llama_cpp_python-*/")))[-1], "llama_cpp")]
    sys.modules["llama_cpp"] = package
    peer = importlib.import_module("llama_cpp.llama_cpp")
    peer.llama_backend_init()
    peer.llama_log_set(SILENT, ctypes.c_void_p())
    return peer


def load(peer, path, vocab_only=False):
    params = peer.llama_model_default_params()
    params.n_gpu_layers = 0
    params.vocab_only = vocab_only
    model = peer.llama_model_load_from_file(path.encode(), params)
    if not model:
        sys.exit(f"{path}: llama.cpp does not load it")
    return model


def convert(model, kind, path):
    subprocess.run([MYTHOS, "convert", "-m", model, "--type", kind, "-o", path, "-q"], check=True)
