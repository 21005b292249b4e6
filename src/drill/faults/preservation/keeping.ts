import { PRESERVE } from '../../../controllers/preservation/names.ts';
import { MACHINE_DEPLOYMENTS } from '../../../ports/machines.ts';
import type { Machine } from '../../../ports/machines.ts';
import type { Node } from '../../../ports/objects.ts';
import { CONFIG_MAPS, NODES } from '../../../ports/resources.ts';
import { deploymentName, FLEET_NAMESPACE, machineName } from '../../../testbed/operators/fleet.ts';
import { firstAnswer } from '../../run/pause.ts';
import { programPath } from '../../../testbed/shipped/program.ts';
import { FENCE_NAMESPACE, poolConfiguration } from '../../run/scene-configuration.ts';
import { diagnose } from '../illness.ts';
import type { ScenePool } from '../scenes.ts';
import type { FaultStage } from '../script.ts';
import { shownPhase } from './kept-findings.ts';

const POLL_MS = 50;

/** What the faults of preservation do, and look at. What is not as it must be is collected in `problems`. */
export class Keeping {
  readonly problems: string[] = [];
  readonly #stage: FaultStage;
  #runs = 0;

  constructor(stage: FaultStage) {
    this.#stage = stage;
  }

  machine(node: string): Machine | undefined {
    return this.#stage.watcher.machines?.get(`${FLEET_NAMESPACE}/${machineName(node)}`);
  }

  /** `Failed:Preserved`; `gone` without a Machine. */
  shown(node: string): string {
    return shownPhase(this.machine(node));
  }

  zoneOf(node: string): string {
    return this.#stage.session.fleet.find((member) => member.node === node)?.zone ?? '';
  }

  /** The other nodes of its zone, the oldest Machine first. */
  neighbours(node: string): string[] {
    const zone = this.zoneOf(node);
    return this.#stage.session.fleet.filter((member) => member.zone === zone && member.node !== node).map((member) => member.node);
  }

  node(name: string): Promise<Node | undefined> {
    return this.#stage.session.cluster.get(NODES, name);
  }

  /** Waits for it; a problem when it does not come. Resolves with whether it came. */
  async expect(what: string, deadlineMs: number, ask: () => boolean | Promise<boolean>): Promise<boolean> {
    const found = await firstAnswer(async () => ((await ask()) ? true : undefined), deadlineMs, POLL_MS);
    if (found === undefined) this.problems.push(`after ${deadlineMs / 1000} s still not: ${what}`);
    return found === true;
  }

  async untilShown(node: string, phase: string, deadlineMs: number): Promise<boolean> {
    const hasCome = await this.expect(`Machine of ${node} ${phase}`, deadlineMs, () => this.shown(node) === phase);
    if (!hasCome) this.problems.push(`the Machine of ${node} is ${this.shown(node)}`);
    return hasCome;
  }

  /** `nodefence preserve <node> <words>`, as an operator types it. */
  async preserve(node: string, ...words: string[]): Promise<void> {
    const { session } = this.#stage;
    this.#runs += 1;
    const typed = ['preserve', node, ...words];
    const command = [process.execPath, programPath('main'), ...typed, '--kubeconfig', session.kubeconfig('operator')];
    const { child } = await session.processes.start(`preserve-${this.#runs}`, command, false);
    await child.end();
    if (child.exitCode !== 0) throw new Error(`nodefence ${typed.join(' ')} ended with ${child.exitCode ?? 'a signal'}: ${child.log().trim()}`);
    this.#stage.tell(`an operator: nodefence ${typed.join(' ')}`);
  }

  /** What the node problem detector says of its kernel; the kubelet goes on, and the node stays Ready. */
  ill(node: string, isIll: boolean): Promise<void> {
    return diagnose(this.#stage, node, isIll);
  }

  /** As somebody edits the ConfigMap of the pools. */
  async pool(pool: ScenePool, changes: Partial<ScenePool>): Promise<void> {
    const { data = {} } = poolConfiguration({ ...pool, ...changes });
    await this.#stage.session.cluster.mergePatch(CONFIG_MAPS, 'preservation-pools', { data }, { namespace: FENCE_NAMESPACE });
  }

  async scale(zone: string, replicas: number): Promise<void> {
    await this.#stage.session.cluster.mergePatch(MACHINE_DEPLOYMENTS, deploymentName(zone), { spec: { replicas } }, { namespace: FLEET_NAMESPACE });
    this.#stage.tell(`MachineDeployment ${deploymentName(zone)} is scaled to ${replicas}`);
  }

  async cordon(node: string): Promise<void> {
    await this.#stage.session.cluster.mergePatch(NODES, node, { spec: { unschedulable: true } });
  }

  /** The condition `Preserved`: `True Preserved by user. Machine preserved until ...`; empty without one. */
  async condition(node: string): Promise<string> {
    const { status, reason = '', message = '' } = (await this.node(node))?.status.conditions?.find(({ type }) => type === 'Preserved') ?? {};
    return status === undefined ? '' : `${status} ${reason} ${message}`.trim();
  }

  /** What its preserve annotations say, on Node and Machine. */
  async values(node: string): Promise<string[]> {
    const marks = [(await this.node(node))?.metadata.annotations, this.machine(node)?.metadata.annotations];
    return marks.flatMap((annotations) => annotations?.[PRESERVE] ?? []);
  }
}
