import { randomUUID } from 'node:crypto';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { ACCESS_KEY, awsCloud, volumesOf } from '../../src/testbed/devices/cloud/aws.ts';
import type { CloudService } from '../../src/testbed/devices/cloud/cloud-service.ts';
import type { Configuration } from './configuration.ts';
import type { World } from './world.ts';

export const STORAGE = 'ebs';
export const NAMES = ['a', 'b'] as const;

/** EC2, in front of the machines of a scenario once that has begun. */
export class AwsRegion {
  readonly instances: Readonly<Record<string, { providerID: string; address: string; systemUUID: string }>>;
  #world: World | undefined;
  #service: CloudService | undefined;

  constructor() {
    const of = NAMES.map((node, index) => {
      const systemUUID = randomUUID();
      return [node, { systemUUID, providerID: awsCloud.providerID({ node, uuid: systemUUID }, index), address: `10.9.0.${index + 1}` }] as const;
    });
    this.instances = Object.fromEntries(of);
  }

  async start(): Promise<void> {
    const machines = NAMES.map((node) => {
      const { systemUUID = '', address = '' } = this.instances[node] ?? {};
      const machine = (): ReturnType<World['machine']> => this.world.machine(node);
      return {
        ...{ node, uuid: systemUUID, address },
        power: {
          state: () => machine().state,
          on: (cause: 'set' | 'restore' | 'start') => machine().powerOn(cause),
          off: (cause: 'set' | 'restore' | 'start') => machine().powerOff(cause),
        },
        onEvent: (event: { action: 'read'; shown: 'on' | 'off' | 'pending' } | { action: 'set'; want: 'on' | 'off' }) => this.#record(node, event),
      };
    });
    this.#service = await awsCloud.start({ host: '127.0.0.1', machines, clock: new SystemClock(), random: new SystemRandom() });
    volumesOf(this.#service).onEvent = ({ instance, ...event }) => {
      const node = this.service.instances.find(({ id }) => id === instance)?.machine.node ?? '';
      this.#record(node, event, STORAGE);
    };
  }

  get service(): CloudService {
    if (this.#service === undefined) throw new Error('the region was not started');
    return this.#service;
  }

  get world(): World {
    if (this.#world === undefined) throw new Error('no scenario has begun');
    return this.#world;
  }

  idOf(node: string): string {
    return this.service.instances.find(({ machine }) => machine.node === node)?.id ?? '';
  }

  /** From here on it stands in front of this world. Its key is in the Secret `aws`. */
  begin(files: Configuration, world: World): void {
    this.#world = world;
    files.writeSecret('aws', { access_key: ACCESS_KEY, secret_key: this.service.variables['AWS_SECRET_ACCESS_KEY'] ?? '' });
  }

  /** What every method of the node says. */
  common(node: string): Record<string, string> {
    return { region: 'eu-central-1', endpoint: this.service.url, plug: this.idOf(node), secret: 'aws', device_max_latency: '1s' };
  }

  #record(node: string, event: { action: 'read'; shown: 'on' | 'off' | 'pending' } | { action: 'set'; want: 'on' | 'off' }, storage?: string): void {
    const at = this.world.clock.wallMs();
    const device = `aws eu-central-1 ${new URL(this.service.url).host}`;
    const place = { device, plug: this.idOf(node), node, session: '', ...(storage === undefined ? {} : { storage }) };
    if (event.action === 'read' && storage === undefined)
      this.world.witness.record({ kind: 'device', at, ...place, action: 'identity', answer: this.idOf(node) });
    this.world.witness.record({ kind: 'device', at, ...place, ...event, answer: event.action === 'read' ? event.shown : 'accepted' });
  }
}
