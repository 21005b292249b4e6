import { listAt, member } from '../shared/web/web-client.ts';

/** Which of these actions no role allows (REST API "Permissions - List For Resource"); undefined where the answer does not tell all. */
export function missingActions(body: unknown, wanted: readonly string[]): readonly string[] | undefined {
  const granted = member(body, 'value');
  if (!Array.isArray(granted) || typeof member(body, 'nextLink') === 'string') return undefined;
  const names = (one: unknown, list: string): boolean[][] =>
    listAt(one, list).map((pattern) => wanted.map((action) => typeof pattern === 'string' && matches(pattern, action)));
  return wanted.filter((_action, index) => {
    const isIn = (one: unknown, list: string): boolean => names(one, list).some((matched) => matched[index] === true);
    return !granted.some((one: unknown) => isIn(one, 'actions') && !isIn(one, 'notActions'));
  });
}

function matches(pattern: string, action: string): boolean {
  const escaped = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 'i').test(action);
}
