import type { Parameters } from '../../src/ports/agents.ts';
import type { CloudAccount } from '../shared/cloud/instance.ts';
import type { Cloud, Reach } from '../shared/cloud/instance-agent.ts';
import { CloudTime } from '../shared/cloud/clock-skew.ts';
import { WebClient } from '../shared/web/web-client.ts';
import { GceAccount } from './account.ts';
import { ComputeApi } from './compute-api.ts';
import { Credentials } from './credentials.ts';
import { COMPUTE, computeBase } from './endpoints.ts';
import { Memory } from './memory.ts';
import { settingsOf, type GceSettings } from './settings.ts';

/** Instances that fail together are asked side by side. */
const SOCKETS_MAX = 8;
/** It answers within milliseconds where there is one. */
const METADATA_CONNECT_MS = 1_000;
/** As gcloud takes it from the environment. */
const OVERRIDE = 'CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE';

/** Google Compute Engine. */
export class Gce implements Cloud<GceSettings> {
  // Of instances, not of accounts: it outlives connections that were idle.
  readonly #memory = new Memory();
  readonly isPublic = true;

  settingsOf(parameters: Parameters): GceSettings | { problems: readonly string[] } {
    return settingsOf(parameters);
  }

  open({ serviceaccount, endpoint, trust }: GceSettings, { clock, host, check }: Reach): CloudAccount {
    const time = new CloudTime(clock);
    const web = new WebClient(trust, { clock, check }, SOCKETS_MAX);
    // A pinned certificate is that of the API's endpoint; the others have their own.
    const tokenWeb = new WebClient({ ...trust, fingerprint: undefined }, { clock, check });
    const metadataWeb = new WebClient({ ...trust, connectTimeoutMs: Math.min(trust.connectTimeoutMs, METADATA_CONNECT_MS) }, { clock });
    const credentials = new Credentials(
      { tokens: { web: tokenWeb, clock, time }, metadata: { web: metadataWeb, clock, time }, host },
      serviceaccount,
    );
    const base = computeBase(endpoint ?? host.variable(OVERRIDE) ?? COMPUTE);
    return new GceAccount(new ComputeApi({ base, web, credentials, clock, time }), this.#memory, () => {
      for (const each of [web, tokenWeb, metadataWeb]) each.close();
    });
  }
}
