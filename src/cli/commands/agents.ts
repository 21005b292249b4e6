import { Command } from 'commander';

import { fenceAgents } from '../agent/fence-program.ts';
import { PROGRAM_PREFIX } from '../agent/fence-metadata.ts';
import { usageExits } from '../usage-exits.ts';

/** `nodefence agents`: the agents that `nodefence agent <name>` runs; reaches no device. */
export function agentsCommand(): Command {
  return usageExits(new Command('agents'))
    .description('list the agents that ClusterLabs can call: nodefence agent <name>, or a link named fence_nodefence_<name>')
    .action(() => {
      const agents = fenceAgents();
      const width = Math.max(...agents.map(({ name }) => name.length));
      for (const { name, kind, aliases } of agents) {
        const link = `${PROGRAM_PREFIX}${name.replaceAll('-', '_')}`;
        const others = aliases.length === 0 ? '' : `  (${aliases.join(', ')})`;
        process.stdout.write(`${name.padEnd(width)}  ${kind.padEnd(6)}  ${link}${others}\n`);
      }
    });
}
