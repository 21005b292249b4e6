import type { RefusedWrites } from '../../controllers/self-check/refused-writes.ts';
import { ApiClient } from '../../kube/client.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { PatchOptions, Resource, WriteOptions } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';

/** The client of the controllers: a status that the server refuses is told. */
export class ReportingClient extends ApiClient {
  readonly #told: () => RefusedWrites;

  constructor(transport: ApiTransport, told: () => RefusedWrites) {
    super({ transport });
    this.#told = told;
  }

  override replaceStatus<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#told().follow(resource, object, super.replaceStatus(resource, object, options));
  }

  override mergePatch<T extends KubeObject>(resource: Resource<T>, name: string, patch: object, options: PatchOptions = {}): Promise<T> {
    const write = super.mergePatch(resource, name, patch, options);
    const { namespace, subresource } = options;
    if (subresource !== 'status') return write;
    return this.#told().follow(resource, { metadata: { name, ...(namespace !== undefined && { namespace }) } }, write);
  }
}
