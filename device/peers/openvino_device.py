"""OpenVINO's Convert on the CPU as a device, by folding it over a constant.

Its cast to E8M0 has no row: it is held to that of gfloat, to nearest even.
"""

import numpy as np
import openvino
from openvino import Model, Type, opset13
from openvino.passes import ConstantFolding, Manager
from peer import NotSupported, Peer

TYPES = {"e4m3": Type.f8e4m3, "e5m2": Type.f8e5m2}


def cast_to(to):
    def codes(values):
        node = opset13.convert(opset13.constant(values.astype(np.float32)), to)
        model = Model([opset13.result(node)], [])
        manager = Manager()
        manager.register_pass(ConstantFolding())
        manager.run_passes(model)
        folded = model.get_results()[0].input_value(0).get_node()
        if folded.get_type_name() != "Constant":
            raise NotSupported("OpenVINO did not fold this Convert")
        return np.array(folded.data).view(np.uint8)

    return codes


peer = Peer("OpenVINO", "Intel", openvino.__version__.split("-")[0])
for element, to in TYPES.items():
    peer.convert(element, cast_to(to), inputs=("f32",), overflow="overflow")
peer.convert("e8m0", cast_to(Type.f8e8m0), "gfloat-e8m0", inputs=("f32",))
if __name__ == "__main__":
    peer.serve()
