/**
 * The statements on rows of work, and the loads of letters, over the tables in memory: as in
 * statements.ts, a reading of the SQL.
 */
import type { Connection } from '#domain/growth/sending/connection'
import type { Sql } from '#store/engine/db'
import type { NewWork, Requeued } from '#store/engine/letter'
import type { Load } from '#store/engine/load'
import { type ClaimView, LONGEST_NAP_MS, loadOf, type NextDue } from '#store/engine/next-due'
import type { KeyedWork } from '#store/engine/work'
import type { Memory, Row, Write } from './memory.ts'

export const find = <T>(all: Map<string, T>, fits: (one: T) => boolean): T | undefined => {
  for (const one of all.values()) if (fits(one)) return one
  return undefined
}
export const filter = <T>(all: Map<string, T>, fits: (one: T) => boolean): T[] => {
  const found: T[] = []
  for (const one of all.values()) if (fits(one)) found.push(one)
  return found
}

export const isConnected = ({ status }: Connection): boolean => status === 'connected'
export const currentDefault = ({ connections }: Memory) =>
  find(connections, (one) => one.is_default && isConnected(one))
export const loads = {
  loadNow: async (memory: Memory, load: Load) => {
    const read = async ([name, { query, read, many, omitted }]: [string, Load[string]]) => {
      if (omitted) return [name, read(null)]
      const rows = (await query(memory as unknown as Sql)) as unknown[]
      return [name, read(many ? rows : (rows[0] ?? null))]
    }
    return Object.fromEntries(await Promise.all(Object.entries(load).map(read)))
  },
}

const keyOf = (memory: Memory, row: Row): string =>
  row.concurrency_key ?? `publish:${currentDefault(memory)?.external_id ?? ''}`

const comesFirst = (one: Row, other: Row): boolean =>
  +one.run_at < +other.run_at || (+one.run_at === +other.run_at && one.id < other.id)

/** The first row that may be claimed by `until`, of all or of those that a person asked for. */
const first = (
  memory: Memory,
  { paused, excluded }: { paused: boolean; excluded: string[] },
  {
    manual = false,
    busy = [],
    until = Number.POSITIVE_INFINITY,
  }: { manual?: boolean; busy?: string[]; until?: number } = {},
) => {
  let found: Row | undefined
  for (const row of memory.works.values()) {
    if (
      row.state !== 'queued' ||
      +row.run_at > until ||
      ((paused || manual) && row.origin !== 'manual')
    )
      continue
    if (
      (found && !comesFirst(row, found)) ||
      excluded.includes(row.id) ||
      busy.includes(keyOf(memory, row))
    )
      continue
    found = row
  }
  return found
}

/** A query of one row for a load. */
export const part = <T>(query: (memory: Memory) => T | Promise<T>) => ({
  many: false,
  query: async (memory: Memory) => [(await query(memory)) ?? null],
  read: (row: T) => row ?? undefined,
})

/** And of several. */
export const parts = <T>(query: (memory: Memory) => T[]) => ({
  many: true,
  query: async (memory: Memory) => query(memory),
  read: (rows: T[]) => rows,
})

const pollDue = async (memory: Memory, of: ClaimView): Promise<NextDue> => {
  const { at, running, excluded } = of
  const now = +(at === 'gate' ? memory.now() : at.now)
  const view = { paused: at === 'gate' ? memory.paused : at.paused, excluded }
  const free = { ...view, excluded: [...excluded, ...running.map(({ id }) => id)] }
  const busy = running.map(({ concurrency_key }) => concurrency_key)
  const row =
    first(memory, free, { until: now, manual: true, busy }) ??
    first(memory, free, { until: now, busy })
  const work = row && { ...row, concurrency_key: keyOf(memory, row) }
  const but = (one: typeof view) => ({
    ...one,
    excluded: [...one.excluded, ...(work ? [work.id] : [])],
  })
  const rest = first(memory, but(view))
  const next = first(memory, but(free), {
    until: now + LONGEST_NAP_MS,
    busy: [...busy, ...(work ? [work.concurrency_key] : [])],
  })
  const until = (one: Row | undefined) => one && +one.run_at - now
  const load = work && loadOf(of, work)
  const loaded = load && (await loads.loadNow(memory, load))
  return { work, loaded, dueIn: until(rest), wait: until(next) ?? (rest && LONGEST_NAP_MS) }
}

export const polls = { nextDue: (view: ClaimView) => part((memory) => pollDue(memory, view)) }

export const works = {
  workPart: (id: string) => part((memory) => memory.works.get(id)),
  workById: async (memory: Memory, id: string) => memory.works.get(id),
  workOf: async (memory: Memory, kind: string, refId: string) =>
    find(memory.works, (one) => one.kind === kind && one.ref_id === refId),
  runningElsewhere: async (memory: Memory, live: string[]) =>
    filter(memory.works, ({ id, state }) => state === 'running' && !live.includes(id)),
  workFor: (kind: string, refId: string) =>
    part((memory) => find(memory.works, (one) => one.kind === kind && one.ref_id === refId)),
  workOfKinds: (kinds: readonly string[]) =>
    parts((memory) => filter(memory.works, ({ kind }) => kinds.includes(kind))),
  claimWork:
    (
      { id, attempt, concurrency_key }: KeyedWork,
      { owner, leaseUntil }: { owner: string; leaseUntil: Date },
    ) =>
    (): Write =>
      updated(id, {
        state: 'running',
        claimed_by: owner,
        lease_until: leaseUntil,
        attempt: attempt + 1,
        concurrency_key,
      }),
}

/** An update of a row that is gone changes nothing. */
const updated = (id: string, changes: Partial<Row>): Write => ({
  row: id,
  change({ works: all }) {
    const row = all.get(id)
    if (row) all.set(id, { ...row, ...changes })
  },
})

/** One row there is of a kind and a record: a new look at what is watched already takes its row. */
export const added = ({ refId, runAt, payload = {}, key, ...work }: NewWork): Write => ({
  row: work.id,
  change(memory) {
    const { works: all } = memory
    const same = find(all, ({ kind, ref_id }) => kind === work.kind && ref_id === refId)
    if (same && work.second !== 'replaces')
      memory.onBroken(`two rows of work ${work.kind} for ${refId}`)
    const fresh = {
      ref_id: refId,
      run_at: runAt,
      payload,
      concurrency_key: key,
      ...({
        state: 'queued',
        claimed_by: null,
        lease_until: null,
        failures: 0,
        tried_by: null,
        charge: 0,
        trace: null,
      } as const),
    }
    all.set(same?.id ?? work.id, {
      attempt: 0,
      ...same,
      ...work,
      ...fresh,
      id: same?.id ?? work.id,
    })
  },
})

export const requeued = ({ id, runAt, origin, payload, key }: Requeued): Write =>
  updated(id, {
    failures: 0,
    tried_by: null,
    state: 'queued',
    run_at: runAt,
    claimed_by: null,
    lease_until: null,
    ...(origin ? { origin } : {}),
    ...(payload ? { payload } : {}),
    ...(key === undefined ? {} : { concurrency_key: key }),
  })
