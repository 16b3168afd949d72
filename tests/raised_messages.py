"""What the messages of errors and warnings are made of, read from source code.

``findings`` lists every expression that enters a message: what is interpolated in f-strings, by ``%``, ``format`` or
``+``, in the same function or through its variables and the helpers of its module; and every chain to an error of
another library, whose message would be seen in a traceback.
"""

import ast
from collections.abc import Iterator

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_IGNORED = {"ModelFormatError"}  # about files of released models: no record is near
_TEXT_CALLS = {"str", "repr", "format", "join", "format_map"}


def findings(source: str) -> set[str]:
    """Return the expressions in messages of a module, as text."""
    module = ast.parse(source)
    return {found for owner in _owners(module) for found in _Scope(module, owner).findings()}


def _owners(module: ast.Module) -> Iterator[ast.AST]:
    yield module
    yield from (node for node in ast.walk(module) if isinstance(node, _FUNCTIONS))


def _own_nodes(owner: ast.AST) -> Iterator[ast.AST]:
    """Walk a function without the functions in it, which are walked by themselves."""
    for child in ast.iter_child_nodes(owner):
        if not isinstance(child, _FUNCTIONS):
            yield child
            yield from _own_nodes(child)


class _Scope:
    """One function, or the top of a module."""

    def __init__(self, module: ast.Module, owner: ast.AST) -> None:
        self._module, self._owner = module, owner
        self._assigned = {**_assignments(module), **_assignments(owner)}
        self._helpers = {node.name: node for node in ast.walk(module) if isinstance(node, _FUNCTIONS)}
        self._open: set[str] = set()

    def findings(self) -> Iterator[str]:
        handled = {id(node): h for h in _handlers(self._owner) for node in ast.walk(h)}
        for node in _own_nodes(self._owner):
            if isinstance(node, ast.Raise):
                yield from self._of_raise(node, handled.get(id(node)))
            elif isinstance(node, ast.Call) and _name(node.func) in {"warn", "add_note"}:
                yield from self.parts(node.args[0])
            elif isinstance(node, ast.Call) and _name(node.func).startswith("refuse"):
                yield from (part for text in node.args if _is_text(text) for part in self.parts(text))

    def _of_raise(self, node: ast.Raise, handler: ast.ExceptHandler | None) -> Iterator[str]:
        error = self._called(node.exc)
        if error is not None and _name(error.func) in _IGNORED:
            return
        if handler is not None and not (isinstance(node.cause, ast.Constant) and node.cause.value is None):
            caught = "all" if handler.type is None else ast.unparse(handler.type)
            yield f"chained to {caught}"
        elif node.cause is not None and not isinstance(node.cause, ast.Constant):
            yield f"from {ast.unparse(node.cause)}"
        if error is not None:
            for argument in [*error.args, *(keyword.value for keyword in error.keywords)]:
                yield from self.parts(argument)
            yield from self._of_helper(error)
        elif node.exc is not None and not isinstance(node.exc, ast.Name):
            yield ast.unparse(node.exc)

    def _called(self, error: ast.AST | None) -> ast.Call | None:
        """Return the call that makes an error, also where a variable holds it."""
        if isinstance(error, ast.Name):
            return next((v for v in self._assigned.get(error.id, []) if isinstance(v, ast.Call)), None)
        return error if isinstance(error, ast.Call) else None

    def parts(self, node: ast.AST) -> Iterator[str]:
        """Yield what is interpolated in a message."""
        pieces = _pieces(node)
        if pieces is not None:
            yield from (part for piece in pieces for part in self.parts(piece))
        elif isinstance(node, ast.Name):
            yield from self._of_name(node.id)
        else:
            yield ast.unparse(node)
            yield from self._of_helper(node)

    def _of_name(self, name: str) -> Iterator[str]:
        """Yield what a variable was made of; what it holds if it is no text is shown with its name."""
        if name in self._open:
            return
        values = self._assigned.get(name)
        if values is None:
            yield name
            return
        self._open.add(name)
        for value in values:
            yield from self.parts(value) if _is_text(value) else (f"{name} = {ast.unparse(value)}",)
        self._open.discard(name)

    def _of_helper(self, node: ast.AST) -> Iterator[str]:
        """Yield what a function of the same module puts into the text, or the error, that it returns."""
        helper = self._helpers.get(_name(node.func)) if isinstance(node, ast.Call) else None
        if helper is None or helper.name in self._open:
            return
        inner = _Scope(self._module, helper)
        inner._open = {*self._open, helper.name}
        for returned in (n.value for n in _own_nodes(helper) if isinstance(n, ast.Return) and n.value):
            inside = returned.args if isinstance(returned, ast.Call) else [returned]
            yield from (part for value in inside for part in inner.parts(value))


def _pieces(node: ast.AST) -> list[ast.AST] | None:
    """Return what a text is put together from; None if that cannot be seen."""
    if isinstance(node, ast.Constant | ast.JoinedStr | ast.Tuple | ast.List):
        return list(getattr(node, "values", getattr(node, "elts", ())))
    if isinstance(node, ast.FormattedValue):
        return [node.value]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        return [node.left, node.right]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    return _pieces_of_call(node) if isinstance(node, ast.Call) and _name(node.func) in _TEXT_CALLS else None


def _pieces_of_call(node: ast.Call) -> list[ast.AST]:
    of = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    return [*of, *node.args, *(keyword.value for keyword in node.keywords)]


def _assignments(owner: ast.AST) -> dict[str, list[ast.AST]]:
    found: dict[str, list[ast.AST]] = {}
    nodes = ast.iter_child_nodes(owner) if isinstance(owner, ast.Module) else _own_nodes(owner)
    for node in nodes:
        if isinstance(node, ast.Assign):
            targets = [name for target in node.targets for name in ast.walk(target)]
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            targets = [node.target]
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(node.value)
    return found


def _handlers(owner: ast.AST) -> list[ast.ExceptHandler]:
    return [node for node in _own_nodes(owner) if isinstance(node, ast.ExceptHandler)]


def _is_text(node: ast.AST) -> bool:
    """Say whether an expression makes a text that can be looked into."""
    if isinstance(node, ast.Constant | ast.JoinedStr):
        return True
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    if isinstance(node, ast.IfExp):
        return _is_text(node.body) and _is_text(node.orelse)
    return isinstance(node, ast.Call) and _name(node.func) in _TEXT_CALLS


def _name(function: ast.AST) -> str:
    return getattr(function, "id", None) or getattr(function, "attr", "")
