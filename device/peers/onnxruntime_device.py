"""ONNX Runtime's Cast on the CPU as a device; the models are those of onnx_device.py."""

import numpy as np
import onnxruntime
from onnx import TensorProto
from onnx_device import CASTS, model
from peer import NotSupported, Peer

quiet = onnxruntime.SessionOptions()
quiet.intra_op_num_threads = 1
quiet.log_severity_level = 4


def cast_to(to, **attributes):
    def cast(values):
        blob = model(to, **attributes).SerializeToString()
        try:
            session = onnxruntime.InferenceSession(blob, quiet, ["CPUExecutionProvider"])
            value = onnxruntime.OrtValue.ortvalue_from_numpy(values.astype(np.float32))
            binding = session.io_binding()
            binding.bind_ortvalue_input("x", value)
            codes = np.zeros(values.shape, np.uint8)
            binding.bind_output("y", "cpu", 0, to, list(values.shape), codes.ctypes.data)
            session.run_with_iobinding(binding)
        except Exception as error:  # every error of the library is a class of its own
            raise NotSupported(f"ONNX Runtime refuses: {str(error).splitlines()[0]}") from error
        return codes

    return cast


peer = Peer("ONNX Runtime", "Microsoft", onnxruntime.__version__)
for element, to in CASTS.items():
    if element != "e2m1":  # packed outputs are not read here
        peer.convert(element, cast_to(to, saturate=1), overflow="saturate")
        peer.convert(element, cast_to(to, saturate=0), overflow="overflow")
for mode in ("up", "nearest"):
    cast = cast_to(TensorProto.FLOAT8E8M0, saturate=1, round_mode=mode)
    peer.convert("e8m0", cast, f"onnx-{mode}")
if __name__ == "__main__":
    peer.serve()
