import { placeOfSecret } from '../../config/resolve-parameters.ts';
import type { PlanMethod } from '../../domain/plan.ts';
import { SecretUnread } from '../../ports/secret-stores.ts';
import type { SecretStores } from '../../ports/secret-stores.ts';

type Login = { keys: Readonly<Record<string, string>> } | { problem: string };

/** What a file or program of this machine says for the method. Undefined: it names none, or they are on another machine. */
export async function loginOf(node: string, method: PlanMethod, stores: SecretStores | undefined): Promise<Login | undefined> {
  const place = placeOfSecret(method);
  if (place === undefined || stores === undefined) return undefined;
  try {
    return { keys: await stores.read(place, { node, method: method.name, agent: method.agent, device: method.device }) };
  } catch (error) {
    if (error instanceof SecretUnread) return { problem: error.message };
    throw error;
  }
}
