/** What one tenant's flood costs another: its p99 alone, and while the flood lasts. */

import { PROFILE_PATCH } from './peer-sql.ts'
import { get, put } from './requests.ts'
import { load, type Running } from './spawn.ts'
import { ms, type Row } from './table.ts'
import type { World } from './world.ts'

const FLOOD_CALLERS = 64
/** The other tenant asks like people do, not as fast as it can. */
const OTHER = { callers: 4, rate: 100 }

export async function fairness({ tenants }: World, { port }: Running, seconds: number): Promise<Row[]> {
  const [flooding, other] = tenants
  if (!flooding || !other) throw new Error('fairness needs two tenants')
  const path = '/api/v1/growth/items?limit=5'
  let from = 500_000_000
  const floods = { reads: get(path, flooding), commands: put('/api/v1/growth/profile', flooding, PROFILE_PATCH) }
  const asks = { reads: get(path, other), commands: put('/api/v1/growth/profile', other, PROFILE_PATCH) }
  const run = (request: string, plan: { callers: number; rate?: number; seconds: number }) => {
    from += 10_000_000
    return load({ port, warmUpSeconds: 0.3, requests: [request], from, ...plan })
  }
  const rows: Row[] = []
  for (const kind of ['reads', 'commands'] as const) {
    const alone = await run(asks[kind], { ...OTHER, seconds })
    for (const [name, flood] of Object.entries(floods)) {
      const flooded = run(flood, { callers: FLOOD_CALLERS, seconds: seconds + 1 })
      await Bun.sleep(500)
      const during = await run(asks[kind], { ...OTHER, seconds })
      const { perSecond } = await flooded
      rows.push({
        what: `p99 of a tenant's ${kind} while another floods ${name} (${FLOOD_CALLERS} callers, ${Math.round(perSecond)}/s)`,
        result: ms(during.p99),
        peer: `alone ${ms(alone.p99)}`,
        ratio: during.p99 / alone.p99,
        goal: '≤ 2',
      })
    }
  }
  return rows
}
