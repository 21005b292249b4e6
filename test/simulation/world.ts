import { fenceName } from '../../src/domain/node-fence.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { ApiEvent, DeviceEvent } from '../../src/laws/trace.ts';
import { ClusterControllers } from '../../src/testbed/cluster/cluster-controllers.ts';
import type { Trace } from '../../src/testbed/cluster/dependencies.ts';
import { MemoryDisk } from '../../src/testbed/cluster/disk.ts';
import type { Machine } from '../../src/testbed/cluster/machine.ts';
import { KUBERNETES_CLUSTER } from '../../src/testbed/cluster/options.ts';
import { CONTROLLER_USER, DAEMON_USER, OPERATOR_USER, SimulatedApi } from './api.ts';
import { Bounds } from './bounds.ts';
import { changeDaemonTimes, createFenceConfiguration } from './configuration.ts';
import type { ControllerProgram } from './controller-program.ts';
import { Controllers, hostOf } from './controllers.ts';
import { DeviceJudges } from './device-judges.ts';
import { Disturbances } from './disturbances.ts';
import { DRIFT } from './draws.ts';
import { FaultyTransport } from '../../src/drill/daemons/simulated/faulty-transport.ts';
import { FenceWatch } from './fence-watch.ts';
import { strike } from './strike.ts';
import { Guards } from './guards.ts';
import { Hardware } from './hardware.ts';
import type { Kernel } from '../../src/testbed/simulation/kernel.ts';
import { Port } from '../../src/testbed/simulation/port.ts';
import type { SimulatedProcess } from '../../src/testbed/simulation/simulated-process.ts';
import { WORLD_BEGINS_WALL_MS } from '../../src/testbed/simulation/process-clock.ts';
import { CALM_API, Network } from '../../src/testbed/simulation/network.ts';
import { DumpsOfWorld } from './dumps/dumps-of-world.ts';
import { DaemonsOfWorld } from './node-daemons/daemons-of-world.ts';
import { Rack, systemUUIDOf } from './rack.ts';
import { Readiness } from './readiness.ts';
import { RemediesOfWorld } from './remedies/remedies-of-world.ts';
import { Rest } from './rest.ts';
import { concerned } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { SecondariesOfWorld } from './secondary-controllers/secondaries-of-world.ts';
import { WaysOfWorld } from './ways/ways-of-world.ts';
import { releasedNode, WorldTrace } from './world-trace.ts';

const WORKLOAD_AT_MS = 10_000;
/** Two renewals of a kubelet and a half: what Kubernetes waits, without its reserve. */
const NODE_GRACE_MS = 25_000;
const BOOKMARK_MS = 30_000;
/** Calm water inside the cluster: faults strike the controllers' side, what the cluster does by itself is given. */
const INSIDE: typeof CALM_API = { ...CALM_API, latencyMs: [0.2, 1] };

/** Nodes whose machines an operator switches. */
function served({ secondaries }: Scenario): readonly string[] {
  return secondaries?.hosts?.isServed === true ? secondaries.hosts.nodes : [];
}

/** A whole cluster with its machines, devices and controllers on one kernel. */
export class World {
  readonly trace: WorldTrace;
  readonly api: SimulatedApi;
  readonly fence: FenceWatch;
  readonly bounds = new Bounds();
  readonly #scenario: Scenario;
  readonly #kernel: Kernel;
  readonly #controllers: Controllers;
  readonly #network: Network;
  readonly #inside: Network;
  readonly #rack: Rack;
  readonly disturbances: Disturbances;
  readonly #rest: Rest;
  readonly #guards: Guards;
  readonly #judges: DeviceJudges;
  readonly #ways: WaysOfWorld | undefined;
  readonly #secondaries: SecondariesOfWorld;
  readonly #daemons: DaemonsOfWorld | undefined;
  readonly #dumps: DumpsOfWorld | undefined;
  readonly remedies: RemediesOfWorld;
  /** Nodes that are Ready, as the API server has it. */
  readonly #ready = new Readiness();
  /** The controller process whose request is being answered. */
  #caller = '';
  /** By node. */
  readonly #releases = new Map<string, number>();
  #isHealing = false;

