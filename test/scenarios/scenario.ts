import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { composeController } from '../../src/manager/compose.ts';
import type { ComposedController } from '../../src/manager/compose.ts';
import { LivePlanner } from '../../src/config/live-planner.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { EventRecorder } from '../../src/kube/events/recorder.ts';
import type { AgentDefinition, AgentRegistry } from '../../src/ports/agents.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import { CONFIG_MAPS, NODE_FENCE_REPORTS, SECRETS } from '../../src/ports/resources.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { TRUSTED_CA } from './bmc.ts';
import type { BmcOddities } from './bmc.ts';
import { FENCE_NAMESPACE, rightConfiguration } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { Operator } from './operator.ts';
import type { HeldClock } from './held-clock.ts';
import { installRemediation } from './remediation.ts';
import { PACE } from './settings.ts';
import { until } from './waiting.ts';
import { CONTROLLER_USER } from './witness.ts';
import { World, type WorldOptions } from './world.ts';

const STALE_AFTER_MS = 60_000;
const STOP_DEADLINE_MS = 2_000;

export interface ScenarioOptions {
  /** Default: `a` and `b`. */
  nodes?: readonly string[];
  /** What is odd about the BMC of a node. */
  bmcs?: Readonly<Record<string, BmcOddities>>;
  secondBmcs?: Readonly<Record<string, BmcOddities>>;
  /** From power on to the kubelet's first request. */
  bootDelayMs?: number;
  /** From the last sign of life to Ready=Unknown. */
  nodeGraceMs?: number;
  /** Of the BMCs; a fresh one when absent. */
  password?: string;
  /** What the operator wrote otherwise than a right configuration. */
  wrote?: (configuration: Configuration, world: World) => void;
  mode?: 'observe' | 'enforce';
  ownNode?: string;
  /** Of the leases of other remediators; absent: none are looked at. */
  nodeLeaseNamespace?: string;
  /** The kinds by which health checks ask for a fence are installed. */
  remediation?: boolean;
  /** Devices are read while nothing is wrong, and called before they are needed. */
  probes?: boolean;
  /** Remedies of conditions are carried out. */
  remedies?: boolean;
  /** How nodes are known to a cloud. */
  instances?: WorldOptions['instances'];
  /** Bearer tokens of further users, who have no right until somebody binds one. */
  tokens?: Readonly<Record<string, string>>;
  /** Agents of devices that only this story has, beside the real ones. */
  agents?: (world: World) => readonly AgentDefinition[];
  /** In place of the real one. */
  clock?: () => HeldClock;
  /** For a story that starts many processes. */
  timeoutMs?: number;
}

function withAgents(standard: AgentRegistry, more: readonly AgentDefinition[]): AgentRegistry {
  return {
    find: (name) => more.find((agent) => agent.name === name) ?? standard.find(name),
    names: () => [...standard.names(), ...more.map((agent) => agent.name)],
  };
}

/** A running cluster with the composed controller, the real agents, and a person who watches it. */
export interface Play {
  world: World;
  /** That of its options. */
  clock?: HeldClock | undefined;
  /** What a person sees and does with kubectl. */
  operator: Operator;
  password: string;
}

/** One story in a cluster of its own, with nodes `a` and `b` where no others are named; whatever it is about, no law may be violated in it. */
export function scenario(name: string, options: ScenarioOptions, play: (play: Play) => Promise<void>): void {
  it.concurrent(name, { timeout: options.timeoutMs ?? 60_000 }, async () => {
    const login = { username: 'fence', password: options.password ?? randomBytes(18).toString('base64url') };
    const { nodes = ['a', 'b'], bmcs = {}, secondBmcs = {}, bootDelayMs = PACE.bootDelayMs, nodeGraceMs = PACE.nodeGraceMs } = options;
    const clock = options.clock?.();
    const world = await World.start(
      { nodes, login, bmcs, secondBmcs, bootDelayMs, nodeGraceMs, instances: options.instances, clock },
      options.tokens,
    );
    const log: string[] = [];
    let controller: ComposedController | undefined;
    try {
      await configure(world, login, options);
      controller = await startController(world, options, log);
      await play({ world, clock, operator: new Operator(world), password: login.password });
      expect(world.witness.violations([login.password], { log: log.join('') })).toEqual([]);
    } finally {
      await controller?.stop(STOP_DEADLINE_MS);
      await world.end();
      clock?.end();
    }
  });
}

async function configure(world: World, login: { username: string; password: string }, options: ScenarioOptions): Promise<void> {
  const configuration = rightConfiguration(world.bmcs, { ...login, ca: TRUSTED_CA });
  options.wrote?.(configuration, world);
  for (const secret of configuration.secrets) await world.cluster.create(SECRETS, secret);
  for (const configMap of configuration.configMaps) await world.cluster.create(CONFIG_MAPS, configMap);
  if (options.remediation === true) await installRemediation(world);
}

/** Composed as the daemon composes it; leading, with the identity of every node on record. */
async function startController(world: World, options: ScenarioOptions, log: string[]): Promise<ComposedController> {
  const { clock, random } = world;
  const transport = inProcessTransport(world.server, CONTROLLER_USER);
  const logger = createLogger({ level: 'debug', format: 'json', write: (line) => log.push(line) });
  const cluster = new ApiClient({ transport });
  const recorder = new EventRecorder({
    cluster,
    clock,
    random,
    logger,
    metrics: NO_METRICS.event,
    component: 'nodefence-controller',
    instance: 'scenario',
  });
  const failure: { reason?: string } = {};
  const controller = composeController(
    {
      transport,
      clock,
      random,
      registry: withAgents(standardRegistry(), options.agents?.(world) ?? []),
      logger,
      metrics: NO_METRICS,
      recorder,
      planner: (sources) => new LivePlanner({ ...sources, namespace: FENCE_NAMESPACE }),
      exit: (reason) => {
        failure.reason = reason;
      },
    },
    {
      mode: options.mode ?? 'enforce',
      ownNode: options.ownNode,
      ...(options.nodeLeaseNamespace === undefined ? {} : { nodeLeaseNamespace: options.nodeLeaseNamespace }),
      ...(options.remediation === true && { remediation: true }),
      ...(options.probes === true && { probes: true }),
      ...(options.remedies === true && { remedies: true }),
      outOfService: true,
      staleAfterMs: STALE_AFTER_MS,
      namespace: FENCE_NAMESPACE,
      identity: 'scenario',
      concurrency: 8,
      syncDeadlineMs: 10_000,
    },
  );
  await controller.start();
  await until('the identity of every node is on record', async () => {
    const reports = await world.cluster.list(NODE_FENCE_REPORTS);
    return reports.filter((report) => report.status?.identity !== undefined).length === world.bmcs.length ? true : undefined;
  });
  return controller;
}
