/**
 * One poison row of each kind of work among many workspaces: its claim, its run or its outcome
 * throws or hangs, and in another part keeps the process busy for three seconds. The others are
 * served as before, each row ends or rests for an hour, the kill switch answers at once. `npm run
 * fault:starve -- --workspaces 200 --seconds 20 --hanging 8 --seed 7`; `--naive 1` counts no
 * failures, which must be found. `--together 1`: rows that throw and rows that hang are there at
 * the same time. `--spin 0`: what keeps the process busy leaves the processor to others.
 */
import { workKinds } from '#contract/work'
import { kindsOfWork, workTable } from '#decisions/work'
import { newId } from '#kernel/ids'
import { actorStore, actorsOn } from '#test/support/actors/actors'
import { addWork, bump, letterOf, workOn } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'
import type { Counts, Verdict } from '../ledger.ts'
import { alone } from '../own-database.ts'
import {
  laneOf,
  type Place,
  type Poison,
  places,
  poisons,
  stalling,
  stalls,
  type Way,
} from './poison.ts'

export interface StarveOptions {
  workspaces: number
  /**
   * Of each part: without poison, with it, and between stalls. 0: the others' times are not judged.
   */
  seconds: number
  /** How many poison rows hang, of the kinds in turn. */
  hanging: number
  throwing: number
  busy: number
  together: number
  spin: number
  naive: number
  seed: number
}
const KILL_SWITCH_MS = 1_000
/** On a busy machine the ratio of two short runs means little below this. */
const LEAST_MS = 50
const MOST_ASKED = 60

/**
 * What is asked while rows keep the process busy, or fail the letters that share their transaction,
 * is asked again.
 */
const persistently = async <T>(ask: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (cause) {
      if (tries === MOST_ASKED) throw cause
      await Bun.sleep(500)
    }
  }
}

const p99 = (samples: number[]): number =>
  samples.toSorted((a, b) => a - b)[Math.floor(samples.length * 0.99)] ?? 0

