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
    description: 'run the fence controller: watch Nodes, fence those that failed',
    load: async () => (await import('./cli/controller-command.ts')).controllerCommand(),
  },
  status: { description: 'show nodes, fences, stops and the leader', load: async () => (await import('./cli/commands/status.ts')).statusCommand() },
  explain: {
    description: 'explain why a node is fenced or not, and what happens next',
    load: async () => (await import('./cli/commands/explain.ts')).explainCommand(),
  },
  plan: { description: 'show how a node would be fenced; changes nothing', load: async () => (await import('./cli/commands/plan.ts')).planCommand() },
  stop: { description: 'stop all actions on one node or on all nodes', load: async () => (await import('./cli/commands/stop.ts')).stopCommand() },
  preserve: {
    description: 'preserve a machine for debugging, or end its preservation',
    load: async () => (await import('./cli/commands/preserve.ts')).preserveCommand(),
  },
  history: { description: 'list past fences and how they ended', load: async () => (await import('./cli/commands/history.ts')).historyCommand() },
  resume: {
    description: 'remove stops, so that nodes can be fenced again',
    load: async () => (await import('./cli/commands/resume.ts')).resumeCommand(),
  },
  ack: {
    description: 'confirm that a machine is down, so that its workload is released',
    load: async () => (await import('./cli/commands/ack.ts')).ackCommand(),
  },
  drill: {
    description: 'break a node of a test cluster on this machine, and watch its fence',
    load: async () => (await import('./cli/drill-command.ts')).drillCommand(),
  },
  validate: {
    description: "check the configuration: every node's plan and every error",
    load: async () => (await import('./cli/validate-command.ts')).validateCommand(),
  },
  probe: {
    description: 'show the certificate fingerprint of a device',
    load: async () => (await import('./cli/probe-command.ts')).probeCommand(),
  },
  manifests: {
    description: 'print the manifests that install the controller, for kubectl',
    load: async () => (await import('./cli/manifests-command.ts')).manifestsCommand(),
  },
  uninstall: {
    description: 'remove nodefence from a cluster: its marks on nodes, objects and kinds',
    load: async () => (await import('./cli/commands/uninstall.ts')).uninstallCommand(),
  },
  node: {
    description: 'run the daemon of this node, ask it for its status, or check the node',
    load: async () => (await import('./cli/node/node-command.ts')).nodeCommand(),
  },
  agents: {
    description: 'list the agents that ClusterLabs can call as fence agents',
    load: async () => (await import('./cli/commands/agents.ts')).agentsCommand(),
  },
  agent: { description: 'run one agent as a ClusterLabs fence agent: options on stdin or the command line' },
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
