from ..work import Item
def items(pack, device, only=""): return []
