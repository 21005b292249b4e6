import { job } from '../../agents/job/definition.ts';
import { FakeJobController } from '../../src/testbed/objects/fake-job-controller.ts';
import type { ProgramEnd, ProgramRun } from '../../src/testbed/objects/fake-job-controller.ts';
import { ObjectWorld } from '../../src/testbed/objects/object-world.ts';
import { CONFIG_MAPS } from '../../src/ports/resources.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { testFaultProfile } from './harness.ts';
import { everyMoment } from './object-faults.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';
import { reach } from '../reach.ts';

const NAMESPACE = 'fence';
const TEMPLATE = 'spec: { containers: [{ name: fence, image: fence }] }';
const SLOW_MS = 2_000;
const ACTS_MS = 8_000;
const LATE_MS = 6_000;
const FLIPS_MS = 500;
const clock = new SystemClock();

/** What the program says to every action instead of an answer. */
const SAID: Readonly<Partial<Record<Behaviour, ProgramEnd>>> = {
  'wrong-credentials': { code: 1, log: 'Unable to connect/login: 401 Unauthorized\n' },
  'wrong-certificate': { code: 1, log: 'self-signed certificate in certificate chain\n' },
  unreachable: { code: 1, log: 'connect to 192.0.2.30: Connection refused\n' },
  'hangs-mid-answer': { code: 0, log: 'Status: ON\n', afterMs: 600_000 },
  garbage: { code: 2, log: '\u0000\u0001@@@\n' },
  truncated: { code: 2, log: 'Status: OF' },
  'state-unknown': { code: 2, log: 'Status: UNKNOWN\n' },
  'state-null': { code: 2, log: '' },
};

/** Outlets, and the program of an admin that switches them. */
class Outlets {
  readonly states = new Map<string, boolean>();
  readonly #behaviour: Behaviour;
  readonly #timers = new Set<() => void>();

  constructor(behaviour: Behaviour, plugs: readonly string[], isOn: boolean) {
    this.#behaviour = behaviour;
    for (const plug of plugs) this.states.set(plug, isOn);
  }

  run({ arguments: { action, plug = '' } }: ProgramRun): ProgramEnd {
    const behaviour = this.#behaviour;
    const said = SAID[behaviour];
    if (said !== undefined) return said;
    const afterMs = behaviour === 'slow' ? SLOW_MS : 0;
    if (action === 'status')
      return this.states.get(plug) === true ? { code: 0, log: 'Status: ON\n', afterMs } : { code: 2, log: 'Status: OFF\n', afterMs };
    if (behaviour === 'refuses') return { code: 1, log: 'the account lacks the privilege to switch outlets\n' };
    const isDeaf = behaviour === 'accepts-and-lies' || (behaviour === 'one-plug-stuck' && plug === '2');
    const isOn = action === 'on';
    // The command has left by then: nobody who kills the program can take it back.
    if (!isDeaf) this.#later(behaviour === 'slow' ? ACTS_MS : behaviour === 'late-after-deadline' ? LATE_MS : 0, () => this.#switched(plug, isOn));
    return { code: 0, log: 'Success\n', afterMs: behaviour === 'late-after-deadline' ? LATE_MS : afterMs };
  }

  close(): void {
    for (const cancel of this.#timers) cancel();
  }

  #switched(plug: string, isOn: boolean): void {
    this.states.set(plug, isOn);
    if (!isOn && this.#behaviour === 'flips-back-on') this.#later(FLIPS_MS, () => this.states.set(plug, true));
  }

  #later(delayMs: number, work: () => void): void {
    if (delayMs === 0) work();
    else this.#timers.add(clock.after(delayMs, work));
  }
}

async function spawn(behaviour: Behaviour, isOn: boolean): Promise<DeviceFixture> {
  const world = await ObjectWorld.with(clock, [], NAMESPACE, reach);
  await world.cluster.create(CONFIG_MAPS, { metadata: { name: 'jobs', namespace: NAMESPACE }, data: { pdu: TEMPLATE } });
  const plugs = behaviour === 'one-plug-stuck' ? ['1', '2'] : ['1'];
  const outlets = new Outlets(behaviour, plugs, isOn);
  const jobController = new FakeJobController(world, NAMESPACE, (run) => outlets.run(run));
  const stop = everyMoment(() => jobController.step());
  if (behaviour === 'rate-limited') world.fault = { rateLimited: 4 };
  return {
    parameters: { pod_template: 'jobs/pdu', ip: '192.0.2.30' },
    plugs,
    identity: { node: 'worker-1' },
    context: { cluster: world.seen, namespace: NAMESPACE },
    flows: (plug) => outlets.states.get(plug) === true,
    commands: () =>
      jobController.runs.flatMap(({ arguments: { action, plug = '' } }) => (action === 'on' || action === 'off' ? [{ plug, wanted: action }] : [])),
    leftOpen: () => ({ sessions: 0, connections: 0, processes: jobController.open }),
    close: async () => {
      await stop();
      outlets.close();
    },
  };
}

testFaultProfile({
  agent: job,
  cannot: {
    restarts: 'a Job is an object that outlives a restart of whoever runs it',
    'state-pending': 'the words of ClusterLabs know no state between on and off',
    'wrong-machine': 'a Job does not show whose machine it switches, which every reading says',
    'session-limit': 'each Job is a session of its own, and ends it',
  },
  words: {
    'accepts-and-lies': /Status: O(?:N|FF); Job nf-\S+: exit code 0: Success/u,
    refuses: /exit code 1: the account lacks the privilege/u,
    'wrong-credentials': /exit code 1: Unable to connect\/login: 401 Unauthorized/u,
    'wrong-certificate': /exit code 1: self-signed certificate/u,
    unreachable: /exit code 1: connect to 192\.0\.2\.30: Connection refused/u,
    'hangs-mid-answer': /pod nf-\S+ on worker-2: Running; it was not done in time/u,
    garbage: /exit code 2: \?\?@@@/u,
    truncated: /exit code 2: Status: OF\b/u,
    'state-unknown': /exit code 2: Status: UNKNOWN/u,
    'state-null': /exit code 2/u,
    'flips-back-on': /Status: ON/u,
    'one-plug-stuck': /method-2: Status: O(?:N|FF)/u,
    'rate-limited': /429 TooManyRequests/u,
    'late-after-deadline': /Status: O|may still act/u,
    slow: /not done in time/u,
  },
  spawn,
});
