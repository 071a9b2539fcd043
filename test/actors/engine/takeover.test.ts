import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { newId } from '#kernel/ids'
import { type Actors, actorStore, actorsOn, counters } from '#test/support/actors/actors'
import { span } from '#test/support/actors/letters'
import { type ManualClock, manualClock } from '#test/support/actors/manual-clock'
import { runs } from '#test/support/property'
import { use } from '#test/support/use'

const store = use(actorStore)

type Which = 0 | 1
/** `restart`: killed, and a new process in its place. `bury`: declared dead while it lives. `cut`: its lock session ends. */
type Step = { ask: Which; times: number } | { restart: Which } | { bury: Which } | { cut: Which } | { pass: number }

const which = fc.constantFrom<Which>(0, 1)
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { arbitrary: fc.record({ ask: which, times: fc.integer({ min: 1, max: 4 }) }), weight: 6 },
    { arbitrary: fc.record({ restart: which }), weight: 1 },
    { arbitrary: fc.record({ bury: which }), weight: 1 },
    { arbitrary: fc.record({ cut: which }), weight: 1 },
    { arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 12 }) }), weight: 3 },
  ),
  { minLength: 4, maxLength: 20 },
)

type Process = Actors & { clock: ManualClock }

const newProcess = async (): Promise<Process> => {
  const clock = manualClock()
  return Object.assign(await actorsOn(store, { clock, sweepMs: 50, idleMs: 400 }), { clock })
}

/** Sends letters of one tenant through both processes as told, and gives which were acknowledged. */
const play = async (program: Step[], tenant: string): Promise<{ acknowledged: string[]; sent: string[] }> => {
  const all = [await newProcess(), await newProcess()]
  const now: [Process, Process] = [all[0]!, all[1]!]
  const answers: Promise<string | undefined>[] = []
  const sent: string[] = []
  const tick = async () => {
    await Promise.all(all.map(({ clock }) => clock.advance(100)))
    await Bun.sleep(1)
  }
  const ask = (at: Which) => {
    const id = newId()
    sent.push(id)
    answers.push(
      now[at].runtime.ask(tenant, span(id)).then(
        () => id,
        () => undefined,
      ),
    )
  }
  for (const step of program) {
    if ('ask' in step) for (let i = 0; i < step.times; i++) ask(step.ask)
    else if ('restart' in step) {
      await now[step.restart].runtime.abandon()
      now[step.restart] = await newProcess()
      all.push(now[step.restart])
    } else if ('bury' in step)
      await store.owner`delete from node where incarnation in
      (select incarnation from node order by started_at offset ${step.bury} limit 1)`
    else if ('cut' in step)
      await store.owner`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'tendril-node' and datname = current_database() order by backend_start offset ${step.cut} limit 1`
    else for (let i = 0; i < step.pass; i++) await tick()
    await tick()
  }
  let isOver = false
  const over = Promise.all(answers).finally(() => {
    isOver = true
  })
  while (!isOver) await tick()
  const acknowledged = (await over).filter((id) => id !== undefined)
  await Promise.all(all.map((one) => one[Symbol.asyncDispose]()))
  return { acknowledged, sent }
}

test('letters of a tenant never overlap, and each acknowledged one happened once, whatever happens to two processes', async () => {
  let acknowledgedInAll = 0
  const property = async (program: Step[]) => {
    const tenant = await store.newTenant()
    const { acknowledged, sent } = await play(program, tenant)
    const rows = await store.owner`select data ->> 'id' as id, (data ->> 'start')::timestamptz >= lag((data ->> 'end')::timestamptz)
        over (order by (data ->> 'start')::timestamptz) as apart from outbox where tenant_id = ${tenant} and type = 'span'`
    expect(rows.filter(({ apart }) => apart === false)).toEqual([])
    const happened = rows.map(({ id }) => id as string).sort()
    expect(new Set(happened).size).toBe(happened.length)
    expect((await counters(store, tenant)).span ?? 0).toBe(happened.length)
    expect(acknowledged.filter((id) => !happened.includes(id))).toEqual([])
    expect(happened.filter((id) => !sent.includes(id))).toEqual([])
    acknowledgedInAll += acknowledged.length
    await store.quiet()
  }
  await fc.assert(fc.asyncProperty(steps, property), runs(10))
  expect(acknowledgedInAll).toBeGreaterThan(0)
})
