// A page that names a command names one that there is, with options that it has.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/command-table.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGES = globSync(['README.md', 'docs/*.md', 'agents/*/README.md', 'config/**/*.md', 'systemd/*.md', 'cockpit/*.md'], { cwd: ROOT }).sort();
/** It shows an older version beside this one. */
const OLDER = 'docs/upgrade-transcript.md';

/** Lines of code blocks, and code within a line. */
function codeOf(page: string): string[] {
  const blocks = [...page.matchAll(/^ *```[a-z]*\n(.*?)^ *```/gmsu)].flatMap(([, block = '']) => block.split('\n'));
  const spans = page.replaceAll(/^ *```.*?^ *```/gmsu, '').matchAll(/`([^`\n]+)`/gu);
  return [...blocks, ...[...spans].map(([, code = '']) => code)].map((line) => line.trim());
}

/** Words of a command line that begins with the program, up to its comment. */
function callsIn(page: string): string[][] {
  return codeOf(page).flatMap((line) => {
    const [, words] = /^(?:\$ )?(?:nodefence|kubectl fence) ([a-z].*)/u.exec(line.split('  #')[0] ?? '') ?? [];
    return words === undefined ? [] : [words.split(/\s+/u)];
  });
}

const helps = new Map<string, Promise<string>>();
/** Of a command and its subcommands, as they are shown. */
function helpOf(name: string): Promise<string> {
  const help = helps.get(name) ?? COMMANDS[name]?.load?.().then((command) => textOf(command)) ?? Promise.resolve('');
  helps.set(name, help);
  return help;
}

interface Helpful {
  helpInformation(): string;
  commands: readonly Helpful[];
}

function textOf(command: Helpful): string {
  return [command.helpInformation(), ...command.commands.map(textOf)].join('\n');
}

async function strangeIn(page: string): Promise<string[]> {
  const strange: string[] = [];
  for (const [name = '', ...words] of callsIn(page)) {
    if (COMMANDS[name] === undefined) strange.push(`there is no command ${name}`);
    const help = await helpOf(name);
    for (const [option = ''] of words.map((word) => /^--[a-z][a-z-]*/u.exec(word) ?? []))
      if (option !== '' && help !== '' && option !== '--help' && !new RegExp(`${option}(?![a-z-])`, 'u').test(help))
        strange.push(`${name} has no ${option}`);
  }
  return strange;
}

describe('commands on pages', () => {
  it('are found in code, up to a comment, and told where they are none', async () => {
    const page =
      '`nodefence fence a` and `nodefence status --wath`\n\n```sh\nnodefence stop --all --reason x  # --no-such\nkubectl fence plan a\n```\n';
    expect(callsIn(page)).toHaveLength(4);
    expect(await strangeIn(page)).toEqual(['there is no command fence', 'status has no --wath']);
  });

  it('are many', () => {
    expect(PAGES.flatMap((page) => callsIn(readFileSync(join(ROOT, page), 'utf8'))).length).toBeGreaterThan(150);
  });

  it.each(PAGES.filter((page) => page !== OLDER))('%s names those that there are', async (page) => {
    expect(await strangeIn(readFileSync(join(ROOT, page), 'utf8'))).toEqual([]);
  });
});
