"""The arguments of a tool: their JSON Schema, made from the options of its command, and their command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from kgroups.cli.frame.options import Duration

from .tools import WAITS, Tool

Schema = dict[str, Any]

MOST_VALUES = 1000
LONGEST_VALUE = 1000
LONGEST_TEXT = 50_000
"""Characters of a query, or of a file."""
LONGEST_WAIT = 3600
"""Seconds."""

_PROFILE = "Profile of the cluster to query.  [default: all]"


def input_schema(tool: Tool, command: click.Command, profiles: Sequence[str]) -> Schema:
    """Return the JSON Schema of a tool's arguments.

    :param profiles: the clusters, if there are several.
    """
    params = _params(command)
    found: Schema = {name: _schema_of(params[name]) for name in tool.arguments}
    for name in WAITS.keys() & found.keys():
        most, text = tool.seconds / 2, re.sub(r"  \[default: .*", "", found[name]["description"])
        found[name] |= {"maximum": most, "description": f"{text}  [default: {min(WAITS[name], most):g}]"}
    for name, values in tool.choices.items():
        found[name] = {"type": "string", "enum": list(values)}
    for name, option in tool.files.items():
        text = f"Content of the file of {option}."
        found[name] = {"type": "string", "maxLength": LONGEST_TEXT, "description": text}
    required = list(tool.required)
    if profiles and tool.connects:
        found["profile"] = {"type": "string", "enum": list(profiles), "description": _PROFILE}
        if tool.one_cluster:
            found["profile"]["description"] = "Profile of the cluster to query."
            required.append("profile")
    return {"type": "object", "properties": found, "required": required, "additionalProperties": False}


def words_of(tool: Tool, command: click.Command, arguments: Mapping[str, Any], folder: Path) -> list[str]:
    """Return valid arguments of a tool as the command line.

    Each value is part of the word of its option, or follows ``--``: none can be taken for another option.

    :param folder: where files are written.
    """
    params, words, positional = _params(command), list(tool.fixed), []
    for name, value in arguments.items():
        if name in tool.choices:
            words.append(tool.choices[name][value])
        elif name in tool.files:
            file = _file_of(name, folder)
            file.write_text(value, encoding="utf-8")
            words.append(f"{tool.files[name]}={file}")
        elif name in tool.arguments:
            param = params[name]
            values = value if isinstance(value, list) else [value]
            if isinstance(param, click.Argument):
                positional += values
            else:
                words += _option_words(param, values)
    return [*words, "--", *positional]


def name_arguments(tool: Tool, text: str, folder: Path) -> str:
    """Return a message with the names of arguments in place of the files that :func:`words_of` wrote."""
    for name in tool.files:
        text = text.replace(str(_file_of(name, folder)), name)
    return text


def _file_of(name: str, folder: Path) -> Path:
    return folder / name.replace("_", ".")


def _option_words(param: click.Parameter, values: Sequence[Any]) -> Iterator[str]:
    option = _long_option(param)
    for value in values:
        if not isinstance(value, bool):
            yield f"{option}={value}"
        elif value:
            yield option


def _params(command: click.Command) -> dict[str, click.Parameter]:
    """Return the parameters by the names of arguments; names of groups take precedence over ``--group``."""
    found = {_long_option(param).lstrip("-").replace("-", "_"): param for param in command.params}
    arguments = (param for param in command.params if isinstance(param, click.Argument))
    return found | {"group" if param.name == "names" else str(param.name): param for param in arguments}


def _long_option(param: click.Parameter) -> str:
    return next((name for name in param.opts if name.startswith("--")), param.opts[0])


def _schema_of(param: click.Parameter) -> Schema:
    if isinstance(param, click.Argument):
        text = {"type": "string", "maxLength": LONGEST_TEXT if param.nargs == 1 else LONGEST_VALUE}
        if param.nargs == 1:
            return text | {"minLength": 1, "description": "One SELECT statement."}
        return _several(text) | {"description": "Groups: names, and globs such as orders-*."}
    assert isinstance(param, click.Option)
    found = _value_schema(param)
    return (_several(found) if param.multiple else found) | {"description": _description(param)}


def _several(items: Schema) -> Schema:
    return {"type": "array", "items": items, "maxItems": MOST_VALUES}


def _value_schema(option: click.Option) -> Schema:
    kind = option.type
    if option.is_flag:
        return {"type": "boolean"}
    if isinstance(kind, Duration):
        return {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_WAIT}
    if isinstance(kind, click.Choice):
        return {"type": "string", "enum": list(kind.choices)}
    if isinstance(kind, click.IntRange):
        bounds = {"minimum": kind.min, "maximum": kind.max}
        return {"type": "integer", **{name: value for name, value in bounds.items() if value is not None}}
    return {"type": "string", "maxLength": LONGEST_VALUE}


def _description(option: click.Option) -> str:
    """Return the help of an option, with the form of its value and the default."""
    text = re.sub(r" Repeatable\.", "", option.help or "")
    if option.metavar and not isinstance(option.type, Duration) and re.search(r"[^A-Z]", option.metavar.strip("[]")):
        text = f"{text} Form: {option.metavar}."
    if isinstance(option.type, Duration):
        text = f"{text} In seconds."
    default = option.default
    return f"{text}  [default: {default}]" if isinstance(default, int | str) and option.show_default else text
