import type { Command } from 'commander';
import { COMMANDS } from '../command-table.ts';
import { PURPOSE } from '../version.ts';
import { item, paragraph, section } from './roff.ts';

interface ManPage {
  /** nodefence-status.1 */
  file: string;
  text: string;
}

/** What has no Command of its own: an agent parses as ClusterLabs does. */
const PARSES_ITSELF = 'Its options are those of fence agents; nodefence agent NAME with the action metadata lists them.';

/** A page for the program and one for each command, from the definitions by which the program itself parses: they cannot tell anything else. */
export async function manPages(version: string): Promise<ManPage[]> {
  const pages = await Promise.all(
    Object.entries(COMMANDS).map(async ([name, { description, load }]) => ({
      file: `nodefence-${name}.1`,
      text: load === undefined ? ownParser(name, description, version) : commandPage(await load(), version),
    })),
  );
  return [{ file: 'nodefence.1', text: programPage(version) }, ...pages];
}

function page(name: string, version: string, purpose: string, lines: readonly string[]): string {
  const head = [
    '.\\" Written by `npm run generate` from the definitions of the commands; edits are lost.',
    `.TH "${name.toUpperCase()}" "1" "" "nodefence ${version}" "nodefence"`,
  ];
  return `${[...head, ...section('Name', [paragraph(`${name} - ${purpose}`)]), ...lines].join('\n')}\n`;
}

function programPage(version: string): string {
  const commands = Object.entries(COMMANDS).flatMap(([name, { description }]) =>
    item(`nodefence ${name}`, `${description}; see nodefence-${name}(1)`),
  );
  return page('nodefence', version, PURPOSE.replace(/\.$/, ''), [
    ...section('Synopsis', ['\\fBnodefence\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]']),
    ...section('Commands', commands),
    ...section('Options', [...item('-V, --version', 'print the version'), ...item('-h, --help', 'print what each command takes')]),
    ...section('Exit status', [
      ...item('0', 'done'),
      ...item('1', 'failed'),
      ...item('2', 'wrong usage'),
      ...item('3', 'held: a policy, a stop or a missing proof stands against it'),
      paragraph('An agent ends with the codes of fence agents, where 2 means that a status is off.'),
    ]),
  ]);
}

function ownParser(name: string, description: string, version: string): string {
  return page(`nodefence-${name}`, version, description, [
    ...section('Synopsis', [`\\fBnodefence ${name}\\fR \\fINAME\\fR [\\fIoptions\\fR]`]),
    ...section('Description', [paragraph(PARSES_ITSELF)]),
    ...seeAlso(),
  ]);
}

function commandPage(command: Command, version: string): string {
  const name = `nodefence-${command.name()}`;
  const [purpose = '', ...more] = command.description().split('\n');
  const below = visible(command);
  return page(name, version, purpose, [
    ...section('Synopsis', synopsis(command, 'nodefence')),
    ...section('Description', more.length === 0 ? [] : [paragraph(more.join('\n'))]),
    ...parts(command),
    ...below.flatMap((one) => subcommand(one, `nodefence ${command.name()}`)),
    ...seeAlso(),
  ]);
}

function visible(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help');
}

function synopsis(command: Command, parent: string): string[] {
  const [first = '', ...rest] = `${parent} ${command.name()} ${command.usage()}`.trim().split(/ (?=[[<])/);
  return [`\\fB${paragraph(first)}\\fR ${paragraph(rest.join(' '))}`.trimEnd()];
}

function subcommand(command: Command, parent: string): string[] {
  const title = `${parent} ${command.name()}`;
  const inner = [...synopsis(command, parent), '.PP', paragraph(command.description()), ...items(command)];
  return [...section(title, inner), ...visible(command).flatMap((one) => subcommand(one, title))];
}

function parts(command: Command): string[] {
  const help = command.createHelp();
  const named = help.visibleArguments(command).flatMap((argument) => item(help.argumentTerm(argument), help.argumentDescription(argument)));
  return [...section('Arguments', named), ...section('Options', options(command))];
}

function items(command: Command): string[] {
  const help = command.createHelp();
  return [
    ...help.visibleArguments(command).flatMap((argument) => item(help.argumentTerm(argument), help.argumentDescription(argument))),
    ...options(command),
  ];
}

function options(command: Command): string[] {
  const help = command.createHelp();
  return help.visibleOptions(command).flatMap((option) => item(help.optionTerm(option), help.optionDescription(option)));
}

function seeAlso(): string[] {
  return section('See also', ['.BR nodefence (1)']);
}
