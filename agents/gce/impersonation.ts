import { listAt, member, textAt } from '../shared/web/web-client.ts';
import { refuseUnless200, SCOPE, type Grant, type TokenReach } from './oauth.ts';

/** The token of a service account that the source's identity may act as (IAM Service Account Credentials API v1, `generateAccessToken`). */
export function impersonatedGrant(reach: TokenReach, info: unknown, source: Grant, wrong: (why: string) => Error): Grant {
  const url = textAt(info, 'service_account_impersonation_url');
  if (url === undefined) throw wrong('it has no service_account_impersonation_url');
  const seconds = member(info, 'service_account_impersonation', 'token_lifetime_seconds');
  const delegates = listAt(info, 'delegates').filter((one) => typeof one === 'string');
  const body = JSON.stringify({
    scope: [SCOPE],
    ...(typeof seconds === 'number' ? { lifetime: `${seconds}s` } : {}),
    ...(delegates.length > 0 ? { delegates } : {}),
  });
  return async (call) => {
    const { text: bearer } = await source(call);
    const secrets = [bearer];
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${bearer}` };
    const answer = await reach.web.exchange(call, { method: 'POST', url, body, headers, secrets });
    const asked = `service account ${/serviceAccounts\/([^/:]+):/.exec(url)?.[1] ?? url}`;
    refuseUnless200(reach.clock, call, answer, asked, secrets);
    // The end is told by the cloud's clock, and kept by ours.
    reach.time.hear(answer);
    const [text, end] = [textAt(answer.body, 'accessToken'), Date.parse(textAt(answer.body, 'expireTime') ?? '')];
    if (text === undefined || text === '' || Number.isNaN(end)) throw call.error('Unreachable', `${asked}: no token in its answer`);
    return { text, expiresAtMs: reach.clock.wallMs() + (end - reach.time.nowMs) };
  };
}
