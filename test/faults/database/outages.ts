/** The ways in which a server can lose its database, for as long as a test wants. */
import postgres from 'postgres'
import { codeOf } from '#store/engine/db'
import type { Member } from '../fleet.ts'

export const outages = ['refused', 'silent', 'stranded', 'reset', 'locked', 'crowded'] as const
export type Outage = (typeof outages)[number]

/** Ends an outage. */
export type End = () => Promise<void>

const RESET_EVERY_MS = 200
const CROWD_EVERY_MS = 50
const CROWD = 'crowd'
/** SQLSTATE `too_many_connections`. */
const FULL = '53300'

/**
 * Locks the table that every request of the load needs, so that each connection of the pools waits
 * for it.
 */
const holdTable = async (owner: postgres.Sql): Promise<End> => {
  const held = await owner.reserve()
  await held`begin`
  await held`lock table profile in access exclusive mode`
  return async () => {
    await held`rollback`
    held.release()
  }
}

const cut = (owner: postgres.Sql, name: string) =>
  owner`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${name}`.catch(
    () => {},
  )

/**
 * Takes every connection the database has, including those that the server loses. Rejects if there
 * is no end to them.
 */
const crowd = async (owner: postgres.Sql, { name, proxy }: Member): Promise<End> => {
  const others: postgres.Sql[] = []
  let [refused, ended] = [false, false]
  const join = async (): Promise<boolean> => {
    const other = postgres({
      ...proxy.options,
      max: 1,
      idle_timeout: 0,
      onnotice: () => {},
      connection: { application_name: CROWD },
    })
    const code = await other`select 1`.then(() => undefined, codeOf)
    if (code === undefined) others.push(other)
    else await other.end({ timeout: 0 }).catch(() => {})
    refused ||= code === FULL
    return code === undefined
  }
  const fill = async (): Promise<void> => {
    while (!ended && (await join()));
  }
  await fill()
  if (!refused) throw new Error('the database took every connection')
  const crowding = (async () => {
    while (!ended) {
      await cut(owner, name)
      await fill()
      await Bun.sleep(CROWD_EVERY_MS)
    }
  })()
  return async () => {
    ended = true
    await crowding
    await Promise.all(others.map((other) => other.end({ timeout: 1 })))
  }
}

/** Starts an outage of a server; returns the function that ends it. */
export const beginOutage: Record<Outage, (owner: postgres.Sql, member: Member) => Promise<End>> = {
  async refused(_, { proxy }) {
    await proxy.refuse()
    return () => proxy.open()
  },
  async silent(_, { proxy }) {
    proxy.stall()
    return () => proxy.open()
  },
  async stranded(_, { proxy }) {
    proxy.stall()
    return async () => proxy.strand()
  },
  async reset(owner, { name }) {
    const timer = setInterval(() => void cut(owner, name), RESET_EVERY_MS)
    return async () => clearInterval(timer)
  },
  locked: holdTable,
  crowded: crowd,
}
