#!/usr/bin/env node
import { basename } from 'node:path';
import { Command } from 'commander';
import { COMMANDS } from './cli/command-table.ts';
import { usageExits } from './cli/usage-exits.ts';
import { PURPOSE, VERSION } from './cli/version.ts';

const LINK = /^fence_nodefence_([a-z0-9_]+)$/;

/** By the name of a link, or by `agent <name>`: in the manner of ClusterLabs, where an exit code of 2 means off and never wrong usage of an agent. */
function fenceCall([, program = '', command, name, ...parameters]: readonly string[]):
  | { name: string | undefined; parameters: string[] }
  | undefined {
  const linked = LINK.exec(basename(program))?.[1];
  if (linked !== undefined) return { name: linked, parameters: [command, name, ...parameters].filter((word) => word !== undefined) };
  return command === 'agent' ? { name, parameters } : undefined;
}

/** `help <command>` asks for what `<command> --help` says: only that command's own code knows its options. */
function withoutHelpWord(argv: readonly string[]): readonly string[] {
  const [node = '', program = '', word, command, ...more] = argv;
  return word === 'help' && command !== undefined && Object.hasOwn(COMMANDS, command) ? [node, program, command, ...more, '--help'] : argv;
}

async function main(given: readonly string[]): Promise<void> {
  const argv = withoutHelpWord(given);
  const call = fenceCall(argv);
  if (call !== undefined) {
    const { agentForPeople, fenceProcess } = await import('./cli/agent/fence-process.ts');
    const isLinked = LINK.test(basename(argv[1] ?? ''));
    if (!isLinked && (await agentForPeople(call.name, call.parameters))) return;
    return fenceProcess(call.name, call.parameters);
  }
  const program = usageExits(new Command('nodefence')).description(PURPOSE).version(VERSION);
  const asked = Object.entries(COMMANDS).find(([name]) => name === argv[2])?.[1].load;
  if (asked !== undefined) program.addCommand(await asked());
  else for (const [name, { description }] of Object.entries(COMMANDS)) program.command(name).description(description);
  await program.parseAsync([...argv]);
}

await main(process.argv);
