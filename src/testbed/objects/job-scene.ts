import { ObjectWorld } from './object-world.ts';
import type { Reach } from './object-world.ts';
import type { Target } from '../../ports/agents.ts';
import { CONFIG_MAPS, SECRETS } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FakeJobController } from './fake-job-controller.ts';
import type { ProgramEnd, ProgramRun } from './fake-job-controller.ts';

export const NAMESPACE = 'fence';
export const PASSWORD = 'open-sesame';
export const TEMPLATE = `
metadata: { labels: { team: metal } }
spec:
  containers:
    - name: fence
      image: registry.example.org/fence:1
      command: [sh, -c, 'fence_pdu < /run/nodefence/call/arguments']
`;

const STEP_MS = 100;
const STEPS_MAX = 1_000;

/** A cluster with a pod template, a Secret, and a device that the template's program switches. */
export class JobScene {
  readonly clock = new ManualClock();
  readonly world: ObjectWorld;
  readonly jobController: FakeJobController;
  /** What the device's outlets do. */
  readonly outlets = new Map<string, 'on' | 'off'>([['3', 'on']]);
  program: (run: ProgramRun) => ProgramEnd = (run) => this.honest(run);

  private constructor(clock: ManualClock, world: ObjectWorld) {
    this.clock = clock;
    this.world = world;
    this.jobController = new FakeJobController(world, NAMESPACE, (run) => this.program(run));
  }

  static async open(reach: Reach, template = TEMPLATE): Promise<JobScene> {
    const clock = new ManualClock();
    const world = await ObjectWorld.with(clock, [], NAMESPACE, reach);
    await world.cluster.create(CONFIG_MAPS, { metadata: { name: 'jobs', namespace: NAMESPACE }, data: { pdu: template } });
    const data = { password: Buffer.from(`${PASSWORD}\n`).toString('base64') };
    await world.cluster.create(SECRETS, { metadata: { name: 'pdu-secret', namespace: NAMESPACE }, data });
    return new JobScene(clock, world);
  }

  honest({ arguments: { action, plug = '' } }: ProgramRun): ProgramEnd {
    if (action === 'on' || action === 'off') return { code: 0, log: 'Success: done\n', afterMs: 300, work: () => this.outlets.set(plug, action) };
    const state = this.outlets.get(plug);
    return { code: state === 'on' ? 0 : 2, log: `Status: ${state === 'on' ? 'ON' : 'OFF'}\n`, afterMs: 300 };
  }

  target(change: Partial<Target> = {}): Target {
    return {
      plug: '3',
      device: '192.0.2.30',
      parameters: { pod_template: 'jobs/pdu', ip: '192.0.2.30', options: 'snmp_version=3' },
      identity: { node: 'worker-1' },
      signal: new AbortController().signal,
      deadlineMs: 8_000,
      intent: 'outlet-off-0b5c7cf2-3d3a-4d55-9d0e-0c6f5d5fbe1a',
      secret: 'pdu-secret',
      beforeSend: () => undefined,
      ...change,
    };
  }

  /** Lets the cluster work, and time pass, until the promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    const settled = { yet: false };
    const end = promise.finally(() => {
      settled.yet = true;
    });
    end.catch(() => undefined);
    for (let step = 0; step < STEPS_MAX && !settled.yet; step += 1) await this.step();
    return end;
  }

  async step(): Promise<void> {
    await this.jobController.step();
    await this.clock.advance(STEP_MS);
  }
}
