"""Switches, true or false, that a Chinese request names: 包括自助餐服务, 不允许吸烟."""

import re

from agenthard.audit.detectors.support.spoken_values import Spoken
from agenthard.audit.detectors.support.switches import Named

_WHETHER = re.compile(
    r"是否(?:需要|应该|应当|可以|希望|会|要|已)?"
    r"(?:启用|开启|打开|应用|包括|包含|提供|生成|进行|允许|查询|预测|检测|检查|显示|使用|收集|支持|添加|输出|考虑|设置|安排|分析|推荐|保存|发送|获取|对)?"
    r"(?P<what>[\u4e00-\u9fffA-Za-z]{2,20})"
)
_CLAUSE = re.compile(r"[，,。；;！!？?\n：:]")
_NO = re.compile(r"不|无需|没|别|免|关闭|取消|禁用|排除|除了|非")
_OPEN = re.compile(r"如果|是否|或者|还是|要不要|可能|吗|除非")
_EMPTY = re.compile(r"的|相关|关于|详细|具体|信息|功能|服务|内容|情况|处理")
_SHORTEST = 2
_LONG = 4
"""Characters that name a switch although they are less than half of what its documentation says."""


def chinese_switch(spoken: Spoken, description: str, turn: int) -> Named | None:
    """Return what the user says of a switch, where all clauses that name it say the same; None where none does.

    A clause names it when it has the words that follow "whether" (是否) in the documentation, or most of them.

    Args:
        spoken: what the user states.
        description: what the tool says of the switch.
        turn: the turn of its call.
    """
    match = _WHETHER.search(description)
    if match is None:
        return None
    what = _EMPTY.sub("", match["what"])
    found = []
    for at, text in spoken.scope(turn):
        for clause in _CLAUSE.split(text):
            shared = _shared(what, _EMPTY.sub("", clause))
            if len(shared) < _SHORTEST or (len(shared) < _LONG and 2 * len(shared) <= len(what)):
                continue
            if _OPEN.search(clause):
                return None
            before = _EMPTY.sub("", clause).partition(shared)[0]
            found.append(Named(at, clause.strip(), _NO.search(before) is None))
    return found[0] if found and len({one.value for one in found}) == 1 else None


def _shared(one: str, other: str) -> str:
    """Return the longest text that both have."""
    best = ""
    for start in range(len(one)):
        while start + len(best) < len(one) and one[start : start + len(best) + 1] in other:
            best = one[start : start + len(best) + 1]
    return best
