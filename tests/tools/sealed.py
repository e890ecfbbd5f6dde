"""Files of any content with valid checksums, and the two parts of a safetensors file."""

import hashlib
import json
import struct

from safetensors.numpy import load, save

from garden_core.recorded.dataset import KEY


def parts(content):
    """Return the header of a safetensors file and its arrays' bytes."""
    size = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def joined(header, arrays):
    """Return the file with this header."""
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + arrays


def sealed_replay(content):
    """Return a replay's file of this content."""
    if isinstance(content, dict):
        content = {key: value for key, value in content.items() if key != "checksum"}
        text = json.dumps(content, sort_keys=True)
        content["checksum"] = hashlib.sha256(text.encode()).hexdigest()
    return json.dumps(content).encode()


def dataset_parts(file):
    """Return the plain data of a dataset's file and its arrays."""
    return json.loads(parts(file)[0]["__metadata__"][KEY]), load(file)


def sealed_dataset(content, arrays):
    """Return a dataset's file of plain data and arrays."""
    if isinstance(content, dict):
        content = {key: value for key, value in content.items() if key != "checksum"}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
        for name in sorted(arrays):
            digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}".encode())
            digest.update(arrays[name].tobytes())
        content["checksum"] = digest.hexdigest()
    return save(arrays, {KEY: json.dumps(content)})
