import type { StandingCondition } from '../../domain/node-daemon/conditions.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { NodeConditions, PostedCondition } from '../../ports/node-conditions.ts';
import type { Node } from '../../ports/objects.ts';

/** The name by which `kubectl get --show-managed-fields` tells who wrote them. */
const MANAGER = 'nodefence-node';
const CONDITIONS_MAX = 100;

/** The conditions of one Node, by the right to patch its status alone: a patch that says nothing is how it is read. */
export class OwnNodeConditions implements NodeConditions {
  readonly #transport: Pick<ApiTransport, 'request'>;
  readonly #path: string;
  readonly #deadlineMs: number;

  constructor(transport: Pick<ApiTransport, 'request'>, node: string, deadlineMs: number) {
    this.#transport = transport;
    this.#path = `/api/v1/nodes/${encodeURIComponent(node)}/status`;
    this.#deadlineMs = deadlineMs;
  }

  async standing(): Promise<StandingCondition[]> {
    const { status } = (await this.#patch({})) as Node;
    return (status.conditions ?? []).slice(0, CONDITIONS_MAX).map(({ type, status: value, reason, lastHeartbeatTime, lastTransitionTime }) => ({
      type,
      status: value,
      ...(lastHeartbeatTime === undefined ? {} : { lastHeartbeatTime: lastHeartbeatTime }),
      ...(lastTransitionTime === undefined ? {} : { lastTransitionTime: lastTransitionTime }),
      ...(reason === undefined ? {} : { reason }),
    }));
  }

  async post(conditions: readonly PostedCondition[]): Promise<void> {
    await this.#patch({ status: { conditions } });
  }

  /** A strategic merge patch: of a list it changes the entries that it names. */
  async #patch(body: object): Promise<unknown> {
    const response = await this.#transport.request({
      method: 'PATCH',
      path: this.#path,
      query: { fieldManager: MANAGER },
      contentType: 'application/strategic-merge-patch+json',
      body,
      deadlineMs: this.#deadlineMs,
    });
    if (response.status === 200) return response.body;
    const { message, reason } = response.body as { message?: string; reason?: string };
    const hint = response.status === 403 ? ' (is config/node-daemon-conditions installed?)' : '';
    throw new ApiStatusError(response.status, reason ?? '', `${message ?? `HTTP ${response.status}`}${hint}`);
  }
}