  constructor(scenario: Scenario, kernel: Kernel, program: ControllerProgram) {
    this.#scenario = scenario;
    this.#kernel = kernel;
    const troubled = concerned(scenario);
    this.trace = new WorldTrace(kernel, {
      nodes: scenario.nodes.length,
      power: (node) => this.#powerOf(node),
      isController: (user) => user === CONTROLLER_USER,
      caller: () => this.#caller,
      isSound: (node) => !troubled.has(node),
      nodeOfPod: (key) => this.#ways?.nodeOfPod(key),
    });
    this.fence = new FenceWatch(() => kernel.nowMs);
    this.#guards = new Guards(this.fence);
    this.#judges = new DeviceJudges({
      ...{ scenario, fence: this.fence, guards: this.#guards, secondaries: () => this.#secondaries },
      hostOfProcess: (name) => this.#controllers.hostOfProcess(name),
    });
    const audit = (event: ApiEvent): void => this.#heard(event);
    const deeds = [...scenario.disturbances, ...(scenario.remedies?.deeds ?? [])];
    const isCordonedByTwo = deeds.some((one) => one.what === 'cordon' || (one.what === 'mark' && one.mark === 'cordon'));
    this.api = new SimulatedApi(kernel, scenario.nodes, audit, scenario.clockRates.apiServer, isCordonedByTwo);
    this.#inside = new Network(kernel.random('network inside'), INSIDE);
    const { latencyMs = scenario.api.latencyMs } = scenario.crowd ?? {};
    this.#network = new Network(kernel.random('network'), { ...scenario.api, latencyMs });
    this.#rack = new Rack({
      scenario,
      kernel,
      disk: new MemoryDisk(),
      trace: this.#record,
      insider: (name, user, clockRate) => this.#insider(name, user, clockRate),
      onDevice: this.#deviceAsked.bind(this),
    });
    this.#ways =
      scenario.ways &&
      new WaysOfWorld({
        ...{ kernel, ways: scenario.ways, fence: this.fence, machines: this.machines, devices: this.#rack.devices },
        wallMs: () => WORLD_BEGINS_WALL_MS + kernel.nowMs,
        onDevice: this.#deviceAsked.bind(this),
      });
    this.#secondaries = new SecondariesOfWorld({
      kernel,
      api: this.api,
      nodes: scenario.nodes,
      secondaries: scenario.secondaries,
      hasJumps: scenario.disturbances.some(({ what }) => what === 'clock'),
      drift: scenario.clockRates.kubelets === 1 ? 0 : 2 * DRIFT,
      power: (node) => this.machines.get(node)?.state,
      restoredForMs: (node) => {
        const starting = this.machines.get(node)?.starting;
        return starting?.by === 'restore' ? starting.forMs : undefined;
      },
      fence: this.fence,
      deviceOf: (node) => this.#rack.bmcOf(node),
      isReady: (node) => this.#ready.has(node),
      hardware: new Hardware(kernel, this.#rack, this.#inside),
      trace: this.#record,
      insider: (name, user) => this.#insider(name, user),
    });
    const outside = { kernel, api: this.api, fence: this.fence, trace: this.#record, insider: this.#insider.bind(this) };
    this.remedies = new RemediesOfWorld(scenario, {
      ...outside,
      isReady: (node) => this.#ready.has(node),
      isOpen: (node) => this.#ready.isOpen(node),
    });
    const daemons = this.#daemonsOf(scenario);
    this.#daemons = daemons;
    const dumps = DumpsOfWorld.of(scenario, {
      kernel,
      replicas: [hostOf(0), hostOf(1)],
      record: (event) => this.trace.record(event),
      reboot: (node) => this.machines.get(node)?.reset(),
    });
    this.#dumps = dumps;
    this.#controllers = new Controllers({
      kernel,
      program,
      api: this.api.transportFor(CONTROLLER_USER),
      network: this.#network,
      devices: this.#rack.devices,
      restartAfterMs: scenario.restartAfterMs,
      removeFence: (unheardMs) => this.disturbances.removeFence(unheardMs),
      clockRates: scenario.clockRates.replicas,
      crashes: scenario.crashes,
      hosts: scenario.hosts,
      guards: this.#guards,
      secondaries: scenario.secondaries?.composed,
      hasRemedies: scenario.remedies !== undefined,
      slots: scenario.crowd?.slots,
      nodeDaemons: daemons && ((host, process) => daemons.servedBy(host, process)),
      kdump: dumps && ((host, process) => dumps.heardBy(host, process)),
      ways: this.#ways && ((port) => this.#ways?.agents(port) ?? []),
      isPowered: (node) => this.machines.get(node)?.state === 'on',
      speaking: (process) => {
        this.#caller = process;
      },
      record: (event) => {
        this.trace.record(event);
      },
      log: (line) => {
        kernel.trace(line);
      },
      says: (process, said) => {
        const violation = this.bounds.said(process, said, kernel.nowMs);
        if (violation !== undefined) kernel.fail(violation);
      },
    });
    this.disturbances = new Disturbances({
      kernel,
      scenario,
      api: this.api,
      controllers: this.#controllers,
      network: this.#network,
      inside: this.#inside,
      rack: this.#rack,
      ...{ guards: this.#guards, trace: this.#record },
      leader: () => this.trace.takeOvers.holder,
    });
    this.#rest = new Rest({
      scenario,
      fence: this.fence,
      takeOvers: this.trace.takeOvers,
      readiness: this.#ready,
      isGone: (node) => this.isGone(node),
      isPending: () =>
        this.#rack.isPending ||
        this.#daemons?.isPending === true ||
        this.#dumps?.isPending === true ||
        this.disturbances.isPending ||
        this.#secondaries.isPending ||
        this.openRequests().length > 0,
    });
  }

  get machines(): ReadonlyMap<string, Machine> {
    return this.#rack.machines;
  }

  /** Builds the cluster, without time passing. */
  async begin(): Promise<void> {
    const { nodes, configuration, feed, isMisconfigured, daemons, dumps, ways } = this.#scenario;
    await this.api.install();
    const written = { nodes, configuration, feed, withSecret: !isMisconfigured, never: served(this.#scenario), daemons, dumps, ways };
    await createFenceConfiguration(this.api.admin, written);
    await this.#secondaries.install();
    await this.remedies.install();
    const [process, transport] = this.#insider('cluster-controllers', 'system:kube-controller-manager');
    new ClusterControllers(
      { transport, clock: process.clock, random: process.random, trace: this.#record },
      { ...KUBERNETES_CLUSTER, nodeGraceMs: NODE_GRACE_MS },
    ).start();
    for (const machine of this.machines.values()) machine.powerOn('start');
    this.#controllers.start(0);
    if (this.#scenario.controllers === 2) this.#controllers.start(1);
    // Every node is Ready by then, so that every node gets its share.
    this.#kernel.schedule(WORKLOAD_AT_MS, () => {
      void this.api.createWorkload(this.replicas);
    });
    this.#repeat(BOOKMARK_MS, () => {
      this.api.tick();
    });
    this.#secondaries.start();
    this.remedies.start();
    this.#scheduleFaults();
  }

  /** Pods of the StatefulSet: as many as the nodes, or several times that, so that the failed one has its share. */
  get replicas(): number {
    return this.#scenario.nodes.length * (this.#scenario.ways?.podsPerNode ?? 1);
  }

  /** Every fence has come to rest where it may rest, and nothing more is to be expected. */
  isOver(): boolean {
    return this.#rest.isOver(this.#kernel.nowMs);
  }

  /** Requests to the controllers beside, and remedies, of which more is to be expected, each in words. */
  openRequests(): string[] {
    return [...this.#secondaries.openRequests(), ...this.remedies.open()];
  }

  /** Its Machine has ended, its Node went with it, and its machine is off: none will come. */
  isGone(node: string): boolean {
    return this.#secondaries.hasEnded(node) && this.machines.get(node)?.state === 'off';
  }

  /** Are all nodes that are not this one Ready, as the API server has it? */
  areOthersReady(node: string): boolean {
    return this.#scenario.nodes.every((name) => name === node || this.#ready.has(name));
  }

  /** How many crash points were reached. */
  get struck(): number {
    return this.#controllers.struck;
  }

  /** Calls that the controllers made since the fault. */
  get calls(): number {
    return this.#controllers.calls;
  }

  /** How often the controllers freed something of a node. */
  get releases(): number {
    return [...this.#releases.values()].reduce((sum, count) => sum + count, 0);
  }

  /** How often they freed something of that node. */
  releasesOf(node: string): number {
    return this.#releases.get(node) ?? 0;
  }

  /** How often machines reset themselves. */
  get resets(): number {
    return this.#daemons?.resets ?? 0;
  }

  /** A machine that was reset, or that dumps, has its power on: where its fence rests on its watchdog or its dump it is as good as off while nothing of the workload runs there. */
  #powerOf(node: string): 'on' | 'off' | undefined {
    const machine = this.machines.get(node);
    const proof = this.fence.of(fenceName(node))?.evidence.findLast(({ voidedAt }) => voidedAt === undefined);
    // All that a node may write to is behind paths that are closed.
    if (proof?.kind === 'storage-revoked' && this.#rack.isShutOut(node)) return 'off';
    if (proof?.kind !== 'watchdog' && proof?.kind !== 'kdump') return machine?.state;
    return (machine?.kubelet?.running.length ?? 0) > 0 ? 'on' : 'off';
  }

  #deviceAsked(event: DeviceEvent): void {
    const { nowMs } = this.#kernel;
    this.trace.record(event);
    if (event.session === OPERATOR_USER) return;
    const violation = this.#judges.asked(event, nowMs);
    if (violation !== undefined) this.#kernel.fail(`at ${nowMs.toFixed(0)} ms: ${violation}`);
    this.#healAfterOff(event);
  }

  readonly #record: Trace = (event) => {
    this.trace.record(event);
    if (event.kind === 'power' && event.state === 'off') this.#controllers.powerLost(event.node);
    if (event.kind === 'power' || event.kind === 'node') {
      this.#daemons?.saw(event);
      this.#dumps?.saw(event);
    }
  };

  #heard(event: ApiEvent): void {
    this.trace.record(event);
    this.fence.hear(event);
    const { nowMs } = this.#kernel;
    const letGo = event.user === CONTROLLER_USER && event.status < 300 ? releasedNode(event, (key) => this.#ways?.nodeOfPod(key)) : undefined;
    const violation =
      this.#judges.heard(event, event.user === CONTROLLER_USER ? this.#caller : undefined, nowMs) ??
      this.#ways?.heard(event) ??
      this.bounds.wrote(event, nowMs) ??
      this.#secondaries.hear(event) ??
      this.remedies.hear(event);
    if (violation !== undefined) this.#kernel.fail(`at ${nowMs.toFixed(0)} ms: ${violation}`);
    const isReady = this.#ready.hear(event, nowMs);
    if (isReady !== undefined && event.verb === 'delete') this.#judges.storm.removed(event.name ?? '');
    else if (isReady !== undefined) this.#judges.storm.saw(event.name ?? '', isReady, nowMs);
    if (letGo !== undefined) this.#releases.set(letGo, this.releasesOf(letGo) + 1);
  }

  #scheduleFaults(): void {
    const { fault, victim, faultAtMs, faultsEndMs } = this.#scenario;
    this.#kernel.schedule(faultAtMs, () => {
      this.trace.record({ kind: 'fault', at: 0, fault, node: victim });
      this.#controllers.arm();
      this.#strike();
    });
    this.disturbances.schedule();
    this.#daemons?.schedule();
    this.#dumps?.schedule();
    this.#kernel.schedule(faultsEndMs, () => {
      this.#network.faults = CALM_API;
    });
  }

  /** The node comes back at the worst moment: between an accepted off and its effect. */
  #healAfterOff(event: DeviceEvent): void {
    const { healAfterOffMs, victim } = this.#scenario;
    if (healAfterOffMs === undefined || this.#isHealing || event.node !== victim || event.action !== 'set' || event.want !== 'off') {
      return;
    }
    this.#isHealing = true;
    this.#kernel.schedule(healAfterOffMs, () => {
      this.#kernel.trace(`the network of ${victim} is back while it is switched off`);
      this.machines.get(victim)?.heal();
    });
  }

  #strike(): void {
    const { victim } = this.#scenario;
    const machine = this.machines.get(victim);
    const isEmpty = machine?.kubelet?.running.length === 0 && !this.remedies.hasPositions(victim);
    if (isEmpty) this.#kernel.fail('the world was not ready for its fault: no pod runs on the node that fails');
    strike(this.#kernel, machine, this.#scenario);
  }

  #daemonsOf({ daemons, nodes, clockRates, configuration }: Scenario): DaemonsOfWorld | undefined {
    if (daemons === undefined) return undefined;
    return new DaemonsOfWorld({
      ...{ kernel: this.#kernel, daemons, machines: this.machines, systemUUID: systemUUIDOf, clockRate: clockRates.kubelets },
      hosts: new Map(nodes.map((node) => [node, this.#rack.hostOf(node)])),
      ...{ api: this.api.transportFor(DAEMON_USER), network: this.#network, inside: this.#inside },
      hardware: new Hardware(this.#kernel, this.#rack, this.#inside),
      changeTimes: (times) => changeDaemonTimes(this.api.admin, configuration, { times, isFast: daemons.isFast === true }),
    });
  }

  #insider(name: string, user: string, clockRate = 1): [SimulatedProcess, ApiTransport] {
    const process = this.#kernel.spawn(name, clockRate);
    return [process, new FaultyTransport(this.api.transportFor(user), new Port(process), this.#inside)];
  }

  #repeat(periodMs: number, task: () => void): void {
    this.#kernel.schedule(periodMs, () => {
      task();
      this.#repeat(periodMs, task);
    });
  }
}
