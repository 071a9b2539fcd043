/** What keeps the sends of an account apart stands in their rows of work. */
import { accountKey } from '#decisions/work'
import type { World } from './world.ts'

/**
 * A send waits and runs under the account that its record is bound to, unless somebody has changed
 * that past every command.
 */
export const checkKeys = (world: World): void => {
  for (const { lane, ref_id: id, concurrency_key: key } of world.memory.works.values()) {
    if (lane !== 'publish' || world.edited.has(id)) continue
    const account = (world.memory.items.get(id) ?? world.memory.engagements.get(id))!
      .account_external_id
    if (key !== (account === null ? null : accountKey(account)))
      world.broken.push(`${id}: is bound to account ${account}, and its send has the key ${key}`)
  }
}
