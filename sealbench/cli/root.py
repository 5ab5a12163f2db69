"""`seal`: the group of all commands, loaded one by one when called, and the exit codes."""

from __future__ import annotations

import difflib
import importlib
import sys
import traceback
from typing import Any

import click

from sealbench import __version__
from sealbench.cli.console import Console
from sealbench.errors import SealError, UsageError

# Command name → (module, one line of help). Help lives here so that `seal --help` imports no command.
COMMANDS = {
    "demo": "The whole life of two batteries on this machine, offline, in seconds.",
    "init": "Make a workspace: folders, configuration, the author's key.",
    "families": "List task families, their classes, parameters and wordings.",
    "create": "Generate a battery, seal it, commit to it, stamp it.",
    "preregister": "Write a plan's template, or freeze a written plan.",
    "stamp": "Submit files to OpenTimestamps calendars.",
    "upgrade": "Complete pending timestamps and fetch block headers.",
    "run": "Do, or finish, the calls of a plan.",
    "export": "The rows of runs as CSV or Parquet.",
    "report": "Figures and verdicts of finished runs.",
    "plan": "How many items a test needs; the smallest p a design can reach.",
    "test": "The exact test for your own numbers in a CSV.",
    "audit": "Does what was cut depend on the answer? For evaluation logs you already have.",
    "verify": "Check everything, trusting neither the author nor this tool.",
    "reveal": "Open some items with proofs, or show that a battery is part of another.",
    "retire": "Publish a battery with its key, for anyone to check.",
    "headers": "Take a newer Bitcoin checkpoint table.",
    "status": "What waits: stamps, runs, reports, reveals.",
    "key": "Show, back up, restore, rotate or revoke keys.",
}

EXIT_CODES = """\b
Exit codes:
  0   done, or verified
  1   checked, and false (a file that is missing or does not parse included)
  2   wrong usage or configuration
  3   not yet: pending attestation, unfinished run, not anchored
  4   could not check: network, key, missing header
  70  a bug in seal
  130 interrupted
"""


class LazyGroup(click.Group):
    """Imports a command's module only when that command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"sealbench.cli.{cmd_name}")
        command: click.Command = module.command
        _name_variables(command, f"SEAL_{cmd_name}")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            raise UsageError(
                f"there is no command {args[0]!r}", hint=f"seal {close[0]}" if close else "seal --help"
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _name_variables(command: click.Command, prefix: str) -> None:
    """Let every option be set by a variable of its own name: `SEAL_VERIFY_MIN_GRADE` for `--min-grade`."""
    for option in command.params:
        if isinstance(option, click.Option):
            option.envvar = f"{prefix}_{max(option.opts, key=len).lstrip('-')}".upper().replace("-", "_")
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            _name_variables(inner, f"{prefix}_{name}")


@click.group(
    cls=LazyGroup,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "SEAL"},
)
@click.version_option(__version__, prog_name="seal")
@click.option("--color/--no-color", default=None, help="Colour, or none (default: on a terminal).")
@click.option("--debug", is_flag=True, help="Show a traceback with an error.")
@click.pass_context
def seal(ctx: click.Context, color: bool | None, debug: bool) -> None:
    """\b
    seal demo                        watch the whole life of two batteries
    seal verify                      check the workspace you are in
    seal COMMAND --help              an example and the options of a command

    Seal evaluation batteries before they are run, and measure whether what a token cap removes
    depends on the right answer.
    """
    ctx.obj = Console(color=color, debug=debug)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with the code of the table in `seal --help`."""
    sys.exit(invoke(arguments))


def invoke(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; nothing but a bug leaves a traceback."""
    given = sys.argv[1:] if arguments is None else arguments
    console = Console(debug="--debug" in given)
    try:
        code: Any = seal.main(args=given, prog_name="seal", standalone_mode=False)
    except SealError as error:
        return _fail(console, error.message, error.hint, error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "seal"
        return _fail(console, error.format_message(), f"{command} --help", 2)
    except click.ClickException as error:
        return _fail(console, error.format_message(), "", 2)
    except (click.exceptions.Abort, KeyboardInterrupt):
        console.note("interrupted; nothing half-written is left")
        return 130
    except BrokenPipeError:
        # The reader went away (`seal report | head`): not an error, and nothing can be printed.
        sys.stderr.close()
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(console, f"{where}{error.strerror or error}", "free the disk or fix the permissions", 4)
    except Exception as error:  # noqa: BLE001  # the last line of defence: a bug, said so, never a bare traceback
        hint = "please report this with the output of the same command after --debug: seal --debug …"
        return _fail(console, f"a bug in seal: {type(error).__name__}: {error}", hint, 70)
    return int(code) if isinstance(code, int) else 0


def _fail(console: Console, message: str, hint: str, code: int) -> int:
    if console.debug:
        traceback.print_exc()
    console.error(message, hint)
    return code
