#!/usr/bin/env node
import { Command } from 'commander';
import { VERSION } from './cli/version.ts';

/** argv → command. Each command's code is loaded only when it is asked for: the daemon's memory holds the daemon. */
async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('nodefence')
    .description('Proves that a failed Kubernetes node cannot write any more, frees its workload, brings the node back.')
    .version(VERSION);
  const asked = argv[2];
  if (asked === 'drill') program.addCommand((await import('./cli/drill-command.ts')).drillCommand());
  else if (asked === 'controller') program.addCommand((await import('./cli/controller-command.ts')).controllerCommand());
  else {
    program.command('controller', { isDefault: false }).description('the cluster-level fence controller');
    program.command('drill').description('break a node of a cluster on this machine and watch it being fenced');
  }
  await program.parseAsync([...argv]);
}

await main(process.argv);
