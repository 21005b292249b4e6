import { STORAGE_TERMS, unknownTerms } from '../domain/storage-match.ts';
import type { ResolvedMethod } from './plan-method.ts';
import type { Problems } from './problems.ts';

/** What methods say of storages: which they revoke, and which volumes are on it. `isolation`: methods of that step. */
export function checkStorages(isolation: readonly ResolvedMethod[], others: readonly ResolvedMethod[], problems: Problems): void {
  for (const method of isolation) checkStorage(method, problems);
  for (const { name, storage, where } of others) {
    if (storage !== undefined) problems.warning(where, `storage=${storage} of ${name} means nothing outside isolation: it releases nothing there`);
  }
}

function checkStorage({ kind, action, storage, storageMatch, where, name }: ResolvedMethod, problems: Problems): void {
  if (storage === undefined) {
    if (storageMatch !== undefined) problems.warning(where, `storage_match of ${name} means nothing without storage=`, 'isolation');
    return;
  }
  const isClosing = kind === 'fabric' && action === 'off';
  if (!isClosing) {
    const message = `storage=${storage}: ${name} closes no path to it, so it proves nothing: only a fabric agent's action=off revokes a storage`;
    problems.warning(where, message, 'isolation');
  } else if (storageMatch === undefined) {
    const message = `storage=${storage} without storage_match=: nothing says which volumes are on it, so it releases no pod`;
    problems.warning(where, message, 'isolation');
  } else {
    const unknown = unknownTerms(storageMatch);
    if (unknown.length > 0) {
      const form = `alternatives of ${STORAGE_TERMS.map((term) => `${term}:<value>`).join(', ')}, joined by + where several must hold`;
      problems.error(where, `storage_match has ${unknown.join(' ').slice(0, 60)}: it must be ${form}`, 'isolation');
    }
  }
}
