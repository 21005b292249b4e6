import type { Command } from 'commander';

interface Entry {
  description: string;
  /** Literal paths: the compiled package has its own. Absent: it is no command for people, and parses for itself. */
  load?: () => Promise<Command>;
}

/** The image leaves out the clusters and devices that the drill plays with. */
async function loadDrill(): Promise<Command> {
  try {
    return (await import('./drill-command.ts')).drillCommand();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    process.stderr.write('drill: its test cluster is no part of this image or package: run it from a clone of the sources (npm run drill)\n');
    process.exit(1);
  }
}

/** Every command; its code is loaded only when it is asked for: the daemon's memory holds the daemon. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  controller: {
    description: 'run the fence controller: watch Nodes, fence those that failed',
    load: async () => (await import('./controller-command.ts')).controllerCommand(),
  },
  status: { description: 'show nodes, fences, stops and the leader', load: async () => (await import('./commands/status.ts')).statusCommand() },
  explain: {
    description: 'explain why a node is fenced or not, and what happens next',
    load: async () => (await import('./commands/explain.ts')).explainCommand(),
  },
  plan: { description: 'show how a node would be fenced; changes nothing', load: async () => (await import('./commands/plan.ts')).planCommand() },
  stop: { description: 'stop all actions on one node or on all nodes', load: async () => (await import('./commands/stop.ts')).stopCommand() },
  preserve: {
    description: 'preserve a machine for debugging, or end its preservation',
    load: async () => (await import('./commands/preserve.ts')).preserveCommand(),
  },
  history: { description: 'list past fences and how they ended', load: async () => (await import('./commands/history.ts')).historyCommand() },
  problems: {
    description: 'list problems that were counted of nodes and workloads',
    load: async () => (await import('./commands/problems.ts')).problemsCommand(),
  },
  resume: {
    description: 'remove stops, so that nodes can be fenced again',
    load: async () => (await import('./commands/resume.ts')).resumeCommand(),
  },
  ack: {
    description: 'confirm that a machine is down, so that its workload is released',
    load: async () => (await import('./commands/ack.ts')).ackCommand(),
  },
  drill: {
    description: 'break a node of a test cluster on this machine, and watch its fence',
    load: loadDrill,
  },
  validate: {
    description: "check the configuration: every node's plan and every error",
    load: async () => (await import('./validate-command.ts')).validateCommand(),
  },
  probe: {
    description: 'show the certificate fingerprint of a device',
    load: async () => (await import('./probe-command.ts')).probeCommand(),
  },
  manifests: {
    description: 'print the manifests that install the controller, for kubectl',
    load: async () => (await import('./manifests-command.ts')).manifestsCommand(),
  },
  uninstall: {
    description: 'remove nodefence from a cluster: its marks on nodes, objects and kinds',
    load: async () => (await import('./commands/uninstall.ts')).uninstallCommand(),
  },
  node: {
    description: 'run the daemon of this node, ask it for its status, or check the node',
    load: async () => (await import('./node/node-command.ts')).nodeCommand(),
  },
  agents: {
    description: 'list the agents that ClusterLabs can call as fence agents',
    load: async () => (await import('./commands/agents.ts')).agentsCommand(),
  },
  agent: { description: 'run one agent as a ClusterLabs fence agent: options on stdin or the command line' },
};
