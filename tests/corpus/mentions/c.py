"""@no MAX_DEPTH g_level
@no limit"""
from a import MAX_DEPTH
import a as limit

g_level = 0  # the level g_level


class Conf:
    '''@no limit'''
    limit = 3

    def __init__(self, limit, on_done=None):
        self.limit = limit # @assigns
        self.on_done = on_done # @assigns
        self.text = f"{limit} {{@word limit}} {g_level:>{MAX_DEPTH}}"
        self.other = rb"@no limit"
        self.long = f"""
@no limit
{g_level}
@no on_done
"""

    def work(self):
        global g_level
        g_level = 1 # @assigns
        g_level += MAX_DEPTH # @assigns
        if g_level == MAX_DEPTH: # @compares
            return g_level # @returns
        call(
            limit=MAX_DEPTH,
            on_done=self.on_done,
        )
        x = {"deep": g_level, 'it\'s': MAX_DEPTH}
        self.limit[0] = 1 # @part
        match g_level:
            case 1:
                pass
        return self.limit + MAX_DEPTH