export async function runStarve(options: StarveOptions): Promise<Verdict> {
  const { workspaces, seconds, hanging, naive, seed } = options
  poisons.clear()
  stalls.length = 0
  stalling.spins = options.spin === 1
  await using store = await actorStore()
  const inVain = naive
    ? Object.fromEntries(workKinds.map((kind) => [kind, { most: 1e6, end: 'ends' as const }]))
    : workTable.inVain
  await using actors = await actorsOn(store, {
    lanes: workKinds.map(laneOf),
    kinds: { ...workTable, inVain },
  })
  const { runtime } = actors
  const others: string[] = []
  for (let index = 0; index < workspaces; index++) others.push(await store.newTenant())

  /**
   * Commands of the others, each with a row of work; in milliseconds, but for those that a stall
   * held up.
   */
  const load = async (ms: number, isOver: () => boolean = () => true): Promise<number[]> => {
    const until = performance.now() + ms
    const samples: { from: number; until: number }[] = []
    let next = seed
    const caller = async () => {
      while (performance.now() < until || !isOver()) {
        const from = performance.now()
        const tenant = others[next++ % others.length]!
        const done = await runtime
          .ask(tenant, bump('command', { work: [workOn(newId(), { kind: 'rule' })] }))
          .then(
            () => true,
            () => false,
          )
        if (done) samples.push({ from, until: performance.now() })
        await Bun.sleep(5)
      }
    }
    await Promise.all(Array.from({ length: 8 }, caller))
    const isHeldUp = (one: { from: number; until: number }) =>
      stalls.some((stall) => one.from < stall.until + 500 && stall.from < one.until)
    return samples.filter((one) => !isHeldUp(one)).map((one) => one.until - one.from)
  }

  const plant = async (
    kind: Poison['kind'],
    place: Place,
    way: Way,
  ): Promise<{ tenant: string; poison: Poison }> => {
    const poison: Poison = { refId: newId(), kind, place, way, tries: 0 }
    poisons.set(poison.refId, poison)
    const tenant = await persistently(() => store.newTenant())
    const work = workOn(poison.refId, {
      kind,
      lane: kindsOfWork[kind].lane,
      key: newId(),
      second: 'keeps',
    })
    const planting = async () =>
      poison.tries > 0 || (await runtime.ask(tenant, addWork(work)).then(() => true))
    await persistently(planting)
    return { tenant, poison }
  }
  const isOver = async (of: Poison[]): Promise<boolean> => {
    const rows = await store.owner<
      { ref_id: string; rests: boolean }[]
    >`select ref_id, run_at > now() + interval '50 minutes' as rests
      from work where ref_id = any(${of.map(({ refId }) => refId)}::uuid[])`
    return rows.every(({ rests }) => rests)
  }
  const broken: string[] = []
  const pauses: number[] = []
  const pause = async (tenant: string): Promise<void> => {
    const from = performance.now()
    await runtime.ask(
      tenant,
      letterOf(() => ({ reply: undefined, effects: { paused: true } }), { priority: 'control' }),
    )
    pauses.push(performance.now() - from)
  }

  /** Plants while the others are served, until all rows are over. */
  const part = async (
    name: string,
    kinds: [Poison['kind'], Place, Way][],
    paused: boolean,
  ): Promise<number> => {
    let [over, planted]: [boolean, Poison[]] = [false, []]
    const samples = load(seconds * 1_000, () => over)
    try {
      for (const [kind, place, way] of kinds) {
        const { tenant, poison } = await plant(kind, place, way)
        planted.push(poison)
        if (paused) await pause(tenant)
      }
      await eventually(() => isOver(planted), Boolean, naive ? 20_000 : 180_000)
    } catch (cause) {
      broken.push(`${name}: ${cause instanceof Error ? cause.message : cause}`)
      const alive = await store.owner`select kind, ref_id, failures, state from work
          where ref_id = any(${planted.map(({ refId }) => refId)}::uuid[])
        and run_at < now() + interval '50 minutes'`
      broken.push(
        ...alive.map(
          (row) =>
            `${name}: a row of ${row.kind} has not ended after ${poisons.get(row.ref_id)!.tries} tries`,
        ),
      )
    }
    over = true
    planted = []
    return p99(await samples)
  }

  if (seconds > 0) await load(2_000)
  const before = p99(await load(seconds * 1_000))
  const throwing = workKinds.flatMap((kind) =>
    places.map((place): [Poison['kind'], Place, Way] => [kind, place, 'throws']),
  )
  const hung = workKinds
    .slice(0, hanging)
    .map((kind, index): [Poison['kind'], Place, Way] => [kind, places[index % 3]!, 'hangs'])
  const hangs = () => (hung.length > 0 ? part('hanging', hung, true) : Promise.resolve(0))
  const earlier = options.together ? hangs() : undefined
  const beside = options.throwing ? await part('throwing', throwing, false) : 0
  const besideHanging = await (earlier ?? hangs())
  const busy = options.busy
    ? await part(
        'busy',
        places.map((place) => ['delivery', place, 'is busy']),
        false,
      )
    : 0
  // Others use the machine, too.
  const usual = Math.max(before, p99(await load(seconds * 1_000)))
  const mostStalls = Math.max(
    0,
    ...[...poisons.values()].filter(({ way }) => way === 'is busy').map(({ tries }) => tries),
  )
  for (const [name, figure] of Object.entries({ throwing: beside, hanging: besideHanging, busy }))
    if (seconds > 0 && figure > Math.max(2 * usual, LEAST_MS))
      broken.push(
        `the others' p99 beside rows that are ${name}: ${figure.toFixed(0)} ms, ${usual.toFixed(0)} without`,
      )
  broken.push(
    ...[...poisons.values()].flatMap(({ kind, tries }) =>
      tries === 0 ? [`a row of ${kind} was never tried`] : [],
    ),
  )
  if (mostStalls > 3) broken.push(`a row kept the process busy ${mostStalls} times`)
  if (Math.max(0, ...pauses) > KILL_SWITCH_MS)
    broken.push(`the kill switch took ${Math.max(...pauses).toFixed(0)} ms`)
  const ms = (figure: number) => figure.toFixed(1)
  const counts: Counts = {
    seed,
    workspaces,
    poisons: poisons.size,
    most_tries: Math.max(...[...poisons.values()].map(({ tries }) => tries)),
    p99_ms: ms(usual),
    p99_throwing_ms: ms(beside),
    p99_hanging_ms: ms(besideHanging),
    p99_between_stalls_ms: ms(busy),
    stalls: stalls.length,
    most_stalls_of_a_row: mostStalls,
    kill_switch_ms: ms(Math.max(0, ...pauses)),
  }
  return { counts, broken }
}

if (import.meta.main) {
  const defaults = {
    workspaces: 200,
    seconds: 20,
    hanging: 22,
    throwing: 1,
    busy: 1,
    together: 0,
    spin: 1,
    naive: 0,
    seed: 1,
  }
  await alone('starve', defaults, runStarve)
}
