/** Rows that keep the process busy: at most three times in all, wherever they do. */
import { afterEach, expect, test } from 'bun:test'
import { workTable } from '#decisions/work'
import { newId } from '#kernel/ids'
import { actorStore, actorsOn, counters, fakeLane } from '#test/support/actors'
import { eventually } from '#test/support/eventually'
import { addWork, letterOf, workOn } from '#test/support/letters'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.quiet())

const STALL_MS = 3_000
const keepBusy = (): void => {
  const until = performance.now() + STALL_MS
  while (performance.now() < until);
}

test.each(['claim', 'run', 'settle'] as const)(
  'a %s that keeps the process busy for 3 s does so three times at most, and its row ends',
  async (where) => {
    const [bad, good] = [newId(), newId()]
    let stalls = 0
    const stall = (at: typeof where, refId: string): void => {
      if (at !== where || refId !== bad) return
      stalls++
      keepBusy()
    }
    const counted = (key: string) => ({ spend: [{ key, period: 'test', amount: 1 }] })
    const usual = fakeLane({ instant: true })
    const lane = Object.assign(usual, {
      claim: async (...[, , work]: Parameters<typeof usual.claim>) => {
        stall('claim', work.ref_id)
        return { job: { refId: work.ref_id }, decision: { reply: undefined } }
      },
      run: async ({ refId }: { refId: string }) => {
        await Bun.sleep(1)
        stall('run', refId)
        return 'done'
      },
      // What runs goes on, over and over, as deliveries do.
      settle: async (...[, gate, { work }]: Parameters<typeof usual.settle>) => {
        stall('settle', work.ref_id)
        const row = work.ref_id === bad ? { requeued: [{ id: work.id, runAt: gate.now }] } : { settled: [work.id], ...counted('good') }
        return { reply: undefined, effects: row }
      },
      givenUp: async (...[, , work]: Parameters<typeof usual.claim>) => ({
        reply: undefined,
        effects: { settled: [work.id], ...counted(`ended:${work.state}`) },
      }),
    })
    const kinds = { ...workTable, inVain: { fake: { most: 3, end: 'ends' as const } } }
    await using actors = await actorsOn(store, { lanes: [lane], kinds })
    const tenant = await store.newTenant()
    const ask = (letter: Parameters<typeof actors.runtime.ask>[1]) => actors.runtime.ask(tenant, letter)
    await ask(letterOf(() => ({ reply: undefined })))
    await eventually(() => actors.runtime.idle, Boolean)
    await ask(addWork(workOn(bad, { key: 'bad' })))
    const ended = where === 'settle' ? 'ended:running' : 'ended:queued'
    await eventually(
      () => counters(store, tenant),
      (counts) => counts[ended] === 1,
      60_000,
    )
    expect(stalls).toBe(3)
    await ask(addWork(workOn(good, { key: 'good' })))
    await eventually(
      () => counters(store, tenant),
      (counts) => counts.good === 1,
    )
  },
  90_000,
)
