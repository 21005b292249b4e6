import { Verdict } from './law.ts';
import type { Law } from './law.ts';

/** P9, no secret leaves: not in what the controllers write to the API, nor in their logs, command lines and environments. */
export const noSecretLeaves: Law = (history, expectations) => {
  const verdict = new Verdict();
  const needles = expectations.secrets.filter((secret) => secret !== '').flatMap((secret) => [secret, jsonText(secret), base64(secret)]);
  if (needles.length === 0) return verdict;
  const isClean = (text: string): boolean => !needles.some((needle) => text.includes(needle));
  for (const { event } of history.controllerCalls) {
    if (event.request === undefined && (event.object === undefined || event.resource === 'secrets')) continue;
    const text = JSON.stringify([event.request, event.resource === 'secrets' ? undefined : event.object]);
    verdict.check(isClean(text), event.at, `a secret stands in a ${event.verb} of ${event.resource} ${event.name ?? ''}`);
  }
  for (const [name, text] of Object.entries(expectations.texts)) verdict.check(isClean(text), 0, `a secret stands in ${name}`);
  return verdict;
};

/** As it stands inside JSON. */
function jsonText(secret: string): string {
  return JSON.stringify(secret).slice(1, -1);
}

function base64(secret: string): string {
  return Buffer.from(secret).toString('base64');
}
