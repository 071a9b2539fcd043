/** How the secret key of a deployment stands. */
import { keyInState } from '#domain/app/key-rotation'
import { keyedNodes, readKeys } from '#store/secret/key-rotation'
import { countUnderOthers } from '#store/secret/sealed-values'
import { needsOfKeyAndSessions } from './drop.ts'
import { type Rotating, SETTLED_MS, type Steps, sealedPlaces, stepIn, withSteps } from './steps.ts'

const countAll = async (steps: Steps, fingerprint: string): Promise<Record<string, number>> => {
  const total: Record<string, number> = {}
  for await (const place of sealedPlaces(steps)) {
    const counted = await stepIn(steps, place, (sql) => countUnderOthers(sql, place, fingerprint))
    for (const [name, values] of Object.entries(counted)) total[name] = (total[name] ?? 0) + values
  }
  return total
}

/** Which keys there are, who knows them, and what stands under others than the newest. */
export const showSecret = (rotating: Rotating): Promise<object> =>
  withSteps(rotating, SETTLED_MS, async (steps) => {
    const { keys } = rotating
    const { rows, nodes } = await steps.transact(async (sql) => ({
      rows: await readKeys(sql),
      nodes: await keyedNodes(sql, SETTLED_MS),
    }))
    const newest = keys.newest.fingerprint
    return {
      secret_key: newest,
      next_key: keys.candidate?.fingerprint ?? null,
      keys: rows.map(({ sealed: _, ...row }) => row),
      nodes: nodes.map(({ id, url, known, newest: makes, login }) => ({
        id,
        url,
        knows: known,
        makes_under: makes,
        logs_in_by: login,
      })),
      // Before the first rotation, values without a fingerprint are of the only key.
      sealed_under_others: rows.length === 0 ? {} : await countAll(steps, newest),
      old_key_needed_for:
        keyInState(rows, 'old') === undefined
          ? []
          : await steps.transact((sql) => needsOfKeyAndSessions(steps, sql)),
    }
  })
