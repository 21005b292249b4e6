import { Verdict } from './law.ts';
import type { Law } from './law.ts';

/** P9, no secret leaves: not in what the controllers write to the API, nor in their logs, command lines and environments. */
export const noSecretLeaves: Law = (history, expectations) => {
  const verdict = new Verdict();
  const needles = expectations.secrets.filter((secret) => secret !== '').flatMap((secret) => [secret, jsonText(secret), base64(secret)]);
  if (needles.length === 0) return verdict;
  const isClean = (text: string): boolean => !needles.some((needle) => text.includes(needle));
  const isCleanThrough = cleanThrough(isClean);
  for (const { event } of history.controllerCalls) {
    if (event.request === undefined && (event.object === undefined || event.resource === 'secrets')) continue;
    const holds = isCleanThrough(event.request) && (event.resource === 'secrets' || isCleanThrough(event.object));
    verdict.check(holds, event.at, `a secret is in a ${event.verb} of ${event.resource} ${event.name ?? ''}`);
  }
  for (const [name, text] of Object.entries(expectations.texts)) verdict.check(isClean(text), 0, `a secret is in ${name}`);
  return verdict;
};

/** Looks at every text and name of a value; frozen parts, which come again in many events, once. */
function cleanThrough(isClean: (text: string) => boolean): (value: unknown) => boolean {
  const clean = new WeakSet();
  const look = (value: unknown): boolean => {
    if (typeof value === 'string') return isClean(value);
    if (typeof value !== 'object' || value === null || clean.has(value)) return true;
    const holds = Array.isArray(value)
      ? value.every(look)
      : Object.entries(value).every(([name, content]) => (content === undefined || isClean(name)) && look(content));
    if (holds && Object.isFrozen(value)) clean.add(value);
    return holds;
  };
  return look;
}

/** As it stands inside JSON. */
function jsonText(secret: string): string {
  return JSON.stringify(secret).slice(1, -1);
}

function base64(secret: string): string {
  return Buffer.from(secret).toString('base64');
}
