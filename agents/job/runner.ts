import type { AgentContext, Target } from '../../src/ports/agents.ts';
import { CONFIG_MAPS, SECRETS } from '../../src/ports/resources.ts';
import { ConnectedClusters } from '../shared/cluster/connected-clusters.ts';
import { ObjectCall } from '../shared/cluster/object-call.ts';
import { parsed } from '../shared/parameter-schema.ts';
import { templateOf } from './job-spec.ts';
import { JOBS } from '../../src/ports/batch.ts';
import type { PodTemplate } from '../../src/ports/batch.ts';
import { jobParameters } from './parameters.ts';
import { JobSession } from './session.ts';

/** A deletion that fails, or comes before what it is to delete; after that the Job's own deadline has to do. */
const DELETIONS_MAX = 3;
const DELETE_AGAIN_MS = 1_000;

/** Opens a session of Jobs for each call, and deletes behind them. */
export class JobRunner {
  readonly #context: AgentContext;
  readonly #clusters: ConnectedClusters;
  readonly #deletions = new Set<Promise<void>>();

  constructor(context: AgentContext) {
    this.#context = context;
    this.#clusters = new ConnectedClusters(context);
  }

  get clock(): AgentContext['clock'] {
    return this.#context.clock;
  }

  /** A call that changes nothing at the device: its Jobs need no permission of the lease. */
  read<T>(target: Target, asked: string, work: (session: JobSession) => Promise<T>): Promise<T> {
    return this.change({ ...target, beforeSend: () => undefined }, asked, work);
  }

  change<T>(asking: Target, asked: string, work: (session: JobSession) => Promise<T>): Promise<T> {
    let hasSent = false;
    const beforeSend = (): void => {
      asking.beforeSend();
      hasSent = true;
    };
    const target: Target = { ...asking, beforeSend };
    return ObjectCall.run(this.#clusters, this.#context.clock, target, { asked, kubeconfig: undefined }, async (call) => {
      const result = parsed(jobParameters, target.parameters);
      if (!result.success)
        throw call.error('Misconfigured', result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
      if (/\p{Cc}/u.test(target.plug)) throw call.error('Misconfigured', 'plug must be one line');
      const { namespace } = this.#context;
      if (namespace === undefined) throw call.error('Misconfigured', 'there is no namespace here in which a Job could run');
      const [template, secrets] = await Promise.all([readTemplate(call, namespace, result.data.pod_template), readSecret(call, namespace)]);
      const forget = (name: string, isSure: boolean): void => this.#forget(namespace, name, isSure);
      return work(new JobSession(call, { namespace, parameters: result.data, template, secrets, forget, hasSent: () => hasSent }));
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#deletions);
    await this.#clusters.close();
  }

  /** Without asking the lease: it takes a command back, and gives none. */
  #forget(namespace: string, name: string, isSure: boolean): void {
    const deletion = this.#delete(namespace, name, isSure).finally(() => this.#deletions.delete(deletion));
    this.#deletions.add(deletion);
  }

  async #delete(namespace: string, name: string, isSure: boolean): Promise<void> {
    const { cluster, clock } = this.#context;
    for (let attempt = 1; attempt <= DELETIONS_MAX; attempt += 1) {
      const [end] = await Promise.allSettled([cluster.remove(JOBS, name, { namespace, propagationPolicy: 'Background' })]);
      // One whose creation was not answered may come yet.
      if (end.status === 'fulfilled' && (end.value || isSure)) return;
      if (attempt < DELETIONS_MAX) await clock.sleep(DELETE_AGAIN_MS);
    }
  }
}

/** By a list of one: ConfigMaps are watched in our namespace, and that right is enough. */
async function readTemplate(call: ObjectCall, namespace: string, place: string): Promise<PodTemplate> {
  const [name = '', key = ''] = place.split('/');
  const [configMap] = await call.list(CONFIG_MAPS, { namespace, fieldSelector: `metadata.name=${name}` });
  const text = configMap?.data?.[key];
  if (text === undefined)
    throw call.error(
      'Misconfigured',
      `pod_template: ConfigMap ${name} in ${namespace} ${configMap === undefined ? 'does not exist' : `has no key ${key}`}`,
    );
  try {
    return templateOf(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // What follows the first line quotes the template.
    throw call.error('Misconfigured', `pod template ${place}: ${message.split('\n')[0] ?? ''}`);
  }
}

/** Its values, to keep them out of what is told. A pod whose Secret is missing would wait for ever. */
async function readSecret(call: ObjectCall, namespace: string): Promise<string[]> {
  const { secret } = call.target;
  if (secret === undefined) return [];
  const found = await call.get(SECRETS, secret, namespace);
  if (found === undefined) throw call.error('Misconfigured', `Secret ${secret} does not exist in ${namespace}`);
  return Object.values(found.data ?? {}).map((value) => Buffer.from(value, 'base64').toString());
}
