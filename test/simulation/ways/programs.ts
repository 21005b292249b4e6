import { AgentError } from '../../../src/ports/agents.ts';
import type { ActionAgent, AgentDefinition, AgentErrorKind, Outcome, Target } from '../../../src/ports/agents.ts';
import type { DeviceEvent } from '../../../src/laws/trace.ts';
import type { Machine } from '../../../src/testbed/cluster/machine.ts';
import type { Kernel } from '../../../src/testbed/simulation/kernel.ts';
import type { Port } from '../../../src/testbed/simulation/port.ts';
import type { Program } from './ways.ts';

const ONE_WAY_MS = 5;

export interface ProgramsOptions {
  kernel: Kernel;
  machines: ReadonlyMap<string, Machine>;
  program: Program;
  /** `intent`: in whose name it was begun. */
  onRun: (event: DeviceEvent, intent: string) => void;
}

/** What an administrator has put on the machines, to be started over SSH: a kernel that stands still, or a machine that is off, starts nothing. */
export class Programs {
  readonly #options: ProgramsOptions;
  /** Nodes on which it has been carried through. */
  readonly #done = new Set<string>();

  constructor(options: ProgramsOptions) {
    this.#options = options;
  }

  isReachable(node: string): boolean {
    const machine = this.#options.machines.get(node);
    return machine?.state === 'on' && machine.kubelet !== undefined;
  }

  get takesMs(): number {
    return this.#options.program.takesMs;
  }

  begin(node: string, session: string, intent: string): Promise<'0' | '1' | undefined> {
    const { kernel, machines, program, onRun } = this.#options;
    if (!this.isReachable(node)) return Promise.resolve(undefined);
    onRun({ kind: 'device', at: 0, device: addressOf(node), plug: '', node, action: 'run', answer: 'begun', session }, intent);
    const { deed, word } = program;
    const begunIn = machines.get(node)?.bootID;
    return new Promise((resolve) => {
      kernel.schedule(program.takesMs, () => {
        const machine = machines.get(node);
        // A machine that was reset meanwhile has forgotten it.
        if (!this.isReachable(node) || machine?.bootID !== begunIn) {
          resolve(undefined);
          return;
        }
        kernel.trace(`the program on ${node} ${deed}`);
        if (deed !== 'nothing') this.#done.add(node);
        if (deed === 'mends') machine?.ail(false);
        if (deed === 'reboots') machine?.reset();
        const code = word === 'done' || (word === 'truth' && deed !== 'nothing') ? '0' : '1';
        resolve(word === 'silent' ? undefined : code);
      });
    });
  }

  stands(node: string): boolean | undefined {
    return this.isReachable(node) ? this.#options.program.word === 'done' || this.#done.has(node) : undefined;
  }
}

/** `undefined`, and nothing else, is silence. */
class SimulatedProgramAgent implements ActionAgent {
  readonly kind = 'action';
  readonly #programs: Programs;
  readonly #port: Port;

  constructor(programs: Programs, port: Port) {
    this.#programs = programs;
    this.#port = port;
  }

  async run(target: Target): Promise<Outcome> {
    const node = nodeOf(target);
    // Connected and logged in first, as any SSH is.
    await this.#exchange(target, 'login', ['device'], () => (this.#programs.isReachable(node) ? true : undefined));
    target.beforeSend();
    const code = await this.#exchange(target, 'run', ['device', 'device-set'], () =>
      this.#programs.begin(node, this.#port.process.name, target.intent ?? ''),
    );
    if (code !== '0') throw failure(target, 'Refused', `exit code ${code}`);
    return { result: 'accepted', detail: 'exit code 0' };
  }

  confirm(target: Target): Promise<boolean> {
    return this.#exchange(target, 'confirm', ['device', 'device-read'], () => this.#programs.stands(nodeOf(target)));
  }

  #exchange<T>(target: Target, what: string, tags: readonly string[], effect: () => T | undefined | Promise<T | undefined>): Promise<T> {
    const { clock } = this.#port.process;
    if (target.signal.aborted) return Promise.reject(failure(target, 'NotSent', 'the call was given up before this request'));
    const answer = this.#port.call({
      label: `${what} ${target.device}`,
      tags,
      requestMs: ONE_WAY_MS,
      answerMs: ONE_WAY_MS,
      effect: async () => (await effect()) ?? new Promise<never>(() => undefined),
    });
    return new Promise<T>((resolve, reject) => {
      const giveUp = (): void => reject(failure(target, 'Timeout', 'no answer in time'));
      const cancel = clock.after(target.deadlineMs, giveUp);
      target.signal.addEventListener('abort', giveUp, { once: true });
      answer.then(resolve, reject).finally(() => {
        cancel();
        target.signal.removeEventListener('abort', giveUp);
      });
    });
  }
}

/** The registry's entry `sim-ssh`. `address` is that of the node's own machine. */
export function programDefinition(programs: Programs, port: Port): AgentDefinition {
  return {
    name: 'sim-ssh',
    aliases: [],
    kind: 'action',
    actions: ['run'],
    deviceMaxLatencyMs: 0,
    deviceKey: (parameters) => parameters['address'] ?? '',
    describe: () => [{ name: 'address', required: true, secret: false, description: 'Machine of a simulated node.' }],
    check: () => [],
    create: () => Promise.resolve(new SimulatedProgramAgent(programs, port)),
  };
}

export function addressOf(node: string): string {
  return `ssh-${node}`;
}

function nodeOf({ parameters }: Target): string {
  return (parameters['address'] ?? '').replace(/^ssh-/, '');
}

function failure({ device, plug }: Target, kind: AgentErrorKind, answered: string): AgentError {
  return new AgentError(kind, { device, plug, asked: 'run', answered });
}
