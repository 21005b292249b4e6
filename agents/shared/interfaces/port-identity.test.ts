import { describe, expect, it } from 'vitest';

import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { Call } from '../call.ts';
import { identified } from './port-identity.ts';
import type { PortView } from './port-view.ts';

/** What an open port comes to for a node of this name. */
function readingOf(node: string, view: Pick<PortView, 'description' | 'hasLink'>, portAlias: string | undefined): ReturnType<typeof identified> {
  const target = {
    plug: 'Ethernet1',
    device: 'switch',
    parameters: {},
    identity: { node },
    signal: new AbortController().signal,
    deadlineMs: 1_000,
    beforeSend: () => undefined,
  };
  const call = new Call(new SystemClock(), target, 'port state');
  try {
    return identified({ name: 'Ethernet1', state: 'open', detail: '', ...view }, portAlias, call);
  } finally {
    call.release();
  }
}

/** How the identity of a port with this description is checked for a node of this name. */
function identityOf(node: string, description: string): string {
  try {
    return readingOf(node, { description }, '{node}').identity;
  } catch (error) {
    return error instanceof Error ? error.name : 'strange';
  }
}

describe('whose port it is, by its description', () => {
  it.each([
    ['worker-1', 'worker-1 eth0'],
    ['worker-1.example.org', 'to worker-1'],
    ['worker-1', 'worker-1.example.org, bond0'],
    ['10.0.0.5', 'node 10.0.0.5'],
    ['7', 'node 7'],
  ])('is that of %s where it says "%s"', (node, description) => {
    expect(identityOf(node, description)).toBe('verified');
  });

  it.each([
    ['10.0.0.5', 'rack 10'],
    ['10.0.0.5', 'node 10.0.0.6'],
    ['10', 'node 10.0.0.5'],
    ['worker-1.example.org', 'worker-1.example.com'],
    ['worker-1', 'worker-10'],
  ])('is not that of %s where it says "%s"', (node, description) => {
    expect(identityOf(node, description)).toBe('AgentError');
  });
});

describe('an open port', () => {
  const view = (hasLink?: boolean) => ({ description: 'worker-1', ...(hasLink === undefined ? {} : { hasLink }) });

  it.each([false, undefined])('that does not show whose it is was not seen open to anybody without a link: %s', (hasLink) => {
    expect(readingOf('worker-1', view(hasLink), undefined)).toMatchObject({ state: 'open', identity: 'unverified', isOpenInPart: true });
  });

  it('was with one, and where it shows whose it is', () => {
    expect(readingOf('worker-1', view(true), undefined)).not.toHaveProperty('isOpenInPart');
    expect(readingOf('worker-1', view(false), '{node}')).not.toHaveProperty('isOpenInPart');
  });
});
