import { randomUUID } from 'node:crypto';
import { Agent } from 'node:https';
import { serveHttps } from '../../src/testbed/apiserver/http-shell.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { httpsTarget } from './https-target.ts';
import type { RunningServer } from './running-server.ts';

/** What it agrees with. */
export const EMBEDDED_MINOR = 36;

/** Starts the embedded API server. No controllers: the cases are about the server alone. */
export async function startEmbeddedServer(): Promise<RunningServer> {
  const agent = new Agent({ keepAlive: true });
  const tokens = { admin: randomUUID(), stranger: randomUUID(), nobody: randomUUID() };
  const monotonicMs = (): number => performance.now();
  const server = new ApiServer({
    clock: { monotonicMs, bootMs: monotonicMs, wallMs: () => Date.now(), after: () => () => undefined, sleep: () => Promise.resolve() },
    random: { next: Math.random, uuid: randomUUID },
    users: [
      { name: 'admin', groups: ['system:masters'], token: tokens.admin },
      { name: 'stranger', groups: [], token: tokens.stranger },
    ],
    authorization: 'rbac',
    tracksManagers: true,
  });
  const shell = await serveHttps({ server });
  const { url, caPem } = shell;
  const compact = (): Promise<void> => {
    server.compact();
    return Promise.resolve();
  };
  return {
    target: httpsTarget({ url, ca: caPem, agent, tokens, compact }),
    minor: EMBEDDED_MINOR,
    url,
    caPem,
    adminToken: tokens.admin,
    async stop() {
      agent.destroy();
      await shell.close();
    },
  };
}
