"""ONNX's Cast of opset 24 as a device, run by ONNX's own ReferenceEvaluator."""

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from peer import Peer

CASTS = {"e4m3": TensorProto.FLOAT8E4M3FN, "e5m2": TensorProto.FLOAT8E5M2,
         "e2m1": TensorProto.FLOAT4E2M1}
OPSET = 24


def model(to, source=TensorProto.FLOAT, **attributes):
    node = helper.make_node("Cast", ["x"], ["y"], to=to, **attributes)
    graph = helper.make_graph(
        [node], "cast", [helper.make_tensor_value_info("x", source, [None, None])],
        [helper.make_tensor_value_info("y", to, [None, None])])
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=11)


def cast_to(to, **attributes):
    evaluator = ReferenceEvaluator(model(to, **attributes))
    return lambda values: evaluator.run(None, {"x": values.astype(np.float32)})[0]


def main():
    peer = Peer("ONNX reference", "ONNX", onnx.__version__)
    for element, to in CASTS.items():
        peer.convert(element, cast_to(to, saturate=1), overflow="saturate")
        if element != "e2m1":
            peer.convert(element, cast_to(to, saturate=0), overflow="overflow")
    for mode in ("up", "nearest"):
        cast = cast_to(TensorProto.FLOAT8E8M0, saturate=1, round_mode=mode)
        peer.convert("e8m0", cast, f"onnx-{mode}")
    peer.serve()


if __name__ == "__main__":
    main()
