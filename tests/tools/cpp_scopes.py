# SPDX-License-Identifier: Apache-2.0
"""Reads C++ as far as a guard needs it: which names a text declares where, and which it uses."""
import re

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<directive>\#(?:[^\n\\]|\\.)*)
  | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")
  | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[\w.']|[eEpP][+-])*)
  | (?P<op>::|->|<<=|>>=|[-+*/%&|^!=<>]=|&&|\|\||\+\+|--|.)
""", re.X | re.S)
WORD = re.compile(r"[A-Za-z_]\w*")
NO_NAME = {"if", "for", "while", "switch", "return", "sizeof", "decltype", "alignas", "noexcept", "explicit", "requires", "throw", "catch", "static_assert",
           "defined", "__attribute__", "new", "delete", "typeid", "co_await", "const_cast", "static_cast", "reinterpret_cast", "dynamic_cast", "operator", "asm"}
CLASS_KEYS = {"class", "struct", "union"}
LABELS = {"public", "private", "protected", "Q_SIGNALS", "Q_SLOTS"}


def tokens(text):
    """Words and signs in order; of a directive its words as one tuple."""
    out = []
    for m in TOKEN.finditer(text):
        kind = m.lastgroup
        if kind in ("word", "op"):
            out.append(m.group())
        elif kind == "directive":
            line = m.group()
            if not re.match(r"#\s*include", line):
                out.append(tuple(WORD.findall(re.sub(r'//[^\n]*|"(?:[^"\\]|\\.)*"', " ", line))[1:]))
        elif kind in ("string", "raw"):
            out.append('""')
        elif kind == "number":
            out.append("0")
    return out


class Declared:
    """A function that a text declares or defines outside of functions."""

    def __init__(self, name, owner, public, statement):
        self.name, self.owner, self.public, self.statement = name, owner, public, statement


def declared_name(statement):
    """Where in the tokens of a statement outside functions the name of the function stands that it declares; None if it declares none."""
    if not statement or statement[0] in ("using", "typedef", "friend", "static_assert", "enum") or "operator" in statement:
        return None
    angle = 0
    for k, t in enumerate(statement):
        if t == "=" and angle == 0:
            return None
        if t == "<" and k > 0 and (statement[k - 1] == "template" or WORD.match(statement[k - 1])):
            angle += 1
        elif t == ">" and angle > 0:
            angle -= 1
        elif t == "(" and angle == 0:
            if k == 0 or not WORD.match(statement[k - 1]) or statement[k - 1] in NO_NAME:
                return None
            # A type stands before it, or the class that it belongs to; a macro or the initial value of a base has neither.
            return k - 1 if k > 1 and not statement[k - 1].isupper() else None
    return None


def class_key(statement):
    """Where `class` or the like stands in what comes before the braces of a class; None before other braces."""
    if "=" in statement or "enum" in statement or declared_name(statement) is not None:
        return None
    return next((k for k, t in enumerate(statement) if t in CLASS_KEYS and (k == 0 or statement[k - 1] not in ("<", ","))), None)


def read(text):
    """(declared, uses): functions that stand outside functions, and (name, function around) for every other word."""
    declared, uses = [], []
    scopes = []  # (kind, name, public): kind is namespace, class or body
    statement, parens = [], 0

    def end(defines):
        """The statement so far is complete."""
        at = declared_name(statement)
        owner = next((n for k, n, _ in reversed(scopes) if k == "class"), None)
        hidden = any(k == "namespace" and n == "" for k, n, _ in scopes)
        inside = statement[at] if at is not None else None
        for k, t in enumerate(statement):
            if k != at and WORD.match(t):
                uses.append((t, inside if at is not None and defines and k > at else None))
        if at is not None and not hidden:
            if at > 1 and statement[at - 1] == "::":
                owner = statement[at - 2]
            public = all(p for k, _, p in scopes if k == "class")
            declared.append(Declared(statement[at], owner, public, list(statement)))
        statement.clear()
        return inside

    body_of = None
    for t in tokens(text):
        if isinstance(t, tuple):
            uses.extend((w, None) for w in t)
            continue
        in_body = bool(scopes) and scopes[-1][0] == "body"
        if in_body:
            if t == "{":
                scopes.append(("body", "", True))
            elif t == "}":
                scopes.pop()
                if not scopes or scopes[-1][0] != "body":
                    body_of = None
            elif WORD.match(t):
                uses.append((t, body_of))
            continue
        if t == "(":
            parens += 1
        elif t == ")":
            parens -= 1
        if parens > 0:  # a default argument may hold braces
            statement.append(t)
        elif t == "{":
            if "namespace" in statement:
                name = statement[-1] if statement[-1] != "namespace" else ""
                scopes.append(("namespace", name, True))
                statement.clear()
            elif statement and statement[0] == "extern":
                scopes.append(("namespace", "extern", True))
                statement.clear()
            elif (k := class_key(statement)) is not None:
                names = [w for w in statement[k + 1:] if WORD.match(w) and w not in ("final", "alignas")]
                uses.extend((w, None) for w in names[1:])
                scopes.append(("class", names[0] if names else "", statement[k] != "class"))
                statement.clear()
            else:
                body_of = end(defines=True)
                scopes.append(("body", "", True))
        elif t == "}":
            end(defines=False)
            if scopes:
                scopes.pop()
        elif t == ";":
            end(defines=False)
        elif t == ":" and statement and statement[-1] in LABELS and scopes and scopes[-1][0] == "class":
            scopes[-1] = ("class", scopes[-1][1], bool({"public", "Q_SIGNALS"} & set(statement[-2:])))
            statement.clear()
        else:
            statement.append(t)
    end(defines=False)
    return declared, uses
