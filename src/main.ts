#!/usr/bin/env node
import { basename } from 'node:path';
import { Command } from 'commander';
import { VERSION } from './cli/version.ts';

interface Entry {
  description: string;
  /** Literal paths: the compiled package has its own. Absent: it is no command for people, and parses for itself. */
  load?: () => Promise<Command>;
}

/** Every command; its code is loaded only when it is asked for: the daemon's memory holds the daemon. */
const COMMANDS: Readonly<Record<string, Entry>> = {
  controller: {
    description: 'the cluster-level fence controller',
    load: async () => (await import('./cli/controller-command.ts')).controllerCommand(),
  },
  status: { description: 'nodes, fences, stops, and who leads', load: async () => (await import('./cli/commands/status.ts')).statusCommand() },
  explain: {
    description: 'why a node is or is not fenced, and what follows',
    load: async () => (await import('./cli/commands/explain.ts')).explainCommand(),
  },
  plan: { description: 'how a node would be fenced; does nothing', load: async () => (await import('./cli/commands/plan.ts')).planCommand() },
  stop: { description: 'stop all acting on a node, or on all', load: async () => (await import('./cli/commands/stop.ts')).stopCommand() },
  preserve: {
    description: 'keep a machine for a look, or stop keeping it',
    load: async () => (await import('./cli/commands/preserve.ts')).preserveCommand(),
  },
  history: { description: 'past fences and what came of them', load: async () => (await import('./cli/commands/history.ts')).historyCommand() },
  resume: { description: 'take stops back', load: async () => (await import('./cli/commands/resume.ts')).resumeCommand() },
  ack: {
    description: 'say that a machine is down, so that its workload is let go',
    load: async () => (await import('./cli/commands/ack.ts')).ackCommand(),
  },
  drill: {
    description: 'break a node of a cluster on this machine and watch it being fenced',
    load: async () => (await import('./cli/drill-command.ts')).drillCommand(),
  },
  validate: {
    description: "every node's plan and every error of the configuration, before a node fails",
    load: async () => (await import('./cli/validate-command.ts')).validateCommand(),
  },
  probe: {
    description: 'what a device shows to anybody: the fingerprint of its certificate',
    load: async () => (await import('./cli/probe-command.ts')).probeCommand(),
  },
  manifests: {
    description: 'what installs the controller in a cluster, as YAML for kubectl',
    load: async () => (await import('./cli/manifests-command.ts')).manifestsCommand(),
  },
  uninstall: {
    description: 'take back what nodefence set, and remove its objects and kinds',
    load: async () => (await import('./cli/commands/uninstall.ts')).uninstallCommand(),
  },
  agents: {
    description: "agents that can be called as ClusterLabs' fence agents are",
    load: async () => (await import('./cli/commands/agents.ts')).agentsCommand(),
  },
  agent: { description: 'one agent, called as a fence agent of ClusterLabs: options on stdin or the command line' },
};

const WRONG_USAGE = 2;
const LINK = /^fence_nodefence_([a-z0-9_]+)$/;

/** By the name of a link, or by `agent <name>`: in the manner of ClusterLabs, where an exit code of 2 means off and never wrong usage of an agent. */
function fenceCall([, program = '', command, name, ...parameters]: readonly string[]):
  { name: string | undefined; parameters: string[] } | undefined {
  const linked = LINK.exec(basename(program))?.[1];
  if (linked !== undefined) return { name: linked, parameters: [command, name, ...parameters].filter((word) => word !== undefined) };
  return command === 'agent' ? { name, parameters } : undefined;
}

async function main(argv: readonly string[]): Promise<void> {
  const call = fenceCall(argv);
  if (call !== undefined) {
    const { agentForPeople, fenceProcess } = await import('./cli/agent/fence-process.ts');
    const isLinked = LINK.test(basename(argv[1] ?? ''));
    if (!isLinked && (await agentForPeople(call.name, call.parameters))) return;
    return fenceProcess(call.name, call.parameters);
  }
  const program = new Command('nodefence')
    .description('Proves that a failed Kubernetes node cannot write any more, frees its workload, brings the node back.')
    .version(VERSION)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : WRONG_USAGE));
  const asked = Object.entries(COMMANDS).find(([name]) => name === argv[2])?.[1].load;
  if (asked !== undefined) program.addCommand(await asked());
  else for (const [name, { description }] of Object.entries(COMMANDS)) program.command(name).description(description);
  await program.parseAsync([...argv]);
}

await main(process.argv);
